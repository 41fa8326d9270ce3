package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_EVT11_OneOfSeveralFiresAndTheOthersAreLeft(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		gates := []*gate{e.gate(), e.gate(), e.gate()}
		evs := []event.Event{gates[0], gates[1], gates[2]}
		e.mustRun(func(co *scheduler.Coroutine) error {
			waits := 0
			waiting := e.spawn(co, func(co *scheduler.Coroutine) error {
				for i := range 3 {
					fired, result, err := co.AwaitFirst(evs)
					require.NoError(t, err)
					waits++
					assert.Equal(t, i, fired)
					assert.Equal(t, i*10, result)
					for _, g := range gates {
						assert.Zero(t, g.Callbacks())
						assert.False(t, g.Started())
					}
					gates[(i+1)%3].open(99, nil) // its later firing has no effect
					assert.Equal(t, i+1, waits)
				}
				return nil
			})
			for i, g := range gates {
				_ = co.Yield()
				assert.Equal(t, 1, g.Callbacks())
				g.open(i*10, nil)
				g.open(98, nil) // only the first counts
				assert.True(t, waiting.Queued())
				_ = co.Yield()
			}
			return nil
		})
		for _, g := range gates {
			assert.Equal(t, 3, g.starts)
			assert.Equal(t, 3, g.stops)
		}
	})
}

func TestScheduler_EVT12_TwoThatFireInOneTurnResumeOnce(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		enters := map[string]int{}
		count := &scheduler.SwitchHandlers{Enter: func(co *scheduler.Coroutine) { enters[co.Name()]++ }}
		a, b := e.timer(2*ms), e.timer(2*ms)
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				fired, _, err := co.AwaitFirst([]event.Event{a, b}, scheduler.Timeout(time.Hour), scheduler.Token(b))
				if fired != 0 {
					isTokens(t, err, nil)
				}
				return nil
			}, scheduler.Named("waiting"))
			e.spawn(co, func(co *scheduler.Coroutine) error {
				_, _, err := co.AwaitFirst([]event.Event{a, b, a})
				return err
			}, scheduler.Named("waiting too"))
			return nil
		}, withSwitch(count))
		assert.Equal(t, 2, enters["waiting"], "to begin, and once after the wait")
		assert.Equal(t, 2, enters["waiting too"])
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_EVT12_AWakeOfEveryKindAtOnceResumesOnce(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g, token := e.gate(), e.gate()
			resumed := 0
			parked := e.spawn(co, func(co *scheduler.Coroutine) error {
				_, err := co.Await(g, scheduler.Token(token), scheduler.Timeout(time.Hour))
				resumed++
				assert.ErrorIs(t, err, context.Canceled)
				assert.ErrorIs(t, err, errStop, "EVT-13: what the token said may be kept beside it")
				isCancelled(t, co.Yield(), errStop)
				return nil
			})
			_ = co.Yield()
			token.open(nil, nil)
			g.open(nil, nil)
			require.NoError(t, parked.Cancel(errStop))
			require.NoError(t, parked.Cancel(errOther))
			assert.Equal(t, 1, e.s.Stats().Ready)
			yields(co, 3)
			assert.Equal(t, 1, resumed)
			assert.True(t, parked.Completed())
			return nil
		})
	})
}

func TestScheduler_EVT14_OneOfSeveralSubscriptionsGoesAndTheOthersStillFire(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			results := []any{}
			body := func(co *scheduler.Coroutine) error {
				fired, result, err := co.AwaitFirst([]event.Event{g, g})
				if err == nil {
					assert.Contains(t, []int{0, 1}, fired)
					results = append(results, result)
				}
				return err
			}
			leaver := e.spawn(co, body)
			e.spawn(co, body)
			_ = co.Yield()
			assert.Equal(t, 4, g.Callbacks())
			assert.Equal(t, 4, g.LoopRefs())
			require.NoError(t, leaver.Cancel(nil))
			_ = co.Yield()
			assert.Equal(t, 2, g.Callbacks())
			assert.Equal(t, 2, g.LoopRefs())
			g.open(3, nil)
			_ = co.Yield()
			assert.Equal(t, []any{3}, results, "the same event twice wakes once")
			assert.Zero(t, g.Callbacks())
			assert.Equal(t, 1, g.starts)
			assert.Equal(t, 1, g.stops)
			return nil
		})
	})
}

func TestScheduler_EVT15_WhoLeavesStopsTheEventAndItsFiringTouchesNothing(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		trigger, timer := e.trigger(), e.timer(time.Hour)
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, ev := range []event.Event{trigger, timer} {
				_, err := co.Await(ev, scheduler.Timeout(ms))
				isTimeout(t, err)
				child := e.spawn(co, waiter(ev))
				_ = co.Yield()
				require.NoError(t, child.Cancel(nil))
				_ = co.Yield()
			}
			assert.Zero(t, e.w.Live())
			assert.False(t, timer.Started())
			assert.False(t, timer.Closed(), "it can be started again")
			trigger.Fire()
			return co.Delay(2 * ms)
		})
		require.NoError(t, trigger.Close())
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_EVT16_CoroutinesAndWhatTheyWaitForDescribeThemselves(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g, o, l := e.gate(), e.outcome(), &line{}
			assert.Equal(t, `coroutine 1 "main", running`, co.Info())
			assert.Empty(t, co.WaitsFor())
			other := e.spawn(co, waiter(g), scheduler.Named("other"))
			assert.Equal(t, `coroutine 2 "other", queued`, other.Info())
			for want, body := range map[string]func(co *scheduler.Coroutine) error{
				"outcome":                        waiter(o, scheduler.Timeout(time.Hour)),
				"gate":                           waiter(g, scheduler.Token(o)),
				`coroutine 2 "other", suspended`: waiter(other),
				"line":                           func(co *scheduler.Coroutine) error { return park(co, l) },
				"Delay 1m0s":                     func(co *scheduler.Coroutine) error { return co.Delay(time.Minute) },
				`gate, outcome, coroutine 2 "other", suspended`: func(co *scheduler.Coroutine) error {
					_, _, err := co.AwaitFirst([]event.Event{g, o, other})
					return err
				},
			} {
				waits := e.spawn(co, body)
				_ = co.Yield()
				assert.Equal(t, want, waits.WaitsFor())
				assert.Contains(t, waits.SuspendLocation(), "_test.go:")
				require.NoError(t, waits.Cancel(nil))
				assert.Empty(t, waits.WaitsFor(), "it is ready")
				_ = co.Yield()
				assert.Contains(t, waits.Info(), "completed")
				assert.Empty(t, waits.SuspendLocation())
			}
			return other.Cancel(nil)
		})
	})
}
