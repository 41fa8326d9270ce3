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

// leaves is a holder that ends without a Release.
func leaves(d *depot, h *handle) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) (err error) {
		*h, err = d.p.Acquire(co)
		return err
	}
}

func TestPool_GEN06_WhatWasNeverReleasedIsTakenBackAtTheEndOfTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.cfg.Name = "desks"
		var told []error
		d.cfg.OnError = func(err error) { told = append(told, err) }
		d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(2 * ms) })
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 2)
			var h handle
			_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
			require.NoError(t, err)
			return nil
		})
		assert.ElementsMatch(t, []int{1, 2}, d.gone)
		if assert.Len(t, told, 1) {
			var failure *pool.HookError
			require.ErrorAs(t, told[0], &failure)
			assert.Equal(t, "desks", failure.Pool)
			assert.ErrorIs(t, told[0], pool.ErrNotReleased)
			assert.Contains(t, told[0].Error(), "careless")
		}
	})
}

func TestPool_GEN06_WithoutOnErrorTheRunFailsForWhatWasNeverReleased(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.cfg.Name, d.cfg.OnError = "desks", nil
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			var h handle
			for range 2 {
				_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
				require.NoError(t, err)
			}
			return nil
		})
		require.ErrorIs(t, err, pool.ErrNotReleased)
		assert.Contains(t, err.Error(), "pool desks: Release: ")
		assert.Contains(t, err.Error(), "by careless, started ")
		assert.Contains(t, err.Error(), "left_test.go:")
		assert.ElementsMatch(t, []int{1, 2}, d.gone)
	})
}

func TestPool_GEN06_TheEndOfTheScopeIsNotThatOfTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		err := e.Run(func(co *scheduler.Coroutine) error {
			in, err := co.Scope().New()
			require.NoError(t, err)
			d.cfg.Scope = in
			d.open(co)
			var h handle
			_, err = co.Await(e.Spawn(in, leaves(d, &h)))
			require.NoError(t, err)
			require.NoError(t, in.Dispose(errStop))
			settle(co)
			assert.Empty(t, d.gone, "somebody may have the handle")
			return nil
		})
		assert.NoError(t, err)
		assert.Equal(t, []int{1}, d.gone)
		d.wasTold(pool.ErrNotReleased)
	})
}

func TestPool_With_Discard(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &spyStrategy{}
		d.cfg.Strategy = s
		p := d.open(co)
		err := p.With(co, func(*scheduler.Coroutine, *part) error { return pool.Discard(errBoom) })
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, "boom", err.Error())
		assert.Equal(t, []int{1}, d.gone)
		assert.Equal(t, []error{errBoom}, s.failures)
		assert.NoError(t, p.With(co, func(*scheduler.Coroutine, *part) error { return pool.Discard(nil) }))
		assert.Equal(t, []int{1}, d.gone)
		h := d.take(co, 1)[0]
		cotest.IsInvalid(t, h.Discard(co, nil), "pool: Handle.Discard", "reason")
		require.NoError(t, h.Discard(co, errStop))
		cotest.IsUsage(t, h.Release(co), "given back already")
		assert.Equal(t, []error{errBoom, errStop}, s.failures)
	})
}

func TestPool_CB07_AStrategyBelongsToOnePoolAtATime(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		for _, s := range []pool.Strategy{&pool.ConsecutiveFailures{}, &pool.FailureRate{}} {
			cfg := pool.Config[int]{Name: "a", Strategy: s, Create: func(*scheduler.Coroutine) (int, error) { return 1, nil }}
			a, err := pool.New(co, cfg)
			require.NoError(t, err)
			_, err = pool.New(co, cfg)
			cotest.IsInvalid(t, err, "pool: New", "Strategy")
			assert.Contains(t, err.Error(), "pool a")
			cfg.Strategy = nil
			b, err := pool.New(co, cfg)
			require.NoError(t, err)
			cotest.IsInvalid(t, b.SetStrategy(s), "pool: SetStrategy", "Strategy")
			require.NoError(t, a.SetStrategy(s), "it is its own already")
			require.NoError(t, a.SetStrategy(nil))
			require.NoError(t, b.SetStrategy(s))
			require.NoError(t, b.Close(co))
			require.NoError(t, a.SetStrategy(s))
			require.NoError(t, a.Close(co))
			cfg.Strategy, cfg.Min = s, 1
			cfg.Create = func(*scheduler.Coroutine) (int, error) { return 0, errBoom }
			_, err = pool.New(co, cfg)
			assert.ErrorIs(t, err, errBoom)
			_, err = pool.New(co, cfg)
			assert.ErrorIs(t, err, errBoom, "the first one has left it")
		}
		_, err := pool.New(co, pool.Config[int]{Strategy: (*spyStrategy)(nil), Create: func(*scheduler.Coroutine) (int, error) { return 1, nil }})
		cotest.IsInvalid(t, err, "pool: New", "Strategy")
	})
}

func TestPool_CB02_TheRefusalSaysWhyAndSinceWhen(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name, d.cfg.Strategy = "db", &pool.ConsecutiveFailures{Failures: 1, CoolDown: hour}
		d.creates(func(*scheduler.Coroutine, int) error { return errBoom })
		p := d.open(co)
		_, err := p.Acquire(co)
		require.ErrorIs(t, err, errBoom)
		since := co.Now()
		_, err = p.Acquire(co)
		require.NoError(t, co.Delay(ms))
		_, again := p.Acquire(co)
		assert.Same(t, err, again, "one for all")
		var refused *pool.UnavailableError
		require.ErrorAs(t, err, &refused)
		assert.ErrorIs(t, refused.Cause, errBoom)
		assert.True(t, since.Equal(refused.Since))
		assert.ErrorIs(t, err, errBoom)
		assert.Contains(t, err.Error(), "pool db is inactive: its circuit breaker is open")
		require.NoError(t, p.Activate())
		require.NoError(t, p.Deactivate())
		_, err = p.Acquire(co)
		require.ErrorAs(t, err, &refused)
		assert.NoError(t, refused.Cause, "by hand")
	})
}

func TestPool_DEAD10_TheReportNamesWhoHasEndedWithoutARelease(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		err := e.Run(func(co *scheduler.Coroutine) error {
			p := d.open(co)
			var h handle
			_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
			require.NoError(t, err)
			_, err = p.Acquire(co)
			return err
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "in use by careless (which has ended without a Release)")
	})
}

func TestPool_Use_ReturnsAValue(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		id, err := pool.Use(co, p, func(_ *scheduler.Coroutine, v *part) (int, error) { return v.id, nil })
		assert.NoError(t, err)
		assert.Equal(t, 1, id)
		id, err = pool.Use(co, p, func(_ *scheduler.Coroutine, v *part) (int, error) { return 7, errBoom })
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, 7, id)
		_, err = pool.Use[*part, int](co, p, nil)
		cotest.IsInvalid(t, err, "pool: With", "function")
		h := d.take(co, 1)[0]
		_, err = pool.Use(co, p, func(*scheduler.Coroutine, *part) (int, error) { return 0, nil }, scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		give(t, co, h)
		d.has(1, 1, 0)
	})
}

func TestPool_POOL08_AcquireTimeoutBoundsTheWaitsThatHaveNoOther(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		for _, guarded := range []bool{false, true} {
			d.cfg.AcquireTimeout = 5 * ms
			if guarded {
				d.cfg.BeforeAcquire = fine
			}
			p := d.open(co)
			h := d.take(co, 1)[0]
			began := co.Now()
			_, err := p.Acquire(co)
			cotest.IsTimeout(t, err)
			assert.Contains(t, err.Error(), "pool: Acquire")
			assert.Equal(t, 5*ms, co.Now().Sub(began))
			_, err = p.Acquire(co, scheduler.Timeout(8*ms))
			cotest.IsTimeout(t, err)
			assert.Equal(t, 13*ms, co.Now().Sub(began))
			cotest.IsTimeout(t, p.With(co, func(*scheduler.Coroutine, *part) error { return nil }))
			g := d.e.Gate()
			d.e.After(ms, func() { g.Open(nil, errStop) })
			_, err = p.Acquire(co, scheduler.Token(g))
			cotest.IsTokens(t, err, errStop)
			assert.EqualValues(t, 3, p.Stats().TimedOut)
			give(t, co, h)
			require.NoError(t, p.Close(co))
		}
	})
}

func TestPool_POOL08_ATimeoutBoundsBeforeAcquireToo(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(hour) }
		p := d.open(co)
		d.stock(co, 1)
		began := co.Now()
		_, err := p.Acquire(co, scheduler.Timeout(5*ms))
		cotest.IsTimeout(t, err)
		var late *event.TimeoutError
		require.ErrorAs(t, err, &late)
		assert.Equal(t, event.TimeoutError{Call: "pool: Acquire", Limit: 5 * ms}, *late)
		assert.Equal(t, 5*ms, co.Now().Sub(began))
		assert.Equal(t, []int{1}, d.gone, "nobody knows what the hook has left of it")
		d.has(0, 0, 0)
	})
}

func TestPool_POOL05_ATimeoutOfCreateIsNotOneOfTheAcquire(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = fine
		dial := &event.TimeoutError{Call: "dial", Limit: ms}
		d.creates(func(*scheduler.Coroutine, int) error { return dial })
		p := d.open(co)
		_, err := p.Acquire(co, scheduler.Timeout(hour))
		isOfHook(t, err, "Create", dial)
	})
}

func TestPool_CB07_SetStrategy(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		cotest.IsInvalid(t, p.SetStrategy(&pool.FailureRate{Rate: 2}), "pool: SetStrategy", "FailureRate.Rate")
		require.NoError(t, p.Deactivate())
		require.NoError(t, p.SetStrategy(&pool.ConsecutiveFailures{CoolDown: 10 * ms}))
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable, "it begins to cool down now")
		require.NoError(t, co.Delay(10*ms))
		give(t, co, d.take(co, 1)...)
		assert.Equal(t, pool.Active, p.State())
		require.NoError(t, p.SetStrategy(nil))
		require.NoError(t, p.Deactivate())
		require.NoError(t, co.Delay(hour))
		_, err = p.Acquire(co)
		var refused *pool.UnavailableError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, pool.Inactive, refused.State)
		assert.EqualValues(t, 2, p.Stats().Refused)
		cotest.Foreign(func() { cotest.IsUsage(t, p.SetStrategy(nil), "pool: SetStrategy") })
	})
}

func TestPool_CB04_AFailureThatNobodyWaitsForCountsWhileActive(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.AcquireTimeout = 5 * ms
		d.cfg.Strategy = &pool.ConsecutiveFailures{Failures: 2, CoolDown: hour}
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			if err := co.Delay(8 * ms); err != nil {
				return err
			}
			return errBoom
		})
		p := d.open(co)
		for i := range 2 {
			assert.Equal(t, pool.Active, p.State(), i)
			_, err := p.Acquire(co)
			cotest.IsTimeout(t, err)
			require.NoError(t, co.Delay(5*ms))
		}
		assert.Equal(t, pool.Inactive, p.State())
	})
}

func TestPool_POOL37_WhatAResourceHasStartedKeepsNoRunAlive(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			d.e.Spawn(co, cotest.Sleeper(hour))
			return nil
		})
		d.open(co)
		d.stock(co, 1)
	})
}
