package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

// fails is a body that fails at once.
func fails(err error) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { return err }
}

func TestScheduler_SHUT01_AFailureCancelsTheOthersAndRunReturnsIt(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		var waiting error
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("deferred")
				defer func() {
					assert.NoError(t, co.Protect(func(context.Context) error {
						defer e.say("protected")
						return co.Delay(ms)
					}))
				}()
				waiting = co.Delay(time.Hour)
				return waiting
			})
			require.NoError(t, co.OnFinally(func(_, _ *scheduler.Coroutine) error { e.say("finally"); return nil }))
			e.spawn(co, func(co *scheduler.Coroutine) error {
				e.spawn(co, e.sayer("unstarted"))
				return errBoom
			})
			return co.Delay(time.Hour)
		})
		assert.ErrorIs(t, err, errBoom)
		isCancelled(t, waiting, errBoom)
		assert.ElementsMatch(t, []string{"deferred", "protected", "finally"}, e.said())
		var f *scheduler.FailureError
		require.ErrorAs(t, err, &f)
		assert.Equal(t, "coroutine 3", f.Coroutine)
	})
}

func TestScheduler_SHUT01_MainsOwnFailureIsReturnedAsItIs(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("unstarted"))
			return errBoom
		})
		assert.Same(t, errBoom, err)
		assert.Empty(t, e.said())
	})
}

func TestScheduler_SHUT01_APanicFailsTheRunWhereverItIs(t *testing.T) {
	places := map[string]func(e *env, co *scheduler.Coroutine) error{
		"main": func(*env, *scheduler.Coroutine) error { panic(errBoom) },
		"child": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"timer callback": func(e *env, co *scheduler.Coroutine) error {
			timer := e.timer(ms)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(e.t, err)
			_, err = co.Await(timer)
			return err
		},
		"deadline callback": func(e *env, co *scheduler.Coroutine) error {
			e.after(ms, func() { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"post": func(e *env, co *scheduler.Coroutine) error {
			_ = e.s.Post(func() { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"microtask": func(e *env, co *scheduler.Coroutine) error {
			_ = e.s.Microtask(func() error { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"subscriber of a coroutine": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(e.t, err)
			return co.Delay(time.Hour)
		},
		"settler": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("child"), scheduler.SettledBy(settle(func(error) { panic(errBoom) })))
			return co.Delay(time.Hour)
		},
		"error handler": func(e *env, co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { panic(errBoom) })
			e.spawn(co, fails(errOther))
			return co.Delay(time.Hour)
		},
		"finally handler": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			require.NoError(e.t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { panic(errBoom) }))
			return co.Delay(time.Hour)
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				var waited error
				err := e.run(func(co *scheduler.Coroutine) error {
					e.spawn(co, func(co *scheduler.Coroutine) error { waited = co.Delay(time.Hour); return waited })
					_ = co.Yield()
					return place(e, co)
				})
				assert.ErrorIs(t, err, errBoom)
				var p *event.PanicError
				require.ErrorAs(t, err, &p)
				assert.Contains(t, string(p.Stack), "rule_shut_test.go", "the stack is that of the panic")
				assert.ErrorIs(t, waited, context.Canceled, "the others were cancelled")
				if name == "error handler" {
					assert.ErrorIs(t, err, errOther, "SCOPE-20")
				}
			})
		})
	}
}

type settle func(err error)

func (s settle) Settle(_ *scheduler.Coroutine, err error) { s(err) }

func TestScheduler_SHUT01_APanicOfASwitchHandlerFailsTheRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for _, h := range []*scheduler.SwitchHandlers{
			{Enter: func(*scheduler.Coroutine) { panic(errBoom) }},
			{Leave: func(*scheduler.Coroutine) { panic(errBoom) }},
			{Finish: func(*scheduler.Coroutine) { panic(errBoom) }},
		} {
			err := e.run(func(co *scheduler.Coroutine) error { return co.Delay(ms) }, withSwitch(h))
			assert.ErrorIs(t, err, errBoom)
		}
	})
}

func TestScheduler_SHUT02_LaterFailuresLeadBackToTheFirst(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		errs := []error{errors.New("first"), errors.New("second"), errors.New("third")}
		err := e.run(func(co *scheduler.Coroutine) error {
			for i, err := range errs {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						_ = co.Delay(time.Duration(i+1) * ms)
						return err
					})
				}, scheduler.Named(fmt.Sprint("worker ", i)))
			}
			return nil
		})
		for _, one := range errs {
			assert.ErrorIs(t, err, one)
		}
		var latest *scheduler.FailureError
		require.ErrorAs(t, err, &latest)
		assert.Equal(t, "worker 2", latest.Coroutine, "the latest comes first")
	})
}

func TestScheduler_SHUT02_RequestedTwiceItIsOneShutdown(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var got error
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { got = co.Delay(time.Hour); return got })
			_ = co.Yield()
			require.NoError(t, e.s.Shutdown(errStop))
			require.NoError(t, e.s.Shutdown(errOther))
			return co.Delay(time.Hour)
		})
		isCancelled(t, err, errStop)
		isCancelled(t, got, errStop)
		assert.NotErrorIs(t, err, errOther)
		isUsage(t, e.s.Shutdown(errOther), "Scheduler.Shutdown", e.s.Name())
	})
}

func TestScheduler_SHUT02_ALaterFailureDoesNotExtendTheGrace(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			for _, d := range []time.Duration{15 * ms, 30 * ms} {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						_ = co.Delay(d)
						e.say(d.String())
						return errBoom
					})
				})
			}
			_ = co.Yield()
			return e.s.Shutdown(errStop)
		}, withGrace(20*ms))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 1)
		assert.Equal(t, []string{"15ms"}, e.said())
	})
}

func TestScheduler_SHUT02_AFailureAfterShutdownKeepsTheReason(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Shutdown(errStop))
			_ = co.Delay(ms)
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errStop)
	})
}

func TestScheduler_SHUT02_ShutdownFromAForeignGoroutineIsRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			foreign(func() { isUsage(t, e.s.Shutdown(errStop), "Scheduler.Shutdown", "goroutine") })
			return co.Delay(ms)
		})
	})
}

func TestScheduler_SHUT03_WhoSurvivesStageOneMayFinishWithinTheGrace(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Shutdown(errStop))
			defer e.say("finished")
			return co.Protect(func(context.Context) error { return co.Delay(10 * ms) })
		}, withGrace(time.Hour))
		isCancelled(t, err, errStop)
		assert.Equal(t, []string{"finished"}, e.said())
	})
}

func TestScheduler_SHUT03_WhatRemainsWhenTheGraceEndsIsUnwoundAndNamed(t *testing.T) {
	for _, grace := range []time.Duration{-1, 5 * ms} {
		t.Run(grace.String(), func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				body := func(co *scheduler.Coroutine) error {
					defer e.say("deferred")
					return co.Protect(func(context.Context) error {
						defer func() { _ = recover() }() // it cannot swallow this
						err := co.Delay(time.Hour)
						e.say("went on")
						return err
					})
				}
				err := e.run(func(co *scheduler.Coroutine) error {
					e.spawn(co, body, scheduler.Named("late one"))
					e.spawn(co, body, scheduler.Named("late two"))
					_ = co.Yield()
					require.NoError(t, e.s.Shutdown(errStop))
					return nil
				}, withGrace(grace))
				assert.ErrorIs(t, err, errStop)
				var late *scheduler.ShutdownError
				require.ErrorAs(t, err, &late)
				assert.Equal(t, grace, late.Grace)
				if grace < 0 { // the caller of Shutdown had no time to end, either
					require.Contains(t, late.Coroutines[0], "coroutine 1")
					late.Coroutines = late.Coroutines[1:]
				}
				require.Len(t, late.Coroutines, 2)
				assert.Contains(t, late.Coroutines[0], "late one")
				assert.Contains(t, late.Coroutines[0], "Delay 1h0m0s")
				assert.Contains(t, late.Coroutines[0], "rule_shut_test.go")
				assert.Contains(t, late.Coroutines[1], "late two")
				assert.Contains(t, late.Error(), "late one")
				assert.Equal(t, []string{"deferred", "deferred"}, e.said())
			})
		})
	}
}

func TestScheduler_SHUT03_AFailureOfADeferredFunctionOfTheUnwoundIsKept(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer func() { panic(errBoom) }()
				return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
			})
			_ = co.Yield()
			return e.s.Shutdown(errStop)
		}, withGrace(2*ms))
		assert.ErrorIs(t, err, errStop)
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScheduler_SHUT03_ADeferredFunctionThatSuspendsWhileUnwoundEnds(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("outer")
				defer func() {
					e.say("inner")
					_ = co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
					e.say("not reached")
				}()
				return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
			})
			_ = co.Yield()
			return e.s.Shutdown(errStop)
		}, withGrace(2*ms))
		assert.ErrorIs(t, err, errStop)
		assert.Equal(t, []string{"inner", "outer"}, e.said())
	})
}

func TestScheduler_SHUT03_ZeroGraceMeansTheDefault(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Shutdown(errStop))
			return co.Protect(func(context.Context) error { return co.Delay(20 * ms) })
		})
		var late *scheduler.ShutdownError
		assert.False(t, errors.As(err, &late), "%v", err)
	})
}

func TestScheduler_SHUT04_ExitHooksMaySpawnAndWhatTheySpawnRuns(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			return errors.Join(
				co.OnFinally(func(self, _ *scheduler.Coroutine) error {
					e.spawn(self, func(co *scheduler.Coroutine) error {
						defer e.say("spawned")
						return co.Protect(func(context.Context) error { return co.Delay(ms) })
					})
					return nil
				}),
				errBoom)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"spawned"}, e.said())
	})
}

func TestScheduler_SHUT04_CleanUpThatIsUnderWayGoesOnInAShutdown(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			require.NoError(t, child.OnFinally(func(self, _ *scheduler.Coroutine) error {
				if err := self.Delay(5 * ms); err != nil { // the shutdown comes meanwhile
					return err
				}
				e.spawn(self, e.sayer("spawned"))
				return self.Delay(ms)
			}))
			if err := co.Delay(ms); err != nil {
				return err
			}
			return errBoom
		})
		assert.Same(t, errBoom, err, "CORO-22: the clean-up saw no cancellation")
		assert.Equal(t, []string{"child", "spawned"}, e.said())
	})
}

func TestScheduler_SHUT05_IdleHelpersNeverDelayTheEnd(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var helper error
		from := e.w.Now()
		e.mustRun(func(co *scheduler.Coroutine) error {
			for range 3 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					for {
						if helper = co.Delay(time.Hour); helper != nil {
							return helper
						}
					}
				}, scheduler.Hidden())
			}
			timer := e.timer(time.Hour)
			require.NoError(t, timer.Start())
			t.Cleanup(func() { assert.NoError(t, timer.Close()) })
			return co.Yield()
		})
		isCancelled(t, helper, scheduler.ErrRunOver)
		assert.Less(t, e.w.Now().Sub(from), time.Hour)
	})
}

func TestScheduler_SHUT05_AHelperThatFailsWhileTheRunEndsIsHeard(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				_ = co.Delay(time.Hour)
				return errBoom
			}, scheduler.Hidden())
			return co.Yield()
		})
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScheduler_SHUT06_NothingIsLeftAfterARunWhateverItsEnd(t *testing.T) {
	ends := map[string]func(e *env, co *scheduler.Coroutine) error{
		"return":   func(*env, *scheduler.Coroutine) error { return nil },
		"failure":  func(*env, *scheduler.Coroutine) error { return errBoom },
		"panic":    func(*env, *scheduler.Coroutine) error { panic("boom") },
		"deadlock": func(e *env, co *scheduler.Coroutine) error { return waiter(e.gate())(co) },
		"shutdown": func(e *env, co *scheduler.Coroutine) error { return e.s.Shutdown(nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				timer, trigger, g := e.timer(time.Hour), e.trigger(), e.liveGate()
				_ = e.run(func(co *scheduler.Coroutine) error {
					var l line
					for _, body := range []func(co *scheduler.Coroutine) error{
						waiter(timer), waiter(trigger, scheduler.Timeout(time.Hour)), waiter(g, scheduler.Token(timer)),
						func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) },
						func(co *scheduler.Coroutine) error {
							return park(co, &l, scheduler.Timeout(time.Hour), scheduler.Token(trigger))
						},
						func(co *scheduler.Coroutine) error {
							_, _, err := co.AwaitFirst([]event.Event{g, timer, trigger})
							return err
						},
						func(co *scheduler.Coroutine) error {
							return co.WithTimeout(time.Hour, func(co *scheduler.Coroutine) error { return waiter(g)(co) })
						},
					} {
						if name == "deadlock" {
							break // a visible wait would prevent it
						}
						e.spawn(co, body, scheduler.Hidden())
						e.spawn(co, func(co *scheduler.Coroutine) error {
							child := e.spawn(co, body)
							return errors.Join(co.Yield(), child.Cancel(nil))
						})
					}
					yields(co, 3)
					return end(e, co)
				})
				assert.Zero(t, e.w.Live())
				assert.False(t, timer.Started())
				assert.False(t, trigger.Started())
				assert.Equal(t, g.starts, g.stops)
				assert.Zero(t, g.Callbacks())
				require.NoError(t, errors.Join(timer.Close(), trigger.Close()))
			})
		})
	}
}

func TestScheduler_SHUT06_NoDeadlineIsLeftNotEvenThatOfTheGrace(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		c := e.counted()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
			_ = co.Yield()
			return errBoom
		}, withGrace(time.Hour))
		assert.ErrorIs(t, err, errBoom)
		require.Len(t, c.made, 2)
		for _, d := range c.made {
			assert.False(t, d.Running())
		}
	})
}

// belonging is a thing of a scope that notes what it is told.
type belonging struct {
	scheduler.Owned
	e    *env
	name string
	done error
}

func (b *belonging) ScopeClosed(reason error) { b.e.say(b.name + " closed: " + reason.Error()) }
func (b *belonging) ScopeDone() error         { b.e.say(b.name + " done"); return b.done }

func TestScheduler_SHUT07_TheEndOfTheRunClosesWhatTheScopesOwn(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			beside, err := e.s.NewRoot()
			require.NoError(t, err)
			for i, sc := range []*scheduler.Scope{co.Scope(), child, beside, child} {
				b := &belonging{e: e, name: fmt.Sprint(i)}
				sc.Own(&b.Owned, b)
				if i == 3 {
					b.Release()
					b.Release()
				}
			}
			return nil
		})
		said := e.said()
		over := (&event.CancelledError{Reason: scheduler.ErrRunOver}).Error()
		assert.ElementsMatch(t, []string{"0 done", "1 done", "2 done", "0 closed: " + over, "1 closed: " + over, "2 closed: " + over}, said)
	})
}

func TestScheduler_SHUT07_WhatACancelledScopeOwnsIsClosedOnceAndFailuresAreTold(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			b := &belonging{e: e, name: "thing", done: errBoom}
			child.Own(&b.Owned, b)
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Cancel(errOther))
			late := &belonging{e: e, name: "late"}
			child.Own(&late.Owned, late)
			return nil
		})
		assert.ErrorIs(t, err, errBoom, "CORO-16")
		said := e.said()
		assert.ElementsMatch(t, []string{"thing closed: cancelled: stop", "thing done", "late closed: cancelled: stop", "late done"}, said)
		for _, name := range []string{"thing", "late"} {
			assert.Less(t, slices.Index(said, name+" closed: cancelled: stop"), slices.Index(said, name+" done"))
		}
	})
}

func TestScheduler_SHUT_TheContextOfRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errStop)
		err := e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
			e.say("main")
			return co.Delay(time.Hour)
		})
		isCancelled(t, err, errStop)
		assert.Empty(t, e.said(), "done before Run: nothing starts (SHUT-01)")
	})
	onLibuv(t, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var got error
		err := e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
			go cancel(errStop)
			got = co.Delay(time.Hour)
			return got
		})
		isCancelled(t, err, errStop)
		isCancelled(t, got, errStop)
		assert.ErrorIs(t, err, context.Canceled)

		limited, cancelLimited := context.WithTimeout(context.Background(), 5*ms)
		defer cancelLimited()
		err = e.start(e.prepare(), limited, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestScheduler_SHUT_RunFromSeveralGoroutinesAndAgainOnTheSameLoop(t *testing.T) {
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			l, err := reactor.New(reactor.Options{})
			if !assert.NoError(t, err) {
				return
			}
			for round := range 3 {
				ended := 0
				err := scheduler.New(l, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
					for i := range 50 {
						if _, err := co.Spawn(func(co *scheduler.Coroutine) error {
							defer func() { ended++ }()
							return errors.Join(co.Yield(), co.Delay(time.Duration(i%3)*ms), co.Yield())
						}); err != nil {
							return err
						}
					}
					if round == 1 {
						return errBoom
					}
					return nil
				})
				if round == 1 {
					assert.ErrorIs(t, err, errBoom)
					continue
				}
				assert.NoError(t, err)
				assert.Equal(t, 50, ended, "run %d of goroutine %d", round, n)
			}
			assert.NoError(t, l.Close())
		})
	}
	all.Wait()
}

func TestScheduler_SHUT_ASecondRunOfOneSchedulerIsRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			isUsage(t, e.s.Run(context.Background(), e.sayer("no")), "Scheduler.Run", e.s.Name())
			return nil
		}, withName("once"))
		isUsage(t, e.s.Run(context.Background(), e.sayer("no")), "once")
		assert.Empty(t, e.said())
	})
}

func TestScheduler_SHUT_ALoopThatIsClosedUnderARunEndsIt(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		var got, stuck error
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { got = co.Delay(time.Hour); return got })
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("unwound")
				return co.Protect(func(context.Context) error { stuck = co.Delay(time.Hour); return stuck })
			})
			_ = co.Yield()
			require.NoError(t, e.w.Close())
			return nil
		})
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, got, context.Canceled)
		assert.Equal(t, []string{"unwound"}, e.said())
	})
}

// exitsInOrder runs main where something calls Goexit, and checks that Run's goroutine ends by it, after everything else has ended.
func (e *env) exitsInOrder(main func(co *scheduler.Coroutine) error, opts ...option) {
	e.t.Helper()
	s, returned, done := e.prepare(opts...), false, make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			st := s.Stats()
			assert.Zero(e.t, st.Active)
			assert.Zero(e.t, st.Total)
			assert.Zero(e.t, st.Contexts)
		}()
		_ = s.Run(context.Background(), main)
		returned = true
	}()
	select {
	case <-done:
	case <-time.After(patience):
		require.FailNow(e.t, "the run hangs")
	}
	assert.False(e.t, returned, "Run's goroutine exits as well")
	assert.Zero(e.t, e.w.Live())
}

// cancelOthers leaves co, and what is hidden, alone.
func (e *env) cancelOthers(co *scheduler.Coroutine) {
	for _, other := range e.s.Coroutines() {
		if other != co && other.Name() != "hidden" {
			require.NoError(e.t, other.Cancel(nil))
		}
	}
}

func TestScheduler_SHUT_FailNowEndsTheRunInOrderWhereverItIsCalled(t *testing.T) {
	exit := func() { runtime.Goexit() } // what t.FailNow does
	places := map[string]func(e *env, co *scheduler.Coroutine) error{
		"main": func(*env, *scheduler.Coroutine) error { exit(); return nil },
		"main, protected": func(_ *env, co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error { exit(); return nil })
		},
		"child": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { exit(); return nil })
			return co.Delay(time.Hour)
		},
		"hidden child at the end": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { defer exit(); return co.Delay(time.Hour) }, scheduler.Hidden(), scheduler.Named("hidden"))
			_ = co.Yield()
			e.cancelOthers(co)
			return nil
		},
		"timer callback": func(e *env, co *scheduler.Coroutine) error {
			timer := e.timer(ms)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { exit() })
			require.NoError(e.t, err)
			_, err = co.Await(timer)
			return err
		},
		"callback of a run with one coroutine": func(e *env, co *scheduler.Coroutine) error { e.after(2*ms, exit); return co.Delay(time.Hour) },
		"post":                                 func(e *env, co *scheduler.Coroutine) error { _ = e.s.Post(exit); return co.Delay(time.Hour) },
		"microtask": func(e *env, co *scheduler.Coroutine) error {
			_ = e.s.Microtask(func() error { exit(); return nil })
			return co.Delay(time.Hour)
		},
		"subscriber of a coroutine": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { exit() })
			require.NoError(e.t, err)
			return co.Delay(time.Hour)
		},
		"settler": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("child"), scheduler.SettledBy(settle(func(error) { exit() })))
			return co.Delay(time.Hour)
		},
		"error handler": func(e *env, co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { exit(); return nil })
			e.spawn(co, fails(errOther))
			return co.Delay(time.Hour)
		},
		"finally handler": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			require.NoError(e.t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { exit(); return nil }))
			return co.Delay(time.Hour)
		},
		"starving hook": func(e *env, co *scheduler.Coroutine) error {
			var h *starving
			h = e.starving("hook", func() bool { h.help = no; exit(); return false })
			e.cancelOthers(co)
			return waiter(e.gate())(co)
		},
		"several": func(e *env, co *scheduler.Coroutine) error {
			for range 3 {
				e.spawn(co, func(co *scheduler.Coroutine) error { defer exit(); return co.Delay(time.Hour) })
			}
			yields(co, 2)
			exit()
			return nil
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				var waited error
				e.exitsInOrder(func(co *scheduler.Coroutine) error {
					e.spawn(co, func(co *scheduler.Coroutine) error {
						defer e.say("cleaned up")
						waited = co.Delay(time.Hour)
						return waited
					})
					_ = co.Yield()
					return place(e, co)
				})
				assert.ErrorIs(t, waited, context.Canceled)
				assert.Contains(t, e.said(), "cleaned up")
			})
		})
	}
}

func TestScheduler_SHUT_FailNowInASwitchHandlerEndsTheRunInOrder(t *testing.T) {
	for name, h := range map[string]func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers{
		"enter": func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers {
			return &scheduler.SwitchHandlers{Enter: fn}
		},
		"leave": func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers {
			return &scheduler.SwitchHandlers{Leave: fn}
		},
		"finish": func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers {
			return &scheduler.SwitchHandlers{Finish: fn}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				once := true
				e.exitsInOrder(func(co *scheduler.Coroutine) error {
					e.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(ms) })
					return co.Delay(time.Hour)
				}, withSwitch(h(func(*scheduler.Coroutine) {
					if once {
						once = false
						runtime.Goexit()
					}
				})))
			})
		})
	}
}

func TestScheduler_SHUT_PostStormsWhileCoroutinesRun(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		const goroutines, posts = 4, 500
		ran, resumed := 0, 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			var all sync.WaitGroup
			for range goroutines {
				all.Go(func() {
					for range posts {
						assert.NoError(t, x.Post(func() { ran++ }))
					}
				})
			}
			go func() {
				all.Wait()
				assert.NoError(t, x.Close())
			}()
			for range 50 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					for range 50 {
						resumed++
						if err := co.Yield(); err != nil {
							return err
						}
					}
					return nil
				})
			}
			for ran < goroutines*posts {
				if err := co.Delay(ms); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Equal(t, goroutines*posts, ran)
		assert.Equal(t, 50*50, resumed)
		reactortest.Until(t, e.w, func() bool { return !e.w.Pending() })
	})
}
