package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_EVT11_OneOfSeveralFiresAndTheOthersAreLeft(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		gates := []*cotest.Gate{e.Gate(), e.Gate(), e.Gate()}
		evs := []event.Event{gates[0], gates[1], gates[2]}
		e.MustRun(func(co *scheduler.Coroutine) error {
			waits := 0
			waiting := e.Spawn(co, func(co *scheduler.Coroutine) error {
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
					gates[(i+1)%3].Open(99, nil) // its later firing has no effect
					assert.Equal(t, i+1, waits)
				}
				return nil
			})
			for i, g := range gates {
				_ = co.Yield()
				assert.Equal(t, 1, g.Callbacks())
				g.Open(i*10, nil)
				g.Open(98, nil) // only the first counts
				assert.True(t, waiting.Queued())
				_ = co.Yield()
			}
			return nil
		})
		for _, g := range gates {
			assert.Equal(t, 3, g.Starts)
			assert.Equal(t, 3, g.Stops)
		}
	})
}

func TestScheduler_EVT12_TwoThatFireInOneTurnResumeOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		enters := map[string]int{}
		count := &scheduler.SwitchHandlers{Enter: func(co *scheduler.Coroutine) { enters[co.Name()]++ }}
		a, b := e.Timer(2*ms), e.Timer(2*ms)
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				fired, _, err := co.AwaitFirst([]event.Event{a, b}, scheduler.Timeout(time.Hour), scheduler.Token(b))
				if fired != 0 {
					cotest.IsTokens(t, err, nil)
				}
				return nil
			}, scheduler.Named("waiting"))
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, _, err := co.AwaitFirst([]event.Event{a, b, a})
				return err
			}, scheduler.Named("waiting too"))
			return nil
		}, withSwitch(count))
		assert.Equal(t, 2, enters["waiting"], "to begin, and once after the wait")
		assert.Equal(t, 2, enters["waiting too"])
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_EVT12_AWakeOfEveryKindAtOnceResumesOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g, token := e.Gate(), e.Gate()
			resumed := 0
			parked := e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, err := co.Await(g, scheduler.Token(token), scheduler.Timeout(time.Hour))
				resumed++
				assert.ErrorIs(t, err, context.Canceled)
				assert.ErrorIs(t, err, errStop, "EVT-13: what the token said may be kept beside it")
				cotest.IsCancelled(t, co.Yield(), errStop)
				return nil
			})
			_ = co.Yield()
			token.Open(nil, nil)
			g.Open(nil, nil)
			require.NoError(t, parked.Cancel(errStop))
			require.NoError(t, parked.Cancel(errOther))
			assert.Equal(t, 1, e.S.Stats().Ready)
			cotest.Yields(co, 3)
			assert.Equal(t, 1, resumed)
			assert.True(t, parked.Completed())
			return nil
		})
	})
}

func TestScheduler_EVT14_OneOfSeveralSubscriptionsGoesAndTheOthersStillFire(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			results := []any{}
			body := func(co *scheduler.Coroutine) error {
				fired, result, err := co.AwaitFirst([]event.Event{g, g})
				if err == nil {
					assert.Contains(t, []int{0, 1}, fired)
					results = append(results, result)
				}
				return err
			}
			leaver := e.Spawn(co, body)
			e.Spawn(co, body)
			_ = co.Yield()
			assert.Equal(t, 4, g.Callbacks())
			assert.Equal(t, 4, g.LoopRefs())
			require.NoError(t, leaver.Cancel(nil))
			_ = co.Yield()
			assert.Equal(t, 2, g.Callbacks())
			assert.Equal(t, 2, g.LoopRefs())
			g.Open(3, nil)
			_ = co.Yield()
			assert.Equal(t, []any{3}, results, "the same event twice wakes once")
			assert.Zero(t, g.Callbacks())
			assert.Equal(t, 1, g.Starts)
			assert.Equal(t, 1, g.Stops)
			return nil
		})
	})
}

func TestScheduler_EVT15_WhoLeavesStopsTheEventAndItsFiringTouchesNothing(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		trigger, timer := e.Trigger(), e.Timer(time.Hour)
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, ev := range []event.Event{trigger, timer} {
				_, err := co.Await(ev, scheduler.Timeout(ms))
				cotest.IsTimeout(t, err)
				child := e.Spawn(co, cotest.Waiter(ev))
				_ = co.Yield()
				require.NoError(t, child.Cancel(nil))
				_ = co.Yield()
			}
			assert.Zero(t, e.W.Live())
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
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g, o, l := e.Gate(), newOutcome(), &line{}
			assert.Equal(t, `coroutine 1 "main", running`, co.Info())
			assert.Empty(t, co.WaitsFor())
			other := e.Spawn(co, waiter(g), scheduler.Named("other"))
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
				waits := e.Spawn(co, body)
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
