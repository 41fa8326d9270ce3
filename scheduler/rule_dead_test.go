package scheduler_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

// isDeadlock checks that err is the verdict on so many coroutines, with nothing before it, and returns it.
func isDeadlock(t *testing.T, err error, waiting int) *scheduler.DeadlockError {
	t.Helper()
	var d *scheduler.DeadlockError
	require.ErrorAs(t, err, &d)
	assert.Equal(t, waiting, d.Waiting)
	assert.Contains(t, d.Error(), "deadlock")
	return d
}

// waiter is a body that awaits ev and returns what that answers. Reports name it, which inlining would change.
//
//go:noinline
func waiter(ev event.Event, opts ...scheduler.WaitOption) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		_, err := co.Await(ev, opts...)
		return err
	}
}

func TestScheduler_DEAD01_EveryParkedCoroutineIsCancelledAndTheRunSaysHowMany(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var got []error
		wait := func(co *scheduler.Coroutine) error {
			err := waiter(g)(co)
			got = append(got, err)
			return err
		}
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, wait)
			e.spawn(co, wait)
			return wait(co)
		})
		d := isDeadlock(t, err, 3)
		assert.Same(t, d, err, "nothing failed before it")
		require.Len(t, got, 3)
		for _, err := range got {
			isCancelled(t, err, d)
			assert.Contains(t, err.Error(), "deadlock")
		}
		assert.Equal(t, g.starts, g.stops)
	})
}

func TestScheduler_DEAD01_WhoEndedWellBeforeDoesNotCount(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, waiter(g))
			return nil
		})
		isDeadlock(t, err, 1)
	})
}

func TestScheduler_DEAD01_HiddenCoroutinesAreNotJudged(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var hidden error
		helper := func(co *scheduler.Coroutine) error { _, hidden = co.Await(g); return hidden }
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, helper, scheduler.Hidden(), scheduler.Named("helper"))
			return waiter(g)(co)
		})
		d := isDeadlock(t, err, 1)
		assert.NotContains(t, d.Report, "helper")
		assert.ErrorIs(t, hidden, context.Canceled, "the end of the run cancels it")

		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, helper, scheduler.Hidden())
			return co.Yield()
		})
		assert.ErrorIs(t, hidden, scheduler.ErrRunOver, "alone it is no deadlock (GEN-09)")
	})
}

func TestScheduler_DEAD02_WhoIgnoresTheVerdictFinishesAndTheRunStillFails(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var first, second, third error
		var co1 *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			co1 = co
			_, first = co.Await(g)
			_, second = co.Await(g)
			third = co.Delay(time.Hour)
			e.say("went on")
			return nil
		})
		d := isDeadlock(t, err, 1)
		isCancelled(t, first, d)
		assert.Equal(t, first, second)
		assert.Equal(t, first, third)
		assert.Equal(t, []string{"went on"}, e.said())
		assert.NoError(t, co1.Error(), "CANC-05")
		assert.True(t, co1.Cancelled())
	})
}

func TestScheduler_DEAD02_ProtectedWaitsFailOnceAndWorkAgainLater(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var stuck, later error
		err := e.run(func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				_, stuck = co.Await(g)
				later = co.Delay(2 * ms)
				return nil
			})
		})
		d := isDeadlock(t, err, 1)
		isCancelled(t, stuck, d)
		assert.NoError(t, later, "CANC-18: protected waits begun after the verdict work")
	})
}

func TestScheduler_DEAD02_WhoGetsStuckAgainIsUnwoundAndNamed(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("unwound")
				return co.Protect(func(context.Context) error {
					for {
						_, _ = co.Await(g)
						e.say("again")
					}
				})
			}, scheduler.Named("stubborn"))
			return nil
		})
		isDeadlock(t, err, 1)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		require.Len(t, late.Coroutines, 1)
		assert.Contains(t, late.Coroutines[0], "stubborn")
		assert.Equal(t, []string{"again", "unwound"}, e.said())
	})
}

func TestScheduler_DEAD03_TwoThatAwaitEachOther(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var a, b *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			a = e.spawn(co, func(co *scheduler.Coroutine) error { return waiter(b)(co) })
			b = e.spawn(co, func(co *scheduler.Coroutine) error { return waiter(a)(co) })
			return nil
		})
		isDeadlock(t, err, 2)
	})
}

func TestScheduler_DEAD03_OneAloneInAQueueOfSomebodyElse(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var l line
		err := e.run(func(co *scheduler.Coroutine) error { return park(co, &l) })
		d := isDeadlock(t, err, 1)
		assert.Contains(t, d.Report, "line")
		assert.Len(t, l.left, 1, "it left the queue")
	})
}

func TestScheduler_DEAD04_HiddenTimersDoNotPreventIt(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		timer := e.timer(time.Hour)
		timer.SetHidden(true)
		require.NoError(t, timer.Start())
		deadline := e.w.NewDeadline(func() {})
		deadline.SetHidden(true)
		require.NoError(t, deadline.Start(time.Hour))
		from := e.w.Now()
		isDeadlock(t, e.run(waiter(e.gate())), 1)
		assert.Less(t, e.w.Now().Sub(from), time.Hour)
		assert.True(t, timer.Started(), "it is not the run's to stop")
		deadline.Stop()
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_DEAD04_VisibleEventsPreventIt(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			e.after(3*ms, func() { g.open(nil, nil) })
			return waiter(g)(co)
		})
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(e.gate(), scheduler.Timeout(3*ms))
			isTimeout(t, err)
			var l line
			isTimeout(t, park(co, &l, scheduler.Timeout(3*ms)))
			_, err = co.Await(e.gate(), scheduler.Token(e.timer(3*ms)))
			isTokens(t, err, nil)
			return nil
		})
	})
}

func TestScheduler_DEAD04_WhatComesFromOutsidePreventsIt(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		l := e.w.(reactortest.Real).Loop
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer func() { assert.NoError(t, r.Close()) }()
		poll, err := l.NewPoll(int(r.Fd()), reactor.Readable)
		require.NoError(t, err)
		trigger := e.trigger()
		sig, err := l.NewSignal(syscall.SIGUSR2)
		require.NoError(t, err)
		e.mustRun(func(co *scheduler.Coroutine) error {
			for i, ev := range []event.Event{poll, trigger, sig} {
				go func() { // each happens at any time, before the wait begins or while it lasts
					switch i {
					case 0:
						_ = w.Close()
					case 1:
						trigger.Fire()
					}
				}()
				if i == 2 { // it must not come before somebody watches
					e.after(2*ms, func() { assert.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGUSR2)) })
				}
				_, err := co.Await(ev)
				require.NoError(t, err)
			}
			return nil
		})
		require.NoError(t, errors.Join(poll.Close(), trigger.Close(), sig.Close()))
	})
}

func TestScheduler_DEAD05_WhatHasHappenedAlreadyIsLookedAtFirst(t *testing.T) {
	happen := map[string]func(e *env, open func()){
		"a post":      func(e *env, open func()) { require.NoError(e.t, e.s.Post(open)) },
		"a microtask": func(e *env, open func()) { require.NoError(e.t, e.s.Microtask(func() error { open(); return nil })) },
		"a hidden timer that is due": func(e *env, open func()) {
			timer := e.timer(0)
			timer.SetHidden(true)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { open() })
			require.NoError(e.t, err)
			require.NoError(e.t, timer.Start())
		},
		"a hidden trigger that fired": func(e *env, open func()) {
			trigger := e.trigger()
			trigger.SetHidden(true)
			_, err := trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { open() })
			require.NoError(e.t, err)
			require.NoError(e.t, trigger.Start())
			e.t.Cleanup(func() { assert.NoError(e.t, trigger.Close()) })
			trigger.Fire()
		},
		"a post that posts": func(e *env, open func()) {
			require.NoError(e.t, e.s.Post(func() { assert.NoError(e.t, e.s.Post(open)) }))
		},
		"a post that spawns": func(e *env, open func()) {
			require.NoError(e.t, e.s.Post(func() {
				e.spawn(e.s.Main(), func(co *scheduler.Coroutine) error { open(); return nil })
			}))
		},
	}
	for name, arrange := range happen {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				e.mustRun(func(co *scheduler.Coroutine) error {
					g := e.gate()
					arrange(e, func() { g.open(nil, nil) })
					return waiter(g)(co)
				})
			})
		})
	}
}

// starving is a hook before the verdict.
type starving struct {
	scheduler.StarvingNode
	help func() bool
}

func (s *starving) Starve() bool { return s.help() }

func (e *env) starving(name string, help func() bool) *starving {
	s := &starving{help: func() bool { e.say(name); return help() }}
	e.s.Starving(&s.StarvingNode, s)
	return s
}

func no() bool { return false }

func TestScheduler_DEAD05_WhoMayHelpIsAskedInOrderUntilSomebodyWasWoken(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			g := e.gate()
			a := e.starving("a", no)
			b := e.starving("b", func() bool { g.open(nil, nil); return true })
			c := e.starving("c", no)
			e.s.Starving(&a.StarvingNode, a) // it stays where it is
			require.NoError(t, waiter(g)(co))
			assert.Equal(t, []string{"a", "b"}, e.said())
			a.Release()
			a.Release()
			b.help = no
			e.s.Starving(&a.StarvingNode, a)
			defer c.Release()
			return waiter(g)(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"c", "a"}, e.said(), "b was replaced by one that says nothing")
	})
}

func TestScheduler_DEAD05_WhoWasTakenOutOfTheListIsNotAsked(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			var b *starving
			e.starving("a", func() bool { b.Release(); return false })
			b = e.starving("b", no)
			e.starving("c", no)
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"a", "c"}, e.said())
	})
}

func TestScheduler_DEAD05_WhatAHookHasSetGoingCancelsTheVerdict(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, how := range []func(open func()){
				func(open func()) { require.NoError(t, e.s.Microtask(func() error { open(); return nil })) },
				func(open func()) { require.NoError(t, e.s.Post(open)) },
				func(open func()) { e.after(ms, open) },
			} {
				g := e.gate()
				h := e.starving("asked", func() bool { how(func() { g.open(nil, nil) }); return false })
				if _, err := co.Await(g); err != nil {
					return err
				}
				h.Release()
			}
			return nil
		})
	})
}

func TestScheduler_DEAD05_AHookThatPanicsFailsTheRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.starving("bad", func() bool { panic(errBoom) })
			return waiter(e.gate())(co)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"bad"}, e.said())
	})
}

func TestScheduler_DEAD07_WhatStartedInThisTurnCounts(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error {
				e.after(2*ms, func() { g.open(nil, nil) })
				return nil
			})
			return waiter(g)(co)
		})
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer g.open(nil, nil)
				return co.Delay(2 * ms)
			})
			return waiter(g)(co)
		})
	})
}

func TestScheduler_DEAD08_AnEarlierFailureIsTheCause(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { return errBoom })
			return co.Protect(func(context.Context) error { return waiter(e.gate())(co) })
		})
		isDeadlock(t, err, 1)
		assert.ErrorIs(t, err, errBoom)
		assert.Less(t, strings.Index(err.Error(), "deadlock"), strings.Index(err.Error(), "boom"), "the later one first")
	})
}

func TestScheduler_DEAD09_WhoIsWokenIsNeverReported(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			var l line
			g := e.gate()
			parked := e.spawn(co, func(co *scheduler.Coroutine) error {
				defer g.open(nil, nil)
				return park(co, &l)
			})
			require.NoError(t, co.Yield())
			require.NoError(t, parked.Unpark())
			if err := waiter(g)(co); err != nil {
				return err
			}
			assert.Empty(t, l.left)
			return nil
		})
	})
}

func TestScheduler_DEAD12_AnExternalHandleCountsUntilItIsClosed(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			g := e.gate()
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			assert.Equal(t, 1, e.w.Live())
			go func() {
				for range 100 {
					assert.NoError(t, x.Post(func() { e.say("post") }))
				}
				assert.NoError(t, x.Post(func() { g.open(7, nil) }))
			}()
			result, err := co.Await(g)
			require.NoError(t, err)
			assert.Equal(t, 7, result)
			assert.Len(t, e.said(), 100)
			go func() {
				assert.NoError(t, x.Close())
				assert.NoError(t, x.Close())
				assert.ErrorIs(t, x.Post(func() { t.Error("posted through a closed handle") }), event.ErrClosed)
			}()
			return waiter(g)(co)
		})
		isDeadlock(t, err, 1)
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_AnExternalHandleClosedOnTheLoopCountsNoMore(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			require.NoError(t, x.Close())
			require.NoError(t, x.Close())
			assert.Zero(t, e.w.Live())
			assert.ErrorIs(t, x.Post(func() {}), event.ErrClosed)
			other, err := e.s.NewExternal()
			require.NoError(t, err)
			require.NoError(t, x.Close())
			assert.Equal(t, 1, e.w.Live(), "closing one twice is not closing two (GEN-06)")
			require.NoError(t, other.Close())
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		_, err = e.s.NewExternal()
		isUsage(t, err, "Scheduler.NewExternal")
	})
}

func TestScheduler_DEAD12_ADroppedExternalHandleIsClosedWhenCollected(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		stop := make(chan struct{})
		defer close(stop)
		err := e.run(func(co *scheduler.Coroutine) error {
			_, err := e.s.NewExternal()
			require.NoError(t, err)
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						runtime.GC()
					}
				}
			}()
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_AnExternalHandleDoesNotOutliveTheRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var x *scheduler.External
		e.mustRun(func(co *scheduler.Coroutine) (err error) {
			x, err = e.s.NewExternal()
			return err
		})
		assert.Zero(t, e.w.Live(), "SHUT-06")
		foreign(func() { assert.NoError(t, x.Close()) })
		isDeadlock(t, e.run(waiter(e.gate())), 1)
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_ExternalHandlesClosedWhileTheRunEnds(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		done := make(chan struct{})
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			go func() {
				defer close(done)
				assert.NoError(t, x.Post(func() { g.open(nil, nil) }))
				assert.NoError(t, x.Close())
			}()
			return waiter(g)(co)
		})
		<-done
		reactortest.Until(t, e.w, func() bool { return !e.w.Pending() })
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_ABarePostDoesNotCountNorACancellableContext(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Post(func() { e.say("ran") }))
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"ran"}, e.said())
	})
}

func TestScheduler_DEAD10_TenThousandAreToldWithABoundedReport(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		const many = 10_000
		cancelled := 0
		err := e.run(func(co *scheduler.Coroutine) error {
			g := e.gate()
			for range many {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(g)
					if errors.Is(err, context.Canceled) {
						cancelled++
					}
					return err
				})
			}
			return nil
		})
		d := isDeadlock(t, err, many)
		assert.Equal(t, many, cancelled)
		assert.Less(t, strings.Count(d.Report, "\n"), 200)
		assert.Contains(t, d.Report, "10000 coroutines")
		assert.Contains(t, d.Report, "and 9980 more")
	})
}
