package scope_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestScope_SCOPE08_WhatAZombieIs(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			g := e.gate()
			z := e.spawn(s, func(co *scheduler.Coroutine) error {
				_, err := co.Await(g)
				require.NoError(t, err)
				assert.NoError(t, co.Err())
				// It suspends, spawns elsewhere, and protects as ever.
				child := e.spawn(scope.Main(co), sleeper(ms))
				_, err = co.Await(child)
				require.NoError(t, err)
				require.NoError(t, co.Protect(func(context.Context) error { return co.Yield() }))
				co.SetResult("whole")
				return nil
			})
			require.NoError(t, z.OnFinally(func(self, ended *scheduler.Coroutine) error {
				assert.Same(t, z, ended)
				assert.True(t, ended.Zombie())
				assert.False(t, self.Zombie())
				e.say("finally")
				return self.Yield()
			}))
			e.counts(2, 0, 2)
			require.NoError(t, co.Yield())
			counts(t, s, 1, 0, 1)
			assert.False(t, z.Zombie())

			require.NoError(t, s.Cancel(errStop))
			assert.True(t, z.Zombie())
			counts(t, s, 0, 1, 1) // not active, and stays listed
			e.counts(1, 1, 2)
			assert.Contains(t, co.Scheduler().Coroutines(), z)
			assert.True(t, scope.Of(z).Same(s))
			assert.Contains(t, z.Info(), "zombie")
			assert.Contains(t, s.Info(), "1 zombie")
			assert.Contains(t, s.Info(), "cancelled")
			assert.False(t, z.CancellationRequested())

			g.open(nil, nil)
			result, err := co.Await(z)
			require.NoError(t, err)
			assert.Equal(t, "whole", result)
			assert.True(t, z.Zombie(), "it was one")
			assert.False(t, z.Cancelled())
			assert.NotContains(t, z.Info(), "zombie")
			counts(t, s, 0, 0, 0)
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			e.counts(1, 0, 1)
			assert.Equal(t, []string{"finally"}, e.said())
			return nil
		})
	})
}

func TestScope_SCOPE08_FiguresAtEveryStep(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			below := scope.New(s)
			var gates []*gate
			for i := range 3 {
				g := e.gate()
				gates = append(gates, g)
				e.spawn(s, waiter(g))
				if i == 0 {
					e.spawn(below, waiter(g))
				}
			}
			hidden := e.spawn(s, waiter(gates[2]), scheduler.Hidden())
			counts(t, s, 3, 0, 4)
			counts(t, below, 1, 0, 1)
			e.counts(5, 0, 6)
			require.NoError(t, co.Yield())
			queued := e.spawn(s, fails(nil))
			counts(t, s, 4, 0, 5)
			require.NoError(t, s.Cancel(errStop))
			counts(t, s, 1, 4, 5) // the one that never runs is active until its turn
			counts(t, below, 0, 1, 1)
			e.counts(2, 5, 7)
			require.NoError(t, s.Cancel(errStop))
			e.counts(2, 5, 7)
			require.NoError(t, co.Yield())
			assert.True(t, queued.Completed())
			counts(t, s, 0, 4, 4)
			e.counts(1, 5, 6)
			assert.True(t, hidden.Zombie())
			assert.False(t, s.IsClosed())
			require.NoError(t, s.DisposeSafely(), "nobody becomes a zombie twice")
			assert.True(t, s.IsClosed())
			counts(t, s, 0, 4, 4)
			e.counts(1, 5, 6)
			gates[0].open(nil, nil)
			require.NoError(t, co.Yield())
			counts(t, s, 0, 3, 3)
			counts(t, below, 0, 0, 0)
			e.counts(1, 3, 4)
			gates[1].open(nil, nil)
			require.NoError(t, co.Yield())
			counts(t, s, 0, 2, 2)
			require.NoError(t, s.Dispose())
			counts(t, s, 0, 2, 2)
			e.counts(1, 2, 3)
			require.NoError(t, co.Yield())
			counts(t, s, 0, 0, 0)
			e.counts(1, 0, 1)
			return nil
		})
	})
}

// GEN-06: nobody is counted twice, or not at all, at any instant at which somebody else's code runs.
func TestScope_SCOPE08_GEN06_CountedOnceWhoeverLooks(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		looks := 0
		var s *scope.Scope
		look := func() {
			looks++
			st := e.s.Stats()
			assert.Equal(t, st.Total, st.Active+st.Zombies, "of the run")
			if s != nil {
				own := s.Stats()
				assert.Equal(t, own.Total, own.Active+own.Zombies, "of the scope")
			}
		}
		logger := newRecorder(func(record) { look() })
		e.mustRun(func(co *scheduler.Coroutine) error {
			s = scope.New(co)
			_, err := s.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { look() })
			require.NoError(t, err)
			for range 2 {
				z := e.spawn(s, sleeper(ms))
				require.NoError(t, z.OnFinally(func(*scheduler.Coroutine, *scheduler.Coroutine) error { look(); return nil }))
				_, err := z.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { look() })
				require.NoError(t, err)
			}
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			return s.AwaitAfterCancellation(co, nil)
		}, withZombies(scheduler.ZombieLog{Logger: logger.slog()}))
		assert.Greater(t, looks, 6)
	})
}

func TestScope_SCOPE29_TheRunEndsWithTheLastActiveOne(t *testing.T) {
	simulated(t, func(t *testing.T, e *env) {
		start := e.w.Now()
		var z, root *scheduler.Coroutine
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			z = e.spawn(s, sleeper(hour))
			root = e.spawn(scope.NewRoot(co), sleeper(10*ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			return nil
		})
		isCancelled(t, z.Error(), scheduler.ErrRunOver)
		assert.NoError(t, root.Error(), "an active one is waited for, wherever it is")
		assert.Equal(t, 10*ms, e.w.Now().Sub(start))
	})
}

func TestScope_SCOPE29_AZombieThatIsAlwaysReady(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		const enough = 20000
		var end error
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.spawn(s, func(co *scheduler.Coroutine) error {
				for range enough {
					if end = co.Yield(); end != nil {
						return end
					}
				}
				return nil
			})
			require.NoError(t, co.Yield())
			return s.Close()
		})
		isCancelled(t, end, scheduler.ErrRunOver)
	})
}

func TestScope_SCOPE29_ZombiesMayFinishTheirCleanup(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			z := e.spawn(s, func(co *scheduler.Coroutine) error {
				err := co.Delay(hour)
				isCancelled(t, err, scheduler.ErrRunOver)
				assert.NoError(t, co.Protect(func(context.Context) error { e.say("protected"); return co.Delay(ms) }))
				return err
			})
			require.NoError(t, z.OnFinally(func(self, _ *scheduler.Coroutine) error { e.say("finally"); return self.Delay(ms) }))
			require.NoError(t, s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error { e.say("scope"); return self.Delay(ms) }))
			require.NoError(t, co.Yield())
			return s.DisposeSafely()
		})
		assert.Equal(t, []string{"protected", "finally", "scope"}, e.said())
	})
}

func TestScope_SCOPE29_AZombieThatFailsAtTheEndOfTheRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.spawn(s, func(co *scheduler.Coroutine) error {
				_ = co.Delay(hour)
				return errBoom
			})
			require.NoError(t, co.Yield())
			return s.Close()
		})
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScope_CANC18_SHUT03_ZombiesThatDoNotEndAreUnwoundAndNamed(t *testing.T) {
	simulated(t, func(t *testing.T, e *env) {
		for name, fail := range map[string]bool{"failure": true, "no active one": false} {
			start := e.w.Now()
			unwound := false
			err := e.run(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				e.spawn(s, func(co *scheduler.Coroutine) error {
					defer func() { unwound = true }()
					_ = co.Delay(hour)
					_ = co.Protect(func(context.Context) error { return co.Delay(hour) })
					e.say("never")
					return nil
				}, scheduler.Named("stubborn"))
				e.spawn(s, sleeper(hour), scheduler.Named("obedient"))
				require.NoError(t, co.Yield())
				require.NoError(t, s.Cancel(nil))
				if fail {
					return errBoom
				}
				return nil
			}, withGrace(20*ms))
			assert.Equal(t, 20*ms, e.w.Now().Sub(start), name)
			var late *scheduler.ShutdownError
			require.ErrorAs(t, err, &late)
			assert.Equal(t, 20*ms, late.Grace)
			if assert.Len(t, late.Coroutines, 1) {
				assert.Contains(t, late.Coroutines[0], "stubborn")
				assert.Contains(t, late.Coroutines[0], "Delay")
			}
			assert.Equal(t, fail, errors.Is(err, errBoom), name)
			assert.True(t, unwound, name)
			assert.Empty(t, e.said())
		}
	})
}

func TestScope_CANC18_UnwindingLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.finally(s, "scope", nil)
			for range 3 {
				deep := scope.New(s)
				z := e.spawn(deep, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error { return co.Delay(hour) })
				})
				e.finally(deep, "deep", nil)
				require.NoError(t, z.OnFinally(func(_, _ *scheduler.Coroutine) error { e.say("coroutine"); return nil }))
			}
			require.NoError(t, co.Yield())
			return s.Close()
		}, withGrace(-1))
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 3)
		assert.ElementsMatch(t, []string{"coroutine", "coroutine", "coroutine", "deep", "deep", "deep", "scope"}, e.said())
	})
}

func TestScope_SHUT01_AFailureCancelsZombiesInForce(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var z *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			s := scope.New(scope.NewRoot(co))
			z = e.spawn(s, sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeSafely())
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		isCancelled(t, z.Error(), errBoom)

		// Shutdown, and the context of the run.
		for _, byContext := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(context.Background())
			err = e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				z = e.spawn(s, sleeper(hour))
				require.NoError(t, co.Yield())
				require.NoError(t, s.Cancel(nil))
				if byContext {
					if _, simulated := interface{}(e.w).(interface{ SetShuffle(bool) }); simulated {
						require.NoError(t, co.Scheduler().Shutdown(errStop))
					} else {
						cancel(errStop)
					}
				} else {
					require.NoError(t, co.Scheduler().Shutdown(errStop))
				}
				return co.Delay(hour)
			})
			cancel(nil)
			isCancelled(t, err, errStop)
			isCancelled(t, z.Error(), errStop)
		}
	})
}

func TestScope_SHUT_AScopeThatWasDisposedBeforeIsLeftToItsEnd(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var c *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			c = e.spawn(s, func(co *scheduler.Coroutine) error {
				err := co.Delay(hour)
				_ = co.Protect(func(context.Context) error { return co.Delay(2 * ms) })
				return err
			})
			require.NoError(t, co.Yield())
			require.NoError(t, s.Dispose())
			require.NoError(t, co.Yield())
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		isCancelled(t, c.Error(), scope.ErrDisposed)
	})
}

// SCOPE-29: nothing stops a coroutine that never suspends; the watchdog says who it is, and Run waits.
func TestScope_SCOPE29_TheWatchdogNamesAZombieThatNeverSuspends(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		told := make(chan record, 100)
		logger := newRecorder(func(r record) {
			// A slow machine may have it tell of others.
			if strings.Contains(r.message, "not come back") && r.attrs["name"] == "stuck" {
				select {
				case told <- r:
				default:
				}
			}
		})
		ended := false
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.spawn(s, func(co *scheduler.Coroutine) error {
				_ = co.Yield() // on a slow machine the run is over by now, and it goes on all the same
				for range 2 {  // it does not come back until it has been told of twice
					select {
					case r := <-told:
						assert.Contains(t, r.attrs["stacks"], "TheWatchdogNamesAZombie")
						assert.Equal(t, "run of zombies", r.attrs["run"])
					case <-time.After(patience):
						t.Error("nobody was told")
					}
				}
				ended = true
				return nil
			}, scheduler.Named("stuck"))
			require.NoError(t, co.Yield())
			return s.Close()
		}, withOptions(scheduler.Options{Name: "run of zombies", Logger: logger.slog(), Watchdog: 5 * ms, Grace: 10 * ms}))
		assert.True(t, ended, "Run waits for it")
	})
}

func TestScope_SCOPE30_ZombiesThatWaitForEachOther(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var a, b *scheduler.Coroutine
		start := func(co *scheduler.Coroutine) *scope.Scope {
			s := scope.New(co)
			a = e.spawn(s, func(co *scheduler.Coroutine) error { _, err := co.Await(b); return err }, scheduler.Named("first zombie"))
			b = e.spawn(s, func(co *scheduler.Coroutine) error { _, err := co.Await(a); return err }, scheduler.Named("second zombie"))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			return s
		}
		// Somebody active waits for them: a deadlock.
		err := e.run(func(co *scheduler.Coroutine) error { return start(co).AwaitAfterCancellation(co, nil) })
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 3, dead.Waiting)
		for _, word := range []string{"first zombie", "second zombie", "main", "the end of a scope"} {
			assert.Contains(t, dead.Report, word)
		}
		for _, z := range []*scheduler.Coroutine{a, b} {
			var cancelled *event.CancelledError
			if assert.ErrorAs(t, z.Error(), &cancelled) {
				assert.Same(t, dead, cancelled.Reason)
			}
		}
		// Nobody does: the run is over, and they are cancelled (SCOPE-29).
		e.mustRun(func(co *scheduler.Coroutine) error { start(co); return nil })
		for _, z := range []*scheduler.Coroutine{a, b} {
			isCancelled(t, z.Error(), scheduler.ErrRunOver)
		}
	})
}

func TestScope_DEAD_ZombiesAndLimits(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		// DEAD-04: the timer of a zombie, and the limit of a scope, are visible.
		e.mustRun(func(co *scheduler.Coroutine) error {
			s, g := scope.New(co), e.gate()
			e.spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(2 * ms); g.open(nil, nil); return nil })
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			_, err := co.Await(g)
			require.NoError(t, err)

			s = scope.New(co)
			e.spawn(s, waiter(g))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeAfterTimeout(2*ms))
			return s.AwaitCompletion(co)
		})
		// The log of zombies is hidden.
		err := e.run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.spawn(s, waiter(e.gate()), scheduler.Named("stuck zombie"))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			assert.Zero(t, e.w.Live())
			return s.AwaitAfterCancellation(co, nil)
		}, withZombies(scheduler.ZombieLog{Logger: newRecorder(nil).slog(), Linger: hour}))
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "stuck zombie")

		// AwaitCompletion of a scope in which somebody is stuck.
		err = e.run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.spawn(s, waiter(e.gate()))
			return s.AwaitCompletion(co)
		})
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "scope: 1 active")
	})
}

func TestScope_SHUT04_FinallyHandlersSpawnAtTheEnd(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			return s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error {
				f := future.Go(self, func(co *scheduler.Coroutine) (int, error) { return 1, co.Delay(ms) })
				n, err := f.Await(self)
				assert.Equal(t, 1, n)
				below := scope.New(self)
				e.spawn(below, func(co *scheduler.Coroutine) error { e.say("below"); return nil })
				assert.NoError(t, below.AwaitCompletion(self))
				return err
			})
		})
		assert.Equal(t, []string{"below"}, e.said())
	})
}

func TestScope_SHUT06_NothingIsLeftOfAnyScope(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var all []*scope.Scope
		_ = e.run(func(co *scheduler.Coroutine) error {
			for i := range 10 {
				s := scope.New(co)
				all = append(all, s, scope.New(s))
				e.spawn(s, sleeper(hour))
				e.spawn(all[len(all)-1], sleeper(hour))
				if i == 5 {
					require.NoError(t, co.Yield())
				}
				switch i % 5 {
				case 0:
					require.NoError(t, s.Cancel(nil))
				case 1:
					require.NoError(t, s.DisposeSafely())
				case 2:
					require.NoError(t, s.DisposeAfterTimeout(hour))
				case 3:
					require.NoError(t, s.Dispose())
				}
			}
			return errBoom
		})
		for _, s := range all {
			assert.True(t, s.Scope().Drained())
			assert.True(t, s.Scope().Closed())
			assert.True(t, s.Scope().Finished())
		}
		assert.Zero(t, e.w.Live())
	})
}
