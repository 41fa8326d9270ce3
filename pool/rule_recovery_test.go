package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_CB06_WhoeverIsWokenAfterAFailureSeesWhatTheStrategyDid(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{failure: func(src pool.Source, _ error) {
			assert.Empty(t, d.gone, "before it is destroyed")
			assert.NoError(t, src.Deactivate())
			assert.Equal(t, pool.Inactive, src.State())
		}}
		d.cfg.Strategy, d.cfg.BeforeRelease = s, fine
		d.destroys(func(co *scheduler.Coroutine, v *part) error {
			if v.id == 1 {
				assert.Equal(t, pool.Inactive, d.p.State())
			}
			return co.Delay(ms)
		})
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		d.ruin(1)
		require.NoError(t, h.Release(co))
		settle(co)
		for _, v := range vs {
			require.True(t, v.over)
			assert.ErrorIs(t, v.err, pool.ErrServiceUnavailable)
		}
		assert.Equal(t, []int{1}, d.made, "nothing is made for them")
		assert.Equal(t, []int{1}, d.gone)
		d.has(0, 0, 0)
		require.NoError(t, p.Activate())
		d.works(co)
	})
}

func TestPool_CB06_AFactoryThatFailsMayDeactivate(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{failure: func(src pool.Source, _ error) { assert.NoError(t, src.Deactivate()) }}
		d.cfg.Strategy = s
		d.creates(func(co *scheduler.Coroutine, call int) error {
			_ = co.Delay(time.Duration(call) * 5 * ms)
			return errMake
		})
		d.open(co)
		vs := d.queued(co, 3)
		join(t, co, vs...)
		assert.ErrorIs(t, vs[0].err, errMake, "who wanted it has the error (POOL-05)")
		assert.ErrorIs(t, vs[1].err, pool.ErrServiceUnavailable)
		assert.ErrorIs(t, vs[2].err, pool.ErrServiceUnavailable)
		require.NoError(t, co.Delay(20*ms))
		d.has(0, 0, 0)
		assert.Equal(t, []string{"failure"}, s.said(), "an older acquisition's result is told to nobody")
	})
}

func TestPool_CB07_AnInactivePoolAsksWhetherToRecover(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		answer := false
		s := &recorder{}
		s.recover = func(src pool.Source) bool {
			assert.Equal(t, pool.Inactive, src.State())
			return answer
		}
		d.cfg.Strategy = s
		p := d.open(co)
		require.NoError(t, p.Deactivate())
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		_, ok := d.tries(co)
		assert.False(t, ok)
		assert.Equal(t, []string{"should recover", "should recover"}, s.said(), "once each")

		answer = true
		h, err := p.Acquire(co)
		require.NoError(t, err)
		assert.Equal(t, pool.Recovering, p.State())
		h2, ok := d.tries(co)
		require.True(t, ok)
		assert.Equal(t, []string{"should recover"}, s.said(), "while inactive only")
		give(t, co, h, h2)
		assert.Equal(t, []string{"success", "success"}, s.said())
		assert.Equal(t, pool.Recovering, p.State(), "the strategy has not activated it")

		require.NoError(t, p.Deactivate())
		h, ok = d.tries(co)
		require.True(t, ok)
		assert.Equal(t, pool.Recovering, p.State())
		give(t, co, h)
	})
}

func TestPool_CB04_ResultsFromBeforeAChangeAreToldToNobody(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{}
		d.cfg.Strategy, d.cfg.BeforeRelease = s, fine
		p := d.open(co)
		hs := d.take(co, 3)
		require.NoError(t, p.Deactivate())
		require.NoError(t, p.Recover())
		give(t, co, hs[0])
		require.NoError(t, p.Activate())
		d.ruin(2)
		give(t, co, hs[1])
		require.NoError(t, hs[2].Destroy(co))
		assert.Empty(t, s.said())
		give(t, co, d.take(co, 1)...)
		assert.Equal(t, []string{"success"}, s.said())
	})
}

func TestPool_CB01_AHookMayChangeTheStateAgain(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var changes []string
		d.cfg.OnStateChange = func(from, to pool.State) {
			changes = append(changes, fmt.Sprint(from, " ", to))
			if to == pool.Inactive {
				assert.NoError(t, d.p.Recover())
			}
			if to == pool.Recovering {
				assert.NoError(t, d.p.Activate())
			}
		}
		p := d.open(co)
		require.NoError(t, p.Deactivate())
		assert.Equal(t, pool.Active, p.State())
		assert.Equal(t, []string{"active inactive", "inactive recovering", "recovering active"}, changes)
	})
}

func TestPool_CB07_ConsecutiveFailuresTurnAPoolOffAndOn(t *testing.T) {
	inVirtualTime(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		broken := true
		calls := 0
		d.creates(func(*scheduler.Coroutine, int) error {
			calls++
			if broken {
				return errMake
			}
			return nil
		})
		var changes []string
		d.cfg.OnStateChange = func(from, to pool.State) { changes = append(changes, fmt.Sprint(from, " ", to)) }
		d.cfg.Strategy = &pool.ConsecutiveFailures{Failures: 3, CoolDown: 10 * time.Second, Successes: 2}
		p := d.open(co)
		for range 3 {
			_, err := p.Acquire(co)
			assert.ErrorIs(t, err, errMake)
		}
		assert.Equal(t, pool.Inactive, p.State())
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		pause(t, co, 10*time.Second-ms)
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable, "within the cool-down")
		assert.Equal(t, 3, calls)
		pause(t, co, ms)
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, errMake, "a probe")
		assert.Equal(t, pool.Inactive, p.State(), "that turns it off again")
		pause(t, co, 10*time.Second-ms)
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable, "for the whole cool-down")

		pause(t, co, ms)
		broken = false
		h := d.take(co, 1)[0]
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable, "one probe at a time")
		give(t, co, h)
		assert.Equal(t, pool.Recovering, p.State(), "two are wanted")
		give(t, co, d.take(co, 1)...)
		assert.Equal(t, pool.Active, p.State())
		assert.Equal(t, []string{"active inactive", "inactive recovering", "recovering inactive", "inactive recovering",
			"recovering active"}, changes)
		d.works(co)
	})
}

func TestPool_CB07_ConsecutiveFailuresAreInARow(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Strategy = &pool.ConsecutiveFailures{Failures: 2}
		p := d.open(co)
		for range 5 {
			require.NoError(t, d.take(co, 1)[0].Destroy(co))
			assert.Equal(t, pool.Active, p.State())
			give(t, co, d.take(co, 1)...)
		}
		require.NoError(t, d.take(co, 1)[0].Destroy(co))
		require.NoError(t, d.take(co, 1)[0].Destroy(co))
		assert.Equal(t, pool.Inactive, p.State())
	})
}

func TestPool_CB07_AFailureRateTurnsAPoolOffAndOn(t *testing.T) {
	inVirtualTime(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Strategy = &pool.FailureRate{Rate: 0.5, Window: 10 * time.Second, MinResults: 4, CoolDown: time.Minute}
		p := d.open(co)
		bad := func() { require.NoError(t, d.take(co, 1)[0].Destroy(co)) }
		good := func() { give(t, co, d.take(co, 1)...) }
		for range 3 {
			bad()
		}
		assert.Equal(t, pool.Active, p.State(), "too few to decide")
		pause(t, co, 11*time.Second)
		good()
		good()
		bad()
		assert.Equal(t, pool.Active, p.State(), "the old ones are forgotten")
		bad()
		assert.Equal(t, pool.Inactive, p.State(), "two of four")
		pause(t, co, time.Minute-ms)
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		pause(t, co, ms)
		good()
		assert.Equal(t, pool.Active, p.State())
		var invalid *event.InvalidArgumentError
		d.cfg.Strategy = &pool.FailureRate{Rate: 2}
		_, err = pool.New(co, d.cfg)
		assert.ErrorAs(t, err, &invalid)
		d.cfg.Strategy = &pool.ConsecutiveFailures{Failures: -1}
		_, err = pool.New(co, d.cfg)
		assert.ErrorAs(t, err, &invalid)
	})
}
