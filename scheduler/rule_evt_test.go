package scheduler_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_EVT07_ALateSubscriberGetsTheStoredOutcomeAtOnce(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			good := e.spawn(co, func(co *scheduler.Coroutine) error { co.SetResult(7); return nil })
			bad := e.spawn(co, fails(errBoom), scheduler.SettledBy(settle(func(error) {})))
			yields(co, 2)
			for range 3 { // again and again, and nobody is subscribed by it
				calls := 0
				for ended, want := range map[*scheduler.Coroutine]any{good: 7, bad: nil} {
					_, err := ended.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
						calls++
						assert.Equal(t, want, result)
						assert.Equal(t, ended.Error(), err)
					})
					require.NoError(t, err)
					assert.Zero(t, ended.AsEvent().Callbacks())
				}
				assert.Equal(t, 2, calls)
				result, err := co.Await(good)
				assert.Equal(t, 7, result)
				require.NoError(t, err)
				_, err = co.Await(bad)
				assert.Same(t, errBoom, err)
			}
			return nil
		})
	})
}

func TestScheduler_EVT19_TheReplayCallsSynchronouslyAndAnAwaitDoesNotSuspend(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			done := e.outcome()
			done.complete(7, errBoom)
			for _, ev := range []event.Event{done, e.spawn(co, fails(errBoom), scheduler.SettledBy(settle(func(error) {})))} {
				_ = co.Yield()
				e.spawn(co, e.sayer("other"))
				_, err := ev.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, _ any, err error) {
					assert.Same(t, errBoom, err)
					e.say("replayed")
				})
				require.NoError(t, err)
				e.say("subscribed")
				_, err = co.Await(ev, scheduler.Token(done))
				assert.Same(t, errBoom, err, "AWAIT-03")
				fired, _, err := co.AwaitFirst([]event.Event{e.gate(), ev, done})
				assert.Same(t, errBoom, err)
				assert.Equal(t, 1, fired)
				e.say("awaited")
				_ = co.Yield()
				assert.Equal(t, []string{"replayed", "subscribed", "awaited", "other"}, e.said())
			}
			_, err := co.Await(e.gate(), scheduler.Token(done))
			isTokens(t, err, errBoom) // CANC-24
			return nil
		})
	})
}

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

func TestScheduler_EVT13_ARealErrorAndACancellationForOneWakeAreBothKept(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		for name, order := range map[string]func(co *scheduler.Coroutine){
			"cancelled first": func(co *scheduler.Coroutine) { assert.NoError(t, co.Cancel(errStop)); g.open(1, errBoom) },
			"error first":     func(co *scheduler.Coroutine) { g.open(1, errBoom); assert.NoError(t, co.Cancel(errStop)) },
		} {
			for _, first := range []bool{false, true} {
				var result any
				var got error
				e.mustRun(func(co *scheduler.Coroutine) error {
					parked := e.spawn(co, func(co *scheduler.Coroutine) error {
						if first {
							var fired int
							fired, result, got = co.AwaitFirst([]event.Event{e.gate(), g})
							assert.Equal(t, -1, fired)
						} else {
							result, got = co.Await(g)
						}
						return nil
					})
					_ = co.Yield()
					order(parked)
					return nil
				})
				assert.ErrorIs(t, got, errBoom, name)
				assert.ErrorIs(t, got, context.Canceled, name)
				assert.ErrorIs(t, got, errStop, name)
				assert.Nil(t, result, name)
			}
		}
	})
}

func TestScheduler_EVT13_GEN02_ACancellationWinsOverASuccessNotYetSeen(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			parked := e.spawn(co, func(co *scheduler.Coroutine) error {
				fired, result, err := co.AwaitFirst([]event.Event{g})
				assert.Equal(t, -1, fired)
				assert.Nil(t, result)
				assert.Equal(t, &event.CancelledError{Reason: errStop}, err)
				return err
			})
			_ = co.Yield()
			g.open(5, nil)
			return parked.Cancel(errStop)
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
			assert.Equal(t, "coroutine 1, running", co.Info())
			assert.Empty(t, co.WaitsFor())
			other := e.spawn(co, waiter(g), scheduler.Named("other"))
			assert.Equal(t, "other, queued", other.Info())
			for want, body := range map[string]func(co *scheduler.Coroutine) error{
				"outcome":          waiter(o, scheduler.Timeout(time.Hour)),
				"gate":             waiter(g, scheduler.Token(o)),
				"other, suspended": waiter(other),
				"line":             func(co *scheduler.Coroutine) error { return park(co, l) },
				"Delay 1m0s":       func(co *scheduler.Coroutine) error { return co.Delay(time.Minute) },
				"gate, outcome, other, suspended": func(co *scheduler.Coroutine) error {
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

func TestScheduler_EVT17_AwaitingAClosedEventSaysWhichOne(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		timer, trigger, other := e.timer(time.Hour), e.trigger(), e.timer(ms)
		require.NoError(t, timer.Close())
		require.NoError(t, trigger.Close())
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(timer)
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Contains(t, err.Error(), "timer of 1h0m0s")
			_, err = co.Await(trigger)
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Contains(t, err.Error(), "trigger")
			fired, _, err := co.AwaitFirst([]event.Event{other, timer})
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Equal(t, 1, fired)
			assert.False(t, other.Started())
			_, err = co.Await(other, scheduler.Token(timer))
			isToken := err.(*event.CancelledError)
			assert.True(t, isToken.Token, "a closed token ends the wait")
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.False(t, other.Started())
			_, err = co.Await(other, scheduler.Token(other))
			require.NoError(t, err, "AWAIT-04: the target as its own token is none")
			return nil
		})
	})
}

func TestScheduler_EVT17_AnEventThatIsClosedWhileItIsAwaitedEndsTheWait(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, how := range []string{"await", "first", "token", "from its own callback"} {
				trigger, ended := e.trigger(), 0
				closed := func(err error) {
					ended++
					assert.ErrorIs(t, err, event.ErrClosed, how)
					assert.Contains(t, err.Error(), "trigger")
				}
				for range 2 { // several wait for it
					e.spawn(co, func(co *scheduler.Coroutine) error {
						switch how {
						case "first":
							fired, _, err := co.AwaitFirst([]event.Event{e.gate(), trigger})
							assert.Equal(t, 1, fired)
							closed(err)
						case "token":
							_, err := co.Await(e.gate(), scheduler.Token(trigger))
							assert.ErrorIs(t, err, context.Canceled)
							closed(err)
						case "await":
							_, err := co.Await(trigger)
							closed(err)
						default:
							_, err := co.Await(trigger)
							assert.NoError(t, err, "it happened")
							ended++
						}
						return nil
					})
				}
				if how == "from its own callback" {
					_, err := trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { assert.NoError(t, trigger.Close()) })
					require.NoError(t, err)
					_ = co.Yield()
					trigger.Fire()
				}
				require.NoError(t, co.Delay(ms))
				if how == "from its own callback" {
					require.NoError(t, co.Delay(5*ms))
				}
				require.NoError(t, trigger.Close())
				_ = co.Yield()
				assert.Equal(t, 2, ended, how)
				assert.Zero(t, e.w.Live())
			}
			return nil
		})
	})
}

func TestScheduler_EVT17_PollsAndSignalsClosedWhileAwaited(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		l := e.w.(reactortest.Real).Loop
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer func() { assert.NoError(t, r.Close()); assert.NoError(t, w.Close()) }()
		e.mustRun(func(co *scheduler.Coroutine) error {
			poll, err := l.NewPoll(int(r.Fd()), reactor.Readable)
			require.NoError(t, err)
			proxy, err := poll.NewProxy(reactor.Readable)
			require.NoError(t, err)
			sig, err := l.NewSignal(10)
			require.NoError(t, err)
			for _, ev := range []interface {
				event.Event
				Close() error
			}{proxy, poll, sig} {
				waits := e.spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(ev)
					assert.ErrorIs(t, err, event.ErrClosed)
					return nil
				})
				require.NoError(t, co.Delay(ms))
				assert.True(t, waits.Suspended())
				require.NoError(t, ev.Close())
				_ = co.Yield()
				assert.True(t, waits.Completed(), "%T", ev)
			}
			return nil
		})
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_EVT17_AnEventThatIsOnlyDisposedStillHappens(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			timer := e.timer(3 * ms)
			waits := e.spawn(co, waiter(timer))
			_ = co.Yield()
			timer.Dispose()
			_, err := co.Await(timer)
			assert.ErrorIs(t, err, event.ErrClosed, "this reference is gone")
			_, err = co.Await(waits)
			return err
		})
	})
}

func TestScheduler_EVT17_AnAwaitedEventIsNotCollected(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		l := e.w.(reactortest.Real).Loop
		e.mustRun(func(co *scheduler.Coroutine) error {
			w := func() weak.Pointer[reactor.Timer] {
				timer, err := l.NewPeriodicTimer(20 * ms)
				require.NoError(t, err)
				e.spawn(co, waiter(timer))
				return weak.Make(timer)
			}()
			_ = co.Yield()
			for range 3 {
				runtime.GC()
				require.NoError(t, co.Delay(ms))
			}
			_ = w
			return nil
		})
		runtime.GC()
		reactortest.Until(t, e.w, func() bool { return !e.w.Pending() })
		assert.Zero(t, e.w.Live())
		assert.Zero(t, l.Stats().Orphans)
	})
}

func TestScheduler_EVT18_TheHookMayReplaceOrSwallowWhatACoroutineAwaits(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			swallow := true
			g.SetNotifyHook(func(_ *event.Base, result any, err error) (any, bool, error) { return "replaced", !swallow, errBoom })
			waits := e.spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g)
				assert.Equal(t, "replaced", result)
				assert.Same(t, errBoom, err)
				return nil
			})
			_ = co.Yield()
			g.open(1, nil)
			assert.False(t, waits.Queued())
			swallow = false
			g.open(1, nil)
			return nil
		})
	})
}

// starter is a visible event that does something when it is started.
type starter struct {
	event.Base
	start         func() error
	starts, stops int
}

type starterKind struct {
	event.NopKind
	s *starter
}

func (k starterKind) StartEvent() error { k.s.starts++; return k.s.start() }
func (k starterKind) StopEvent()        { k.s.stops++ }
func (k starterKind) Info() string      { return "starter" }

func (e *env) starter(start func(s *starter) error) *starter {
	s := &starter{}
	s.start = func() error { return start(s) }
	s.Init(starterKind{s: s}, e.w.Count(), event.FlagPeriodic)
	return s
}

func TestScheduler_EVT11_AnEventThatHappensWhileItIsStarted(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			at := e.starter(func(s *starter) error { return s.Notify("at once", nil) })
			quiet := e.starter(func(*starter) error { return nil })
			for range 300 { // more than anybody's luck
				result, err := co.Await(at)
				require.NoError(t, err)
				assert.Equal(t, "at once", result)
			}
			for i, evs := range [][]event.Event{{at, quiet}, {quiet, at}, {quiet, at, quiet, at}} {
				fired, result, err := co.AwaitFirst(evs)
				require.NoError(t, err)
				assert.Equal(t, min(i, 1), fired)
				assert.Equal(t, "at once", result)
			}
			_, err := co.Await(quiet, scheduler.Token(at))
			isTokens(t, err, nil)
			l := &line{}
			isTokens(t, park(co, l, scheduler.Token(at)), nil)
			assert.Len(t, l.left, 1)
			assert.Equal(t, at.starts, at.stops)
			assert.Equal(t, quiet.starts, quiet.stops)
			assert.Zero(t, e.s.Stats().Ready)
			return nil
		})
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_EVT11_AnEventThatCannotBeStarted(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			bad := e.starter(func(*starter) error { return errBoom })
			quiet := e.starter(func(*starter) error { return nil })
			_, err := co.Await(bad)
			assert.ErrorIs(t, err, errBoom)
			fired, _, err := co.AwaitFirst([]event.Event{quiet, bad}, scheduler.Timeout(time.Hour))
			assert.ErrorIs(t, err, errBoom)
			assert.Equal(t, -1, fired)
			_, err = co.Await(quiet, scheduler.Token(bad))
			assert.ErrorIs(t, err, errBoom)
			l := &line{}
			assert.ErrorIs(t, park(co, l, scheduler.Token(bad)), errBoom)
			assert.Len(t, l.left, 1)
			assert.Equal(t, quiet.starts, quiet.stops)
			assert.Zero(t, bad.Callbacks())
			assert.Zero(t, quiet.Callbacks())
			assert.Zero(t, e.w.Live())
			return co.Yield()
		})
	})
}

func TestScheduler_EVT11_ACancellationWhileTheEventIsStarted(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for _, happens := range []bool{false, true} {
			var got error
			e.mustRun(func(co *scheduler.Coroutine) error {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					ev := e.starter(func(s *starter) error {
						if happens {
							assert.NoError(t, s.Notify(nil, nil))
						}
						return co.Cancel(errStop)
					})
					_, got = co.Await(ev)
					assert.Equal(t, ev.starts, ev.stops)
					return nil
				})
				return nil
			})
			isCancelled(t, got, errStop)
		}
	})
}

func TestScheduler_GEN06_SharedPeriodicTimersAreStartedAndStoppedInBalance(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		timer, err := e.w.(reactortest.Real).Loop.NewPeriodicTimer(ms)
		require.NoError(t, err)
		e.mustRun(func(co *scheduler.Coroutine) error {
			for i := range 5 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					for range i + 1 {
						if _, _, err := co.AwaitFirst([]event.Event{timer, timer}); err != nil {
							return err
						}
					}
					return nil
				})
			}
			_, err := co.Await(timer)
			return err
		})
		assert.False(t, timer.Started())
		assert.Zero(t, e.w.Live())
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_GEN06_ARearmInAnEarlierCallbackSurvives(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		timer, err := e.w.(reactortest.Real).Loop.NewRearmingTimer(ms)
		require.NoError(t, err)
		fired := 0
		cb, err := timer.OnFire(func() {
			if fired++; fired < 4 {
				assert.NoError(t, timer.Rearm(ms))
			}
		})
		require.NoError(t, err)
		e.mustRun(func(co *scheduler.Coroutine) error {
			for range 3 { // they come after the callback, and must not stop what it has started
				e.spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(timer, scheduler.Timeout(time.Hour))
					return err
				})
			}
			_, _, err := co.AwaitFirst([]event.Event{timer, timer})
			require.NoError(t, err)
			_ = co.Yield()
			assert.True(t, timer.Started(), "the callback's start is its own")
			for fired < 4 {
				if _, err := co.Await(timer); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Equal(t, 4, fired)
		assert.False(t, timer.Started())
		assert.Zero(t, e.w.Live())
		assert.True(t, timer.DelCallback(cb))
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_GEN11_ThingsOfAnotherRunAreRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var others *scheduler.Coroutine
		e.mustRun(func(co *scheduler.Coroutine) error { others = co; return nil }, withName("first run"))
		e.mustRun(func(co *scheduler.Coroutine) error {
			running := e.spawn(co, waiter(e.gate()))
			_, err := co.Await(others)
			isUsage(t, err, "first run", "second run")
			_, err = others.Spawn(e.sayer("no"))
			isUsage(t, err, "first run")
			isUsage(t, others.Cancel(nil), "first run")
			isUsage(t, others.Yield(), "first run")
			isUsage(t, others.Scope().Cancel(nil), "first run")
			_, err = others.Scheduler().NewExternal()
			isUsage(t, err, "first run")
			return running.Cancel(nil)
		}, withName("second run"))
		assert.Empty(t, e.said())
	})
	onLibuv(t, func(t *testing.T, e *env) { // a run inside a coroutine of another
		e.mustRun(func(outer *scheduler.Coroutine) error {
			inner, err := reactor.New(reactor.Options{})
			require.NoError(t, err)
			defer func() { assert.NoError(t, inner.Close()) }()
			stuck := e.spawn(outer, waiter(e.gate()), scheduler.Named("stuck"))
			_ = outer.Yield()
			s := scheduler.New(inner, scheduler.Options{Name: "inner run"})
			require.NoError(t, s.Run(context.Background(), func(co *scheduler.Coroutine) error {
				_, err := co.Await(stuck)
				isUsage(t, err, "stuck", "inner run", "outer run")
				_, _, err = co.AwaitFirst([]event.Event{e.outcome(), stuck})
				isUsage(t, err, "stuck", "inner run", "outer run")
				_, err = co.Await(e.outcome(), scheduler.Token(stuck))
				isUsage(t, err, "stuck", "inner run", "outer run")
				isUsage(t, outer.Yield(), "outer run")
				_, err = outer.Spawn(e.sayer("no"))
				isUsage(t, err, "outer run")
				return nil
			}))
			assert.Zero(t, stuck.AsEvent().Refs()-1)
			return stuck.Cancel(nil)
		}, withName("outer run"))
		assert.Empty(t, e.said())
	})
}

func TestScheduler_GEN11_EventsOfAnotherLoopAreRefused(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		other, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, other.Close()) }()
		timer, err := other.NewTimer(ms)
		require.NoError(t, err)
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(timer, scheduler.Timeout(20*ms))
			isUsage(t, err, "loop")
			_, err = co.Await(e.timer(time.Hour), scheduler.Token(timer), scheduler.Timeout(20*ms))
			isUsage(t, err, "loop")
			return nil
		})
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_GEN11_ARunWithACoroutineAsItsContextIsRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			ctx, cancel := context.WithCancel(co)
			defer cancel()
			for _, made := range []context.Context{co, ctx, context.WithValue(co, "key", 1)} {
				isUsage(t, scheduler.New(e.w, scheduler.Options{}).Run(made, e.sayer("no")), "Scheduler.Run", "outer run")
			}
			return co.Protect(func(ctx context.Context) error {
				isUsage(t, scheduler.New(e.w, scheduler.Options{}).Run(ctx, e.sayer("no")), "outer run")
				return nil
			})
		}, withName("outer run"))
		assert.Empty(t, e.said())
	})
}
