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
		_, err := pool.New(co, pool.Config[int]{Strategy: (*recorder)(nil), Create: func(*scheduler.Coroutine) (int, error) { return 1, nil }})
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

func TestPool_CB07_ANilStrategyRemovesIt(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{recover: func(pool.Source) bool { return true }}
		d.cfg.Strategy, d.cfg.BeforeRelease = s, fine
		p := d.open(co)
		hs := d.take(co, 2)
		require.NoError(t, p.SetStrategy(nil))
		give(t, co, hs[0])
		require.NoError(t, hs[1].Destroy(co))
		require.NoError(t, p.Deactivate())
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		assert.Empty(t, s.said())
		require.NoError(t, p.SetStrategy(s))
		give(t, co, d.take(co, 1)...)
		assert.Equal(t, []string{"should recover", "success"}, s.said())
		var invalid *event.InvalidArgumentError
		assert.ErrorAs(t, p.SetStrategy(&pool.ConsecutiveFailures{Failures: -1}), &invalid)
		cotest.Foreign(func() { cotest.IsUsage(t, p.SetStrategy(nil), "SetStrategy") })
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
