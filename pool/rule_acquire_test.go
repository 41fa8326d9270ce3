package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// acquirers are the ways to take one without waiting, for a pool that has one to give.
var acquirers = map[string]func(t *testing.T, d *depot, co *scheduler.Coroutine) handle{
	"Acquire": func(_ *testing.T, d *depot, co *scheduler.Coroutine) handle { return d.take(co, 1)[0] },
	"TryAcquire": func(t *testing.T, d *depot, co *scheduler.Coroutine) handle {
		h, ok := d.tries(co)
		require.True(t, ok)
		return h
	},
}

func TestPool_POOL03_TakesTheOldestIdle(t *testing.T) {
	for name, acquire := range acquirers {
		t.Run(name, func(t *testing.T) {
			inRun(t, 5, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.open(co)
				hs := d.take(co, 3)
				give(t, co, hs[1], hs[2], hs[0])
				for _, want := range []int{2, 3, 1, 2} {
					h := acquire(t, d, co)
					assert.Equal(t, want, h.Value().id)
					give(t, co, h)
				}
				assert.Equal(t, []int{1, 2, 3}, d.made, "none is made while one is idle")
			})
		})
	}
}

func TestPool_POOL03_MakesOneWhileThereIsRoom(t *testing.T) {
	for name, acquire := range acquirers {
		t.Run(name, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.open(co)
				var hs []handle
				for n := 1; n <= 3; n++ {
					h := acquire(t, d, co)
					assert.Equal(t, n, h.Value().id)
					d.has(n, 0, n)
					hs = append(hs, h)
				}
				_, ok := d.tries(co)
				assert.False(t, ok, "no room")
				vs := d.queued(co, 1)
				assert.False(t, vs[0].over)
				assert.Equal(t, 1, d.p.Stats().Waiting)
				d.has(3, 0, 3)
				give(t, co, hs[2])
				join(t, co, vs...)
				got(t, vs, 3)
				give(t, co, hs[0], hs[1], vs[0].h)
				d.has(3, 3, 0)
			})
		})
	}
}

// The many ring buffers' worth of idle ones keep their order.
func TestPool_POOL03_IdleOrderOfMany(t *testing.T) {
	inRun(t, 100, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		d.stock(co, 100)
		for round := range 250 {
			h := d.take(co, 1)[0]
			assert.Equal(t, round%100+1, h.Value().id)
			give(t, co, h)
		}
	})
}

func TestPool_POOL09_Closed(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		asked := &recorder{}
		d.cfg.Strategy = asked
		p := d.open(co)
		require.NoError(t, p.Deactivate())
		require.NoError(t, p.Close(co))
		var closed *event.ClosedError
		_, err := p.Acquire(co)
		require.ErrorAs(t, err, &closed)
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, closed.Reason, pool.ErrCloseCalled)
		assert.NotErrorIs(t, err, pool.ErrServiceUnavailable, "it is looked at before the breaker")
		assert.ErrorIs(t, p.With(co, func(*scheduler.Coroutine, *part) error { t.Error("called"); return nil }), event.ErrClosed)
		_, ok := d.tries(co)
		assert.False(t, ok)
		hs, err := p.AcquireAllIdle()
		assert.NoError(t, err)
		assert.Empty(t, hs)
		assert.Empty(t, asked.said())
		assert.Empty(t, d.made)
	})
}

// CANC-24, CANC-25: a token that has fired ends what would wait, and nothing else.
func TestPool_CANC24_ATokenThatHasFired(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		d.stock(co, 1)
		fired := future.Failed[int](co, errStop)
		h, err := p.Acquire(co, scheduler.Token(fired))
		require.NoError(t, err, "an idle one is there")
		_, err = p.Acquire(co, scheduler.Token(fired))
		cotest.IsTokens(t, err, errStop)
		assert.Zero(t, p.Stats().Waiting)
		d.has(1, 0, 1)
		assert.NoError(t, h.Destroy(co))

		_, err = p.Acquire(co, scheduler.Token(fired))
		cotest.IsTokens(t, err, errStop)
		settle(co)
		st := p.Stats()
		assert.Equal(t, []int{0, 0}, []int{st.Active, st.Waiting}, "if one was made for it, it is idle")
		d.works(co)
	})
}

func TestPool_CANC23_ATokenThatFiresMeanwhile(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		g := d.e.Gate()
		v := d.queued(co, 1, scheduler.Token(g))[0]
		assert.False(t, v.over)
		g.Open(nil, errStop)
		join(t, co, v)
		cotest.IsTokens(t, v.err, errStop)
		assert.Equal(t, uint64(1), p.Stats().Cancelled)
		give(t, co, h)
		d.works(co)
		assert.Equal(t, []int{1}, d.made)
	})
}

// CANC-28: a block with a limit, or one that is cancelled, around the wait.
func TestPool_CANC28_InABlock(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		acquire := func(co *scheduler.Coroutine) error { _, err := p.Acquire(co); return err }
		cotest.IsTimeout(t, co.WithTimeout(3*ms, acquire))
		assert.NoError(t, co.Err())
		var inner error
		err := co.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
			d.e.After(ms, func() { cancel(errStop) })
			inner = acquire(co)
			return inner
		})
		assert.NoError(t, err)
		cotest.IsCancelled(t, inner, errStop)
		assert.Zero(t, p.Stats().Waiting)
		give(t, co, h)
		d.works(co)
		assert.Len(t, d.made, 1)
	})
}

// CANC-13: clean-up may need a resource.
func TestPool_CANC13_InAProtectedSection(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		cleaned := false
		v := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			_ = co.Delay(hour)
			return co.Protect(func(context.Context) error {
				return p.With(co, func(co *scheduler.Coroutine, _ *part) error { cleaned = true; return co.Yield() })
			})
		})
		settle(co)
		require.NoError(t, v.Cancel(errStop))
		settle(co)
		assert.Equal(t, 1, p.Stats().Waiting)
		give(t, co, h)
		_, err := co.Await(v)
		require.NoError(t, err)
		assert.True(t, v.Cancelled())
		assert.True(t, cleaned)
		d.has(1, 1, 0)
	})
}

func TestPool_CANC00_ACancelledCoroutineGetsNothing(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		d.stock(co, 1)
		v := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			_ = co.Cancel(errStop)
			_, err := p.Acquire(co)
			cotest.IsCancelled(t, err, errStop)
			_, ok, err := p.TryAcquire(co)
			assert.False(t, ok)
			cotest.IsCancelled(t, err, errStop)
			cotest.IsCancelled(t, p.With(co, func(*scheduler.Coroutine, *part) error { t.Error("called"); return nil }), errStop)
			return co.Err()
		})
		_, _ = co.Await(v)
		d.has(1, 1, 0)
		assert.Equal(t, []int{1}, d.made)
	})
}

func TestPool_Acquire_RefusesBadOptions(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		d.stock(co, 1)
		for name, opt := range map[string]scheduler.WaitOption{
			"negative": scheduler.Timeout(-ms), "zero": scheduler.Timeout(0), "nil token": scheduler.Token(nil),
		} {
			_, err := p.Acquire(co, opt)
			assert.ErrorIs(t, err, event.ErrInvalidArgument, name)
			err = p.With(co, func(*scheduler.Coroutine, *part) error { t.Error("called"); return nil }, opt)
			assert.ErrorIs(t, err, event.ErrInvalidArgument, name)
			assert.ErrorIs(t, p.AwaitClosed(co, opt), event.ErrInvalidArgument, name)
		}
		d.has(1, 1, 0)
	})
}
