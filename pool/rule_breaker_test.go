package pool_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_CB01_StatesByHand(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var changes []string
		d.cfg.OnStateChange = func(from, to pool.State) { changes = append(changes, fmt.Sprint(from, " ", to)) }
		p := d.open(co)
		assert.Equal(t, pool.Active, p.State())
		require.NoError(t, p.Activate())
		assert.Empty(t, changes, "no change")
		require.NoError(t, p.Deactivate())
		assert.Equal(t, pool.Inactive, p.State())
		require.NoError(t, p.Deactivate())
		require.NoError(t, p.Recover())
		assert.Equal(t, pool.Recovering, p.State())
		assert.Equal(t, pool.Recovering, p.Stats().State)
		require.NoError(t, p.Activate())
		assert.Equal(t, pool.Active, p.State())
		require.NoError(t, p.Recover())
		require.NoError(t, p.Deactivate())
		require.NoError(t, p.Activate())
		assert.Equal(t, []string{"active inactive", "inactive recovering", "recovering active", "active recovering",
			"recovering inactive", "inactive active"}, changes)
		cotest.Foreign(func() {
			cotest.IsUsage(t, p.Activate(), "Activate")
			cotest.IsUsage(t, p.Deactivate(), "Deactivate")
			cotest.IsUsage(t, p.Recover(), "Recover")
		})
		assert.Len(t, changes, 6)
	})
}

func TestPool_CB02_InactiveAnswersAtOnce(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		d.stock(co, 1)
		require.NoError(t, p.Deactivate())
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		_, ok, err := p.TryAcquire(co)
		assert.False(t, ok)
		assert.NoError(t, err)
		assert.ErrorIs(t, p.With(co, func(*scheduler.Coroutine, *part) error { return errOutcome }), pool.ErrServiceUnavailable)
		d.has(1, 1, 0)
		assert.Len(t, d.made, 1)

		require.NoError(t, p.Recover())
		h, err := p.Acquire(co)
		require.NoError(t, err)
		h2, ok, err := p.TryAcquire(co)
		require.NoError(t, err)
		require.True(t, ok, "recovering: both work")
		give(t, co, h, h2)
		assert.Equal(t, pool.Recovering, p.State(), "without a strategy only calls change it (CB-07)")

		require.NoError(t, p.Deactivate())
		require.NoError(t, p.Close(co))
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, event.ErrClosed, "closed is checked before the breaker (POOL-09)")
		assert.NotErrorIs(t, err, pool.ErrServiceUnavailable)
	})
}

func TestPool_CB02_DeactivateWakesWhoWaits(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 3)
		require.NoError(t, p.Deactivate())
		assert.Zero(t, p.Stats().Waiting)
		settle(co)
		for _, v := range vs {
			require.True(t, v.over)
			assert.ErrorIs(t, v.err, pool.ErrServiceUnavailable)
		}
		give(t, co, h)
		d.has(1, 1, 0)
	})
}

func TestPool_POOL17_TheOpenBreakerHandsOnWhatWasSetAside(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		give(t, co, h)
		require.NoError(t, p.Deactivate())
		settle(co)
		agree(t, p.Stats())
		got := 0
		for _, v := range vs {
			require.True(t, v.over)
			if v.err == nil {
				got++
				give(t, co, v.h)
			} else {
				assert.ErrorIs(t, v.err, pool.ErrServiceUnavailable)
			}
		}
		assert.LessOrEqual(t, got, 1)
		d.has(1, 1, 0)
		assert.Zero(t, p.Stats().Reserved)
		require.NoError(t, p.Activate())
		assert.Equal(t, []int{1}, ids(d.take(co, 1)...))
	})
}

func TestPool_CB04_ReportsOfReleases(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name = "cars"
		s := &recorder{}
		look := func(src pool.Source) {
			assert.Equal(t, "cars", src.Name())
			assert.Equal(t, d.p.Stats(), src.Stats(), "the source is the pool")
			assert.WithinDuration(t, co.Now(), src.Now(), time.Second)
			assert.Equal(t, d.p.Info(), src.Info())
		}
		s.success = look
		s.failure = func(src pool.Source, _ error) { look(src) }
		d.cfg.Strategy = s
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
			if v.id == 3 {
				return true, errCheck
			}
			return fine(co, v)
		}
		d.open(co)
		hs := d.take(co, 2)
		assert.Empty(t, s.said())
		give(t, co, hs[0])
		assert.Equal(t, []string{"success"}, s.said())
		d.ruin(2)
		require.NoError(t, hs[1].Release(co))
		assert.Equal(t, []string{"failure"}, s.said())
		assert.ErrorIs(t, s.errs[0], pool.ErrRejected)
		h := d.take(co, 2)[1]
		require.NoError(t, h.Release(co), "the error of the hook is swallowed (POOL-22)")
		assert.Equal(t, []string{"failure"}, s.said())
		assert.ErrorIs(t, s.errs[1], pool.ErrRejected)
		assert.Equal(t, []int{2, 3}, d.gone)
	})
}

func TestPool_CB04_ReportsOfWhatCannotBeMadeAndOfDestroy(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{}
		d.cfg.Strategy = s
		broken := true
		d.cfg.Create = func(*scheduler.Coroutine) (*part, error) {
			if broken {
				return nil, errMake
			}
			return d.make(), nil
		}
		p := d.open(co)
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, errMake)
		assert.Equal(t, []string{"failure"}, s.said())
		assert.ErrorIs(t, s.errs[0], errMake)
		_, _, err = p.TryAcquire(co)
		assert.ErrorIs(t, err, errMake)
		assert.Equal(t, []string{"failure"}, s.said())

		broken = false
		h := d.take(co, 1)[0]
		require.NoError(t, h.Destroy(co))
		assert.Equal(t, []string{"failure"}, s.said())
		assert.ErrorIs(t, s.errs[2], pool.ErrDestroyed)
		h = d.take(co, 1)[0]
		_, err = h.Hijack()
		require.NoError(t, err)
		assert.Empty(t, s.said(), "what is hijacked decides nothing")
	})
}

func TestPool_POOL26_CountedAsActiveDuringReports(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{
			success: func(src pool.Source) { d.has(2, 0, 2) },
			failure: func(src pool.Source, _ error) { d.has(2, 1, 1); assert.Empty(t, d.gone, "it still exists (CB-06)") },
		}
		d.cfg.Strategy, d.cfg.BeforeRelease = s, fine
		d.open(co)
		hs := d.take(co, 2)
		give(t, co, hs[0])
		d.ruin(2)
		give(t, co, hs[1])
		d.has(1, 1, 0)
		assert.Equal(t, []string{"success", "failure"}, s.said())
	})
}

func TestPool_CB05_PanicsOfAStrategyMaskNothing(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		boom := func() { panic(errors.New("the strategy is broken")) }
		s := &recorder{
			success: func(pool.Source) { boom() },
			failure: func(pool.Source, error) { boom() },
			recover: func(pool.Source) bool { boom(); return true },
		}
		d.cfg.Strategy, d.cfg.BeforeRelease = s, fine
		d.destroys(func(*scheduler.Coroutine, *part) error { return errRuin })
		p := d.open(co)
		h := d.take(co, 1)[0]
		require.NoError(t, h.Release(co))
		d.has(1, 1, 0)
		d.ruin(1)
		err := p.With(co, func(*scheduler.Coroutine, *part) error { return errOutcome })
		assert.ErrorIs(t, err, errOutcome)
		assert.ErrorIs(t, err, errRuin)
		assert.NotContains(t, err.Error(), "the strategy is broken")
		d.has(0, 0, 0)
		require.NoError(t, p.Deactivate())
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		_, ok, err := p.TryAcquire(co)
		assert.False(t, ok)
		assert.NoError(t, err)
		assert.Equal(t, pool.Inactive, p.State())
		require.Len(t, d.told, 4, "swallowed, not lost")
		for _, err := range d.told {
			assert.ErrorContains(t, err, "the strategy is broken")
		}
	})
}
