package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_GEN10_WhoIsToldOfWhatIsLeftTakesIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		var hs []handle
		told := 0
		d.cfg.OnError = func(err error) {
			assert.ErrorIs(t, err, pool.ErrNotReleased)
			told++
			for _, h := range hs {
				_, err := h.Hijack()
				cotest.IsUsage(t, err, "given back already")
			}
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			hs = d.take(co, 3)
			return nil
		})
		assert.Equal(t, 3, told)
		assert.ElementsMatch(t, d.made, d.gone)
	})
}

func TestPool_CB04_AClosedPoolTellsItsStrategyNothing(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &pool.ConsecutiveFailures{Failures: 2}
		d.cfg.Strategy = s
		p := d.open(co)
		h := d.take(co, 1)[0]
		require.NoError(t, p.Close(co))
		other, err := pool.New(co, pool.Config[int]{Strategy: s, Create: func(*scheduler.Coroutine) (int, error) { return 1, nil }})
		require.NoError(t, err)
		fail := func() error {
			return other.With(co, func(*scheduler.Coroutine, int) error { return pool.Discard(errBoom) })
		}
		assert.ErrorIs(t, fail(), errBoom)
		require.NoError(t, h.Discard(co, errStop))
		assert.Equal(t, pool.Active, other.State())
		assert.Equal(t, pool.Active, p.State())
		assert.ErrorIs(t, fail(), errBoom)
		assert.Equal(t, pool.Inactive, other.State(), "two of its own")
		require.NoError(t, p.SetStrategy(&pool.FailureRate{}), "a closed pool has none")
		require.NoError(t, other.Close(co))
	})
}

func TestPool_EVT16_InfoNamesFiveAndCountsTheOthers(t *testing.T) {
	inRun(t, 7, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 7)
		assert.Contains(t, p.Info(), "in use by main, main, main, main, main and 2 more")
		give(t, co, hs[5], hs[6])
		assert.Contains(t, p.Info(), "in use by main, main, main, main, main")
		assert.NotContains(t, p.Info(), "more")
		give(t, co, hs[:5]...)
		assert.NotContains(t, p.Info(), "in use")
	})
}

func TestPool_CB02_TheCauseIsForgottenWhenThePoolWorksAgain(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		bad := true
		d.creates(func(*scheduler.Coroutine, int) error {
			if bad {
				return errMake
			}
			return nil
		})
		d.cfg.Strategy = &pool.ConsecutiveFailures{Failures: 1, CoolDown: ms}
		p := d.open(co)
		refusal := func() *pool.UnavailableError {
			_, err := p.Acquire(co)
			var refused *pool.UnavailableError
			require.ErrorAs(t, err, &refused)
			return refused
		}
		_, err := p.Acquire(co)
		require.ErrorIs(t, err, errMake)
		assert.ErrorIs(t, refusal(), errMake)
		require.NoError(t, co.Delay(ms))
		bad = false
		probe := d.take(co, 1)[0]
		recovering := refusal()
		assert.Equal(t, pool.Recovering, recovering.State)
		assert.ErrorIs(t, recovering, errMake, "what it recovers from")
		give(t, co, probe)
		require.Equal(t, pool.Active, p.State())
		require.NoError(t, co.Delay(hour))
		require.NoError(t, p.Recover())
		probe = d.take(co, 1)[0]
		since := co.Now()
		byHand := refusal()
		assert.NoError(t, byHand.Cause)
		assert.True(t, since.Equal(byHand.Since))
		give(t, co, probe)
	})
}

func TestPool_POOL34_EachFailureOfAPassIsToldByItself(t *testing.T) {
	inVirtualTime(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.HealthInterval = ms
		d.cfg.HealthCheck = func(*scheduler.Coroutine, *part) (bool, error) { return false, nil }
		d.destroys(func(*scheduler.Coroutine, *part) error { return errRuin })
		d.open(co)
		d.stock(co, 2)
		require.NoError(t, co.Delay(2*ms))
		require.Len(t, d.told, 2)
		for _, err := range d.told {
			isOfHook(t, err, "Destroy", errRuin)
		}
	})
}

func TestPool_CB06_AStrategyThatEndsAnotherHandleKeepsItsCause(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{}
		d.cfg.Strategy = s
		p := d.open(co)
		hs := d.take(co, 2)
		s.failure = func(src pool.Source, _ error) {
			s.failure = nil
			assert.NoError(t, hs[1].Discard(co, errStop))
			assert.NoError(t, src.Deactivate())
		}
		require.NoError(t, hs[0].Discard(co, errBoom))
		_, err := p.Acquire(co)
		var refused *pool.UnavailableError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, errBoom, refused.Cause)
	})
}

func TestPool_HookError_NamesThePoolAndTheHook(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name = "cars"
		d.cfg.BeforeAcquire = func(*scheduler.Coroutine, *part) (bool, error) { return true, errCheck }
		d.open(co)
		d.stock(co, 1)
		h := d.take(co, 1)[0]
		assert.Equal(t, 2, h.Value().id)
		require.Len(t, d.told, 1)
		var hook *pool.HookError
		require.ErrorAs(t, d.told[0], &hook)
		assert.Equal(t, []string{"cars", "BeforeAcquire"}, []string{hook.Pool, hook.Hook})
		assert.ErrorIs(t, hook, errCheck)
		give(t, co, h)
	})
}
