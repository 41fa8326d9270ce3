package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL15_TheOnlyOneLeaves(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 3)
		v := d.queued(co, 1)[0]
		give(t, co, hs[1])
		d.line(1, 1, 0)
		require.NoError(t, v.co.Cancel(errStop))
		settle(co)
		cotest.IsCancelled(t, v.err, errStop)
		d.line(1, 0, 0)
		d.has(3, 1, 2)
		assert.Equal(t, uint64(1), p.Stats().Cancelled)
		h, ok := d.tries(co)
		assert.True(t, ok)
		assert.Equal(t, 2, h.Value().id)
		assert.Len(t, d.made, 3)
		assert.Empty(t, d.gone)
		give(t, co, hs[0], h, hs[2])
	})
}

// CANC-22, GEN-01: at no time between does anybody else get it.
func TestPool_CANC22_TheReservationPassesOnInTheSameStep(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 4)
		give(t, co, h)
		free := func() {
			_, ok := d.tries(co)
			assert.False(t, ok, "it is reserved")
			assert.Equal(t, 1, d.p.Stats().Reserved)
		}
		require.NoError(t, vs[0].co.Cancel(errStop))
		free()
		require.NoError(t, vs[1].co.Cancel(errStop))
		free()
		for !vs[2].over {
			if _, ok := d.tries(co); ok {
				t.Fatal("it was free for a moment")
			}
			require.NoError(t, co.Yield())
		}
		cotest.IsCancelled(t, vs[0].err, errStop)
		cotest.IsCancelled(t, vs[1].err, errStop)
		got(t, vs[2:], 1, 0)
		give(t, co, vs[2].h)
		join(t, co, vs[3])
		got(t, vs[2:], 1, 1)
		give(t, co, vs[3].h)
		assert.Len(t, d.made, 1)
	})
}

// GEN-02: all that were woken are cancelled before they run, with others behind them.
func TestPool_GEN02_CancellationWinsOverTheWakeUp(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		hs := d.take(co, 3)
		vs := d.queued(co, 5)
		give(t, co, hs...)
		d.line(3, 3, 2)
		for _, v := range vs[:3] {
			require.NoError(t, v.co.Cancel(errStop))
		}
		settle(co)
		for _, v := range vs[:3] {
			require.True(t, v.over)
			cotest.IsCancelled(t, v.err, errStop)
		}
		got(t, vs[3:], 1, 2)
		d.line(1, 0, 0)
		d.has(3, 1, 2)
		give(t, co, vs[3].h, vs[4].h)
	})
}

// The time of a waiter is over when the resource is set aside already, and it has not run: it gets the resource (GEN-01, GEN-03).
func TestPool_POOL17_ATimeoutAfterTheWakeUp(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		runOf(t, e, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			d.open(co)
			h := d.take(co, 1)[0]
			for limit := 10 * ms; ; limit *= 2 {
				over := co.Now().Add(limit)
				vs := d.queued(co, 1, scheduler.Timeout(limit))
				vs = append(vs, d.queued(co, 1)...)
				if !co.Now().Before(over) { // the machine was held up
					join(t, co, vs[0])
					require.NoError(t, vs[1].co.Cancel(nil))
					join(t, co, vs[1])
					continue
				}
				give(t, co, h)
				for !co.Now().After(over) { // on the loop, which runs nothing meanwhile
				}
				join(t, co, vs[0])
				got(t, vs, 1, 0)
				give(t, co, vs[0].h)
				join(t, co, vs[1])
				got(t, vs, 1, 1)
				give(t, co, vs[1].h)
				return
			}
		})
	})
}

// The limit of a waiter and the release come at the same moment: whoever wins, the resource is somebody's.
func TestPool_POOL17_TimeoutAndReleaseAtTheSameTime(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		for range 20 {
			h := d.take(co, 1)[0]
			d.e.Spawn(co, func(co *scheduler.Coroutine) error {
				if err := co.Delay(3 * ms); err != nil {
					return err
				}
				return h.Release(co)
			})
			vs := d.queued(co, 1, scheduler.Timeout(3*ms))
			vs = append(vs, d.queued(co, 1)...)
			join(t, co, vs[0])
			if vs[0].err != nil {
				cotest.IsTimeout(t, vs[0].err)
			} else {
				give(t, co, vs[0].h)
			}
			join(t, co, vs[1])
			require.NoError(t, vs[1].err)
			give(t, co, vs[1].h)
			agree(t, p.Stats())
		}
		assert.Len(t, d.made, 1)
		d.has(1, 1, 0)
	})
}

// The hook of a waiter that was woken takes longer than the waiter has time: what was set aside for it goes on to the next.
func TestPool_POOL17_OutOfTimeInTheHook(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		calls := 0
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) {
			if calls++; calls == 1 {
				return true, passes(co, g)
			}
			return true, nil
		}
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 1, scheduler.Timeout(10*ms))
		vs = append(vs, d.queued(co, 1)...)
		give(t, co, h)
		join(t, co, vs[0])
		cotest.IsTimeout(t, vs[0].err)
		var timeout *event.TimeoutError
		require.ErrorAs(t, vs[0].err, &timeout)
		assert.Equal(t, "pool: Acquire", timeout.Call, "as for the wait")
		join(t, co, vs[1])
		require.NoError(t, vs[1].err)
		d.has(1, 0, 1)
		give(t, co, vs[1].h)
		d.has(1, 1, 0)
	})
}

func TestPool_POOL17_TheBreakerOpensAfterTheWakeUp(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		give(t, co, h)
		d.line(1, 1, 1)
		require.NoError(t, p.Deactivate())
		_, ok := d.tries(co)
		assert.False(t, ok)
		settle(co)
		for _, v := range vs {
			assert.ErrorIs(t, v.err, pool.ErrServiceUnavailable)
		}
		d.line(1, 0, 0)
		require.NoError(t, p.Activate())
		d.works(co)
		assert.Len(t, d.made, 1)
	})
}

// GEN-01: the pool is closed when the resource is set aside: it is promised, and released into a closed pool.
func TestPool_GEN01_ClosedAfterTheWakeUp(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		give(t, co, h)
		require.NoError(t, p.Close(co))
		assert.Empty(t, d.gone, "it is set aside")
		join(t, co, vs...)
		got(t, vs[:1], 1)
		assert.ErrorIs(t, vs[1].err, event.ErrClosed)
		give(t, co, vs[0].h)
		assert.Equal(t, []int{1}, d.gone)
		d.has(0, 0, 0)
	})
}

// GEN-02 on top of that: nobody is left who could take it.
func TestPool_GEN01_ClosedAndCancelledAfterTheWakeUp(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		v := d.queued(co, 1)[0]
		give(t, co, h)
		require.NoError(t, p.Close(co))
		require.NoError(t, v.co.Cancel(errStop))
		require.NoError(t, p.AwaitClosed(co, scheduler.Timeout(hour)))
		settle(co)
		cotest.IsCancelled(t, v.err, errStop)
		assert.Equal(t, []int{1}, d.gone)
		d.has(0, 0, 0)
	})
}
