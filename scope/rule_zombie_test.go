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
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestScope_SCOPE08_WhatAZombieIs(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			g := e.Gate()
			z := e.Spawn(s, func(co *scheduler.Coroutine) error {
				_, err := co.Await(g)
				require.NoError(t, err)
				assert.NoError(t, co.Err())
				// It suspends, spawns elsewhere, and protects as ever.
				child := e.Spawn(scope.Main(co), cotest.Sleeper(ms))
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
				e.Say("finally")
				return self.Yield()
			}))
			e.Counts(2, 0, 2)
			require.NoError(t, co.Yield())
			counts(t, s, 1, 0, 1)
			assert.False(t, z.Zombie())

			require.NoError(t, s.Cancel(errStop))
			assert.True(t, z.Zombie())
			counts(t, s, 0, 1, 1) // not active, and stays listed
			e.Counts(1, 1, 2)
			assert.Contains(t, co.Scheduler().Coroutines(), z)
			assert.True(t, scope.Of(z).Same(s))
			assert.Contains(t, z.Info(), "zombie")
			assert.Contains(t, s.Info(), "1 zombie")
			assert.Contains(t, s.Info(), "cancelled")
			assert.False(t, z.CancellationRequested())

			g.Open(nil, nil)
			result, err := co.Await(z)
			require.NoError(t, err)
			assert.Equal(t, "whole", result)
			assert.True(t, z.Zombie(), "it was one")
			assert.False(t, z.Cancelled())
			assert.NotContains(t, z.Info(), "zombie")
			counts(t, s, 0, 0, 0)
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			e.Counts(1, 0, 1)
			assert.Equal(t, []string{"finally"}, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE08_FiguresAtEveryStep(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			below := scope.New(s)
			var gates []*cotest.Gate
			for i := range 3 {
				g := e.Gate()
				gates = append(gates, g)
				e.Spawn(s, cotest.Waiter(g))
				if i == 0 {
					e.Spawn(below, cotest.Waiter(g))
				}
			}
			hidden := e.Spawn(s, cotest.Waiter(gates[2]), scheduler.Hidden())
			counts(t, s, 3, 0, 4)
			counts(t, below, 1, 0, 1)
			e.Counts(5, 0, 6)
			require.NoError(t, co.Yield())
			queued := e.Spawn(s, cotest.Fails(nil))
			counts(t, s, 4, 0, 5)
			require.NoError(t, s.Cancel(errStop))
			counts(t, s, 1, 4, 5) // the one that never runs is active until its turn
			counts(t, below, 0, 1, 1)
			e.Counts(2, 5, 7)
			require.NoError(t, s.Cancel(errStop))
			e.Counts(2, 5, 7)
			require.NoError(t, co.Yield())
			assert.True(t, queued.Completed())
			counts(t, s, 0, 4, 4)
			e.Counts(1, 5, 6)
			assert.True(t, hidden.Zombie())
			assert.False(t, s.IsClosed())
			require.NoError(t, s.DisposeSafely(), "nobody becomes a zombie twice")
			assert.True(t, s.IsClosed())
			counts(t, s, 0, 4, 4)
			e.Counts(1, 5, 6)
			gates[0].Open(nil, nil)
			require.NoError(t, co.Yield())
			counts(t, s, 0, 3, 3)
			counts(t, below, 0, 0, 0)
			e.Counts(1, 3, 4)
			gates[1].Open(nil, nil)
			require.NoError(t, co.Yield())
			counts(t, s, 0, 2, 2)
			require.NoError(t, s.Dispose())
			counts(t, s, 0, 2, 2)
			e.Counts(1, 2, 3)
			require.NoError(t, co.Yield())
			counts(t, s, 0, 0, 0)
			e.Counts(1, 0, 1)
			return nil
		})
	})
}

// GEN-06: nobody is counted twice, or not at all, at any instant at which somebody else's code runs.
func TestScope_SCOPE08_GEN06_CountedOnceWhoeverLooks(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		looks := 0
		var s *scope.Scope
		look := func() {
			looks++
			st := e.S.Stats()
			assert.Equal(t, st.Total, st.Active+st.Zombies, "of the run")
			if s != nil {
				own := s.Stats()
				assert.Equal(t, own.Total, own.Active+own.Zombies, "of the scope")
			}
		}
		logger := newRecorder(func(record) { look() })
		e.MustRun(func(co *scheduler.Coroutine) error {
			s = scope.New(co)
			_, err := s.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { look() })
			require.NoError(t, err)
			for range 2 {
				z := e.Spawn(s, cotest.Sleeper(ms))
				require.NoError(t, z.OnFinally(func(*scheduler.Coroutine, *scheduler.Coroutine) error { look(); return nil }))
				_, err := z.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { look() })
				require.NoError(t, err)
			}
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			return s.AwaitAfterCancellation(co, nil)
		}, cotest.WithZombies(scheduler.ZombieLog{Logger: logger.slog()}))
		assert.Greater(t, looks, 6)
	})
}

func TestScope_SCOPE29_TheRunEndsWithTheLastActiveOne(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		start := e.W.Now()
		var z, root *scheduler.Coroutine
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			z = e.Spawn(s, cotest.Sleeper(hour))
			root = e.Spawn(scope.NewRoot(co), cotest.Sleeper(10*ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			return nil
		})
		cotest.IsCancelled(t, z.Error(), scheduler.ErrRunOver)
		assert.NoError(t, root.Error(), "an active one is waited for, wherever it is")
		assert.Equal(t, 10*ms, e.W.Now().Sub(start))
	})
}

func TestScope_SCOPE29_AZombieThatIsAlwaysReady(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		const enough = 20000
		var end error
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error {
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
		cotest.IsCancelled(t, end, scheduler.ErrRunOver)
	})
}

func TestScope_SCOPE29_ZombiesMayFinishTheirCleanup(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			z := e.Spawn(s, func(co *scheduler.Coroutine) error {
				err := co.Delay(hour)
				cotest.IsCancelled(t, err, scheduler.ErrRunOver)
				assert.NoError(t, co.Protect(func(context.Context) error { e.Say("protected"); return co.Delay(ms) }))
				return err
			})
			require.NoError(t, z.OnFinally(func(self, _ *scheduler.Coroutine) error { e.Say("finally"); return self.Delay(ms) }))
			require.NoError(t, s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error { e.Say("scope"); return self.Delay(ms) }))
			require.NoError(t, co.Yield())
			return s.DisposeSafely()
		})
		assert.Equal(t, []string{"protected", "finally", "scope"}, e.Said())
	})
}

func TestScope_SCOPE29_AZombieThatFailsAtTheEndOfTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error {
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
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		for name, fail := range map[string]bool{"failure": true, "no active one": false} {
			start := e.W.Now()
			unwound := false
			err := e.Run(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				e.Spawn(s, func(co *scheduler.Coroutine) error {
					defer func() { unwound = true }()
					_ = co.Delay(hour)
					_ = co.Protect(func(context.Context) error { return co.Delay(hour) })
					e.Say("never")
					return nil
				}, scheduler.Named("stubborn"))
				e.Spawn(s, cotest.Sleeper(hour), scheduler.Named("obedient"))
				require.NoError(t, co.Yield())
				require.NoError(t, s.Cancel(nil))
				if fail {
					return errBoom
				}
				return nil
			}, cotest.WithGrace(20*ms))
			assert.Equal(t, 20*ms, e.W.Now().Sub(start), name)
			var late *scheduler.ShutdownError
			require.ErrorAs(t, err, &late)
			assert.Equal(t, 20*ms, late.Grace)
			if assert.Len(t, late.Coroutines, 1) {
				assert.Contains(t, late.Coroutines[0], "stubborn")
				assert.Contains(t, late.Coroutines[0], "Delay")
			}
			assert.Equal(t, fail, errors.Is(err, errBoom), name)
			assert.True(t, unwound, name)
			assert.Empty(t, e.Said())
		}
	})
}

func TestScope_CANC18_UnwindingLeavesNothing(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			finally(e, s, "scope", nil)
			for range 3 {
				deep := scope.New(s)
				z := e.Spawn(deep, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error { return co.Delay(hour) })
				})
				finally(e, deep, "deep", nil)
				require.NoError(t, z.OnFinally(func(_, _ *scheduler.Coroutine) error { e.Say("coroutine"); return nil }))
			}
			require.NoError(t, co.Yield())
			return s.Close()
		}, cotest.WithGrace(-1))
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 3)
		assert.ElementsMatch(t, []string{"coroutine", "coroutine", "coroutine", "deep", "deep", "deep", "scope"}, e.Said())
	})
}

func TestScope_SHUT01_AFailureCancelsZombiesInForce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var z *scheduler.Coroutine
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(scope.NewRoot(co))
			z = e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeSafely())
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		cotest.IsCancelled(t, z.Error(), errBoom)

		// Shutdown, and the context of the run.
		for _, byContext := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(context.Background())
			err = e.Start(e.Prepare(), ctx, func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				z = e.Spawn(s, cotest.Sleeper(hour))
				require.NoError(t, co.Yield())
				require.NoError(t, s.Cancel(nil))
				if byContext {
					if _, simulated := interface{}(e.W).(interface{ SetShuffle(bool) }); simulated {
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
			cotest.IsCancelled(t, err, errStop)
			cotest.IsCancelled(t, z.Error(), errStop)
		}
	})
}

func TestScope_SHUT_AScopeThatWasDisposedBeforeIsLeftToItsEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var c *scheduler.Coroutine
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			c = e.Spawn(s, func(co *scheduler.Coroutine) error {
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
		cotest.IsCancelled(t, c.Error(), scope.ErrDisposed)
	})
}

// SCOPE-29: nothing stops a coroutine that never suspends; the watchdog says who it is, and Run waits.
func TestScope_SCOPE29_TheWatchdogNamesAZombieThatNeverSuspends(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
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
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error {
				_ = co.Yield() // on a slow machine the run is over by now, and it goes on all the same
				for range 2 {  // it does not come back until it has been told of twice
					select {
					case r := <-told:
						assert.Contains(t, r.attrs["stacks"], "TheWatchdogNamesAZombie")
						assert.Equal(t, "run of zombies", r.attrs["run"])
					case <-time.After(cotest.Patience):
						t.Error("nobody was told")
					}
				}
				ended = true
				return nil
			}, scheduler.Named("stuck"))
			require.NoError(t, co.Yield())
			return s.Close()
		}, cotest.WithOptions(scheduler.Options{Name: "run of zombies", Logger: logger.slog(), Watchdog: 5 * ms, Grace: 10 * ms}))
		assert.True(t, ended, "Run waits for it")
	})
}

func TestScope_SCOPE30_ZombiesThatWaitForEachOther(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var a, b *scheduler.Coroutine
		start := func(co *scheduler.Coroutine) *scope.Scope {
			s := scope.New(co)
			a = e.Spawn(s, func(co *scheduler.Coroutine) error { _, err := co.Await(b); return err }, scheduler.Named("first zombie"))
			b = e.Spawn(s, func(co *scheduler.Coroutine) error { _, err := co.Await(a); return err }, scheduler.Named("second zombie"))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			return s
		}
		// Somebody active waits for them: a deadlock.
		err := e.Run(func(co *scheduler.Coroutine) error { return start(co).AwaitAfterCancellation(co, nil) })
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
		e.MustRun(func(co *scheduler.Coroutine) error { start(co); return nil })
		for _, z := range []*scheduler.Coroutine{a, b} {
			cotest.IsCancelled(t, z.Error(), scheduler.ErrRunOver)
		}
	})
}

func TestScope_DEAD_ZombiesAndLimits(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		// DEAD-04: the timer of a zombie, and the limit of a scope, are visible.
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, g := scope.New(co), e.Gate()
			e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(2 * ms); g.Open(nil, nil); return nil })
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			_, err := co.Await(g)
			require.NoError(t, err)

			s = scope.New(co)
			e.Spawn(s, cotest.Waiter(g))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeAfterTimeout(2*ms))
			return s.AwaitCompletion(co)
		})
		// The log of zombies is hidden.
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, cotest.Waiter(e.Gate()), scheduler.Named("stuck zombie"))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			assert.Zero(t, e.W.Live())
			return s.AwaitAfterCancellation(co, nil)
		}, cotest.WithZombies(scheduler.ZombieLog{Logger: newRecorder(nil).slog(), Linger: hour}))
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "stuck zombie")

		// AwaitCompletion of a scope in which somebody is stuck.
		err = e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, cotest.Waiter(e.Gate()))
			return s.AwaitCompletion(co)
		})
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "scope: 1 active")
	})
}

func TestScope_SHUT04_FinallyHandlersSpawnAtTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			return s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error {
				f := future.Go(self, func(co *scheduler.Coroutine) (int, error) { return 1, co.Delay(ms) })
				n, err := f.Await(self)
				assert.Equal(t, 1, n)
				below := scope.New(self)
				e.Spawn(below, func(co *scheduler.Coroutine) error { e.Say("below"); return nil })
				assert.NoError(t, below.AwaitCompletion(self))
				return err
			})
		})
		assert.Equal(t, []string{"below"}, e.Said())
	})
}

func TestScope_SHUT06_NothingIsLeftOfAnyScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var all []*scope.Scope
		_ = e.Run(func(co *scheduler.Coroutine) error {
			for i := range 10 {
				s := scope.New(co)
				all = append(all, s, scope.New(s))
				e.Spawn(s, cotest.Sleeper(hour))
				e.Spawn(all[len(all)-1], cotest.Sleeper(hour))
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
		assert.Zero(t, e.W.Live())
	})
}
