package scope_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// The mission's second table of section 5: what each wait waits for, and what it needs before.
func TestScope_SCOPE09_SCOPE13_SCOPE14_TheTableOfWaits(t *testing.T) {
	ends := []struct {
		name          string
		end           func(s *scope.Scope) error
		zombies       bool
		after         bool // AwaitAfterCancellation is allowed
		onlyUnwinding bool
	}{
		{"nothing", func(*scope.Scope) error { return nil }, false, false, false},
		{"cancel, safe", func(s *scope.Scope) error { return s.Cancel(errStop) }, true, true, false},
		{"cancel, not safe", func(s *scope.Scope) error { return s.AsNotSafely().Cancel(errStop) }, false, true, true},
		{"dispose", (*scope.Scope).Dispose, false, true, true},
		{"dispose safely", (*scope.Scope).DisposeSafely, true, true, false},
		{"close, safe", (*scope.Scope).Close, true, true, false},
		{"close, not safe", func(s *scope.Scope) error { return s.AsNotSafely().Close() }, false, true, true},
		{"a limit that is not over", func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) }, false, false, false},
		{"a limit that is over", func(s *scope.Scope) error { return s.DisposeAfterTimeout(0) }, false, true, true},
	}
	for _, row := range ends {
		t.Run(row.name, func(t *testing.T) {
			cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					now := func() time.Time { return co.Scheduler().Reactor().Now() }
					s := scope.New(co)
					body := func(co *scheduler.Coroutine) error {
						_ = co.Delay(3 * ms)
						return co.Protect(func(context.Context) error { return co.Delay(3 * ms) })
					}
					e.Spawn(s, body)
					require.NoError(t, co.Yield())
					require.NoError(t, row.end(s))
					start := now()
					want := 6 * ms
					if row.onlyUnwinding {
						want = 3 * ms
					}
					if !row.after {
						cotest.IsUsage(t, s.AwaitAfterCancellation(co, nil), "AwaitAfterCancellation")
						assert.Zero(t, now().Sub(start))
					}
					require.NoError(t, s.AwaitCompletion(co))
					if row.zombies {
						assert.Zero(t, now().Sub(start), "zombies are not waited for")
						counts(t, s, 0, 1, 1)
					} else {
						assert.Equal(t, want, now().Sub(start))
						counts(t, s, 0, 0, 0)
					}
					if row.after {
						require.NoError(t, s.AwaitAfterCancellation(co, nil))
						assert.Equal(t, want, now().Sub(start))
						counts(t, s, 0, 0, 0)
						require.NoError(t, s.AwaitAfterCancellation(co, nil), "again")
						assert.Equal(t, want, now().Sub(start))
					}
					return nil
				})
			})
		})
	}
}

func TestScope_SCOPE09_WaitsForEverythingBelowAndForWhatComesMeanwhile(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			start := co.Scheduler().Reactor().Now()
			e.Spawn(s, func(co *scheduler.Coroutine) error {
				_ = co.Delay(ms)
				e.Spawn(scope.Inherit(scope.New(co)), func(co *scheduler.Coroutine) error {
					_ = co.Delay(ms)
					e.Spawn(s, cotest.Sleeper(ms))
					return nil
				})
				return nil
			})
			require.NoError(t, s.AwaitCompletion(co))
			assert.Equal(t, 3*ms, co.Scheduler().Reactor().Now().Sub(start))
			assert.True(t, s.IsFinished())
			assert.False(t, s.IsClosed())

			// It can be used again.
			e.Spawn(s, cotest.Sleeper(ms))
			assert.False(t, s.IsFinished())
			require.NoError(t, s.AwaitCompletion(co))
			assert.Equal(t, 4*ms, co.Scheduler().Reactor().Now().Sub(start))

			// Finally handlers of coroutines are waited for, hidden coroutines are not.
			c := e.Spawn(s, cotest.Fails(nil))
			require.NoError(t, c.OnFinally(func(self, _ *scheduler.Coroutine) error { return self.Delay(ms) }))
			e.Spawn(s, cotest.Sleeper(hour), scheduler.Hidden())
			require.NoError(t, co.Yield())
			assert.False(t, s.IsFinished())
			require.NoError(t, s.AwaitCompletion(co))
			assert.Equal(t, 5*ms, co.Scheduler().Reactor().Now().Sub(start))
			counts(t, s, 0, 0, 1)
			return s.Dispose()
		})
	})
}

func TestScope_SCOPE09_ReturnsWhenTheLastBecomesAZombie(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			deep := scope.New(scope.New(s))
			zombie := e.Spawn(deep, cotest.Sleeper(hour))
			waiter := e.Spawn(co, func(co *scheduler.Coroutine) error { return s.AwaitCompletion(co) })
			require.NoError(t, co.Yield())
			require.NoError(t, deep.Cancel(errStop))
			_, err := co.Await(waiter)
			assert.False(t, zombie.Completed())
			require.NoError(t, deep.Dispose())
			return err
		})
	})
}

func TestScope_SCOPE10_AtOnceWhenThereIsNothingToWaitFor(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			yielded := false
			e.Spawn(co, func(*scheduler.Coroutine) error { yielded = true; return nil })
			s, closed, zombies := scope.New(co), scope.New(co), scope.New(co)
			require.NoError(t, closed.Dispose())
			require.NoError(t, s.AwaitCompletion(co))
			require.NoError(t, closed.AwaitCompletion(co))
			require.NoError(t, closed.AwaitAfterCancellation(co, nil))
			assert.False(t, yielded, "without suspending")
			c := e.Spawn(zombies, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			require.NoError(t, zombies.Cancel(errStop))
			require.NoError(t, zombies.AwaitCompletion(co))
			assert.False(t, c.Completed())
			return nil
		})
	})
}

func TestScope_SCOPE10_WaitsForThoseThatUnwind(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, end := range []func(s *scope.Scope) error{func(s *scope.Scope) error { return s.Cancel(errStop) }, (*scope.Scope).Dispose} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co).AsNotSafely()
				c := e.Spawn(s, func(co *scheduler.Coroutine) error {
					_ = co.Delay(hour)
					return co.Protect(func(context.Context) error { return co.Delay(2 * ms) })
				})
				require.NoError(t, co.Yield())
				require.NoError(t, end(s))
				require.NoError(t, s.AwaitCompletion(co))
				assert.True(t, c.Completed())
				return nil
			})
		}
	})
}

func TestScope_SCOPE11_TokensAndTimeouts(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			waits := map[string]func(s *scope.Scope, opts ...scheduler.WaitOption) error{
				"AwaitCompletion": func(s *scope.Scope, opts ...scheduler.WaitOption) error { return s.AwaitCompletion(co, opts...) },
				"AwaitAfterCancellation": func(s *scope.Scope, opts ...scheduler.WaitOption) error {
					return s.AwaitAfterCancellation(co, nil, opts...)
				},
			}
			for name, wait := range waits {
				s := scope.New(co)
				g := e.Gate()
				c := e.Spawn(s, cotest.Sleeper(10*ms))
				require.NoError(t, co.Yield())
				if name == "AwaitAfterCancellation" {
					require.NoError(t, s.Cancel(errStop))
				}
				start := co.Scheduler().Reactor().Now()
				since := func() time.Duration { return co.Scheduler().Reactor().Now().Sub(start) }
				err := wait(s, scheduler.Timeout(2*ms))
				cotest.IsTimeout(t, err)
				var over *event.TimeoutError
				if assert.ErrorAs(t, err, &over) {
					assert.Equal(t, 2*ms, over.Limit)
					assert.Contains(t, over.Call, name)
				}
				assert.Equal(t, 2*ms, since())
				e.After(2*ms, func() { g.Open(nil, errBoom) })
				cotest.IsTokens(t, wait(s, scheduler.Token(g)), errBoom)
				assert.Equal(t, 4*ms, since())

				// A token that has happened already, and would have to wait (CANC-24).
				done := e.Spawn(co, cotest.Fails(nil))
				require.NoError(t, co.Yield())
				cotest.IsTokens(t, wait(s, scheduler.Token(done)), nil)
				assert.Equal(t, 4*ms, since())

				assert.False(t, c.Completed(), "the scope runs on")
				assert.NoError(t, c.Err())
				require.NoError(t, wait(s, scheduler.Timeout(hour)), "at the end, not at the limit")
				assert.Equal(t, 10*ms, since())
				assert.Zero(t, e.W.Live())
				require.NoError(t, wait(s, scheduler.Token(done)), "CANC-25: no wait, no token")

				cotest.IsInvalid(t, wait(s, scheduler.Timeout(0)), "scope: Scope."+name, "timeout")
				cotest.IsInvalid(t, wait(s, scheduler.Timeout(-1)), "scope: Scope."+name, "timeout")
				cotest.IsInvalid(t, wait(s, scheduler.Token(nil)), "scope: Scope."+name, "token")
			}
			return nil
		})
	})
}

func TestScope_SCOPE11_TheWaiterIsCancelled(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			c := e.Spawn(s, cotest.Sleeper(5*ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			other := scope.New(co)
			e.Spawn(other, cotest.Sleeper(5*ms))
			for _, wait := range []func(co *scheduler.Coroutine) error{
				func(co *scheduler.Coroutine) error { return other.AwaitCompletion(co) },
				func(co *scheduler.Coroutine) error { return s.AwaitAfterCancellation(co, nil) },
			} {
				waiter := e.Spawn(co, wait)
				require.NoError(t, co.Yield())
				require.NoError(t, waiter.Cancel(errOther))
				_, err := co.Await(waiter)
				cotest.IsCancelled(t, err, errOther)
				waiter = e.Spawn(co, func(co *scheduler.Coroutine) error {
					require.NoError(t, co.Cancel(errOther))
					err := wait(co)
					cotest.IsCancelled(t, err, errOther)
					return err
				})
				_, err = co.Await(waiter)
				cotest.IsCancelled(t, err, errOther)
			}
			assert.False(t, c.Completed())
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			require.NoError(t, other.AwaitCompletion(co))
			return nil
		})
	})
}

func TestScope_SCOPE11_GEN02_ACancellationWinsOverTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, after := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s, g := scope.New(co), e.Gate()
				e.Spawn(s, cotest.Waiter(g))
				require.NoError(t, co.Yield())
				if after {
					require.NoError(t, s.Cancel(nil))
				}
				w := e.Spawn(co, func(co *scheduler.Coroutine) error {
					if after {
						return s.AwaitAfterCancellation(co, nil)
					}
					return s.AwaitCompletion(co)
				})
				require.NoError(t, co.Yield())
				ender := e.Spawn(co, func(co *scheduler.Coroutine) error {
					g.Open(nil, nil)
					_ = co.Yield() // the last one ends, and wakes w
					return w.Cancel(errOther)
				})
				_, err := co.Await(w)
				cotest.IsCancelled(t, err, errOther)
				assert.NoError(t, ender.Error())
				return nil
			})
		}
	})
}

func TestScope_SCOPE12_NobodyWaitsForHimself(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			self := func(co *scheduler.Coroutine, s *scope.Scope) {
				cotest.IsUsage(t, s.AwaitCompletion(co), "AwaitCompletion", "itself")
				cotest.IsUsage(t, s.AwaitAfterCancellation(co, nil), "AwaitAfterCancellation", "itself")
			}
			self(co, scope.Main(co))
			self(co, scope.Of(co))
			s := scope.New(co)
			deep := scope.New(scope.Inherit(s))
			c := e.Spawn(deep, func(co *scheduler.Coroutine) error {
				for _, x := range []*scope.Scope{deep, s, scope.Main(co)} {
					self(co, x)
				}
				require.NoError(t, s.Cancel(nil))
				self(co, s)
				// One that is beside it, or below, is no matter.
				beside := scope.New(scope.Main(co))
				e.Spawn(beside, cotest.Sleeper(ms))
				return beside.AwaitCompletion(co)
			})
			_, err := co.Await(c)
			require.NoError(t, err)
			e.Spawn(deep.Scope().Parent().Parent().Parent(), cotest.Fails(nil)) // the main scope is open
			below := scope.New(co)
			e.Spawn(below, cotest.Sleeper(ms))
			return below.AwaitCompletion(co)
		})
	})
}

func TestScope_SCOPE13_NeedsAnEndFirst(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			cotest.IsUsage(t, s.AwaitAfterCancellation(co, nil), "AwaitAfterCancellation")
			c := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			cotest.IsUsage(t, s.AwaitAfterCancellation(co, nil), "AwaitAfterCancellation")
			require.NoError(t, s.DisposeAfterTimeout(10*ms))
			cotest.IsUsage(t, s.AwaitAfterCancellation(co, nil), "AwaitAfterCancellation")
			require.NoError(t, co.Delay(10*ms))
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			assert.True(t, c.Completed())
			// That of a scope around it counts.
			around := scope.New(co)
			s = scope.New(around)
			e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			require.NoError(t, around.Close())
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			// So does a failure.
			s = scope.New(co)
			require.NoError(t, scope.Main(co).OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { return nil }))
			e.Spawn(s, cotest.Fails(errBoom))
			require.NoError(t, co.Yield())
			return s.AwaitAfterCancellation(co, nil)
		})
	})
}

func TestScope_SCOPE14_WaitsForActiveOnesAndZombiesBelowToo(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			hard := scope.New(s).AsNotSafely()
			e.Spawn(hard, func(co *scheduler.Coroutine) error {
				_ = co.Delay(hour)
				return co.Protect(func(context.Context) error { return co.Delay(5 * ms) })
			})
			e.Spawn(scope.New(s), cotest.Sleeper(7*ms))
			e.Spawn(s, cotest.Sleeper(3*ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			start := co.Scheduler().Reactor().Now()
			calls := 0
			require.NoError(t, s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { calls++; return nil }))
			assert.Equal(t, 7*ms, co.Scheduler().Reactor().Now().Sub(start))
			assert.Zero(t, calls)
			return nil
		})
	})
}

// cancelledWith makes a cancelled scope with zombies that fail after 1 ms, 2 ms...
func cancelledWith(e *cotest.Env, co *scheduler.Coroutine, failures ...error) *scope.Scope {
	s := scope.New(co)
	for i, err := range failures {
		in := s
		if i%2 == 1 {
			in = scope.New(s) // failures of what is below come, too
		}
		e.Spawn(in, func(co *scheduler.Coroutine) error {
			_ = co.Delay(time.Duration(i+1) * ms)
			return err
		})
	}
	require.NoError(e.T, co.Yield())
	require.NoError(e.T, s.Cancel(errStop))
	return s
}

func TestScope_SCOPE15_WithoutAHandlerTheFirstFailureEndsTheWait(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, g := scope.New(co), e.Gate()
			e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
			e.Spawn(s, cotest.Waiter(g))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			require.NoError(t, s.OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { e.Say("OnError"); return nil }))
			err := s.AwaitAfterCancellation(co, nil)
			assert.ErrorIs(t, err, errBoom)
			assert.False(t, event.IsCancellation(err))
			counts(t, s, 0, 1, 1) // the other one runs on
			assert.Empty(t, e.Said(), "it went to the waiter only")
			g.Open(nil, nil)
			return s.AwaitAfterCancellation(co, nil)
		})
	})
}

func TestScope_SCOPE15_TheHandlerGetsEachFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			third := errors.New("third")
			s := cancelledWith(e, co, errBoom, errOther, nil, third)
			require.NoError(t, s.OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { e.Say("OnError"); return nil }))
			require.NoError(t, s.OnChildError(func(*scope.Scope, *scheduler.Coroutine, error) error { e.Say("OnChildError"); return nil }))
			err := s.AwaitAfterCancellation(co, func(err error, got *scope.Scope) error {
				assert.True(t, got.Same(s))
				assert.Same(t, co, co.Scheduler().Current(), "in the coroutine that waits")
				e.Say(err.Error())
				return co.Delay(3 * ms) // it may suspend: the others fail meanwhile
			})
			assert.Equal(t, []string{"boom", "other", "third"}, e.Said())
			assert.True(t, s.IsClosed())
			counts(t, s, 0, 0, 0)
			return err
		})
	})
}

func TestScope_SCOPE15_TheHandlersErrorIsReturned(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			late := errors.New("late")
			s := cancelledWith(e, co, errBoom, late, nil, nil)
			calls := 0
			err := s.AwaitAfterCancellation(co, func(error, *scope.Scope) error {
				calls++
				assert.NoError(t, co.Delay(2*ms)) // the second fails meanwhile
				return errOther
			})
			assert.Equal(t, 1, calls)
			assert.ErrorIs(t, err, errOther)
			assert.ErrorIs(t, err, errBoom, "GEN-08: the failure that it was about")
			assert.ErrorIs(t, err, late, "GEN-08: and those that nobody else will see")
			return s.AwaitAfterCancellation(co, nil)
		})
	})
}

func TestScope_SCOPE15_TwoWaitersAreBothTold(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := cancelledWith(e, co, errBoom)
			var all []*scheduler.Coroutine
			for range 2 {
				all = append(all, e.Spawn(co, func(co *scheduler.Coroutine) error {
					return s.AwaitAfterCancellation(co, func(err error, _ *scope.Scope) error { e.Say(err.Error()); return nil })
				}))
			}
			for _, c := range all {
				_, err := co.Await(c)
				assert.NoError(t, err)
			}
			assert.Equal(t, []string{"boom", "boom"}, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE15_GEN08_WhatTheWaiterLeavesIsNotLost(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			// Cancelled in the step in which the failure came.
			s := scope.New(co)
			g := e.Gate()
			e.Spawn(s, func(co *scheduler.Coroutine) error { _, _ = co.Await(g); return errBoom })
			e.Spawn(s, cotest.Sleeper(5*ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			w := e.Spawn(co, func(co *scheduler.Coroutine) error { return s.AwaitAfterCancellation(co, nil) })
			require.NoError(t, co.Yield())
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				g.Open(nil, nil)
				_ = co.Yield()
				return w.Cancel(errOther)
			})
			_, err := co.Await(w)
			cotest.IsCancelled(t, err, errOther)
			assert.ErrorIs(t, err, errBoom)
			return s.AwaitAfterCancellation(co, nil)
		})

		// A handler that panics: what it was about goes to the run with the panic.
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := cancelledWith(e, co, errBoom)
			return s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { panic(errOther) })
		})
		require.ErrorIs(t, err, errBoom)
		var p *event.PanicError
		require.ErrorAs(t, err, &p)
		assert.Equal(t, errOther, p.Value)
	})
}

func TestScope_SCOPE15_ItWaitsNoMoreAfterwards(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			// A failure that comes when the waiter has left goes to the handlers again.
			s, g := scope.New(co), e.Gate()
			e.Spawn(s, func(co *scheduler.Coroutine) error { _, _ = co.Await(g); return errBoom })
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			require.NoError(t, s.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error { e.Say(err.Error()); return nil }))
			cotest.IsTimeout(t, s.AwaitAfterCancellation(co, nil, scheduler.Timeout(ms)))
			require.NoError(t, s.AwaitCompletion(co))
			g.Open(nil, nil)
			require.NoError(t, co.Yield())
			assert.True(t, s.IsClosed())
			assert.Equal(t, []string{"boom"}, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE27_TheLastDescendantFinishesThemAll(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			parent := scope.New(co)
			s := scope.New(parent)
			deep := scope.New(s)
			beside := scope.New(parent)
			g := e.Gate()
			e.Spawn(deep, cotest.Waiter(g))
			for name, x := range map[string]*scope.Scope{"parent": parent, "s": s, "deep": deep} {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					err := x.AwaitCompletion(co)
					e.Say(name)
					return err
				})
			}
			quick := e.Spawn(parent, cotest.Sleeper(ms)) // its end is no news: there is more below
			_, err := co.Await(quick)
			require.NoError(t, err)
			cotest.Yields(co, 2)
			for _, x := range []*scope.Scope{parent, s, deep, scope.Main(co)} {
				assert.False(t, x.IsFinished())
			}
			assert.True(t, beside.IsFinished())
			counts(t, parent, 0, 0, 0)
			assert.Empty(t, e.Said())
			assert.Contains(t, parent.Info(), "below: 1 active")
			g.Open(nil, nil)
			cotest.Yields(co, 2)
			assert.ElementsMatch(t, []string{"parent", "s", "deep"}, e.Said())
			for _, x := range []*scope.Scope{parent, s, deep} {
				assert.True(t, x.IsFinished())
				assert.False(t, x.IsClosed())
			}
			return nil
		})
	})
}

// Random trees: IsFinished is what a walk over all of it says, at every step.
func TestScope_SCOPE27_FinishedIsWhatTheTreeSays(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			const n = 12
			var scopes []*scope.Scope
			parent := make([]int, n)
			gates := make([][]*cotest.Gate, n)
			for i := range n {
				if i == 0 {
					scopes = append(scopes, scope.New(co))
					parent[0] = -1
					continue
				}
				parent[i] = (i * 7 % 5) % i
				scopes = append(scopes, scope.New(scopes[parent[i]]))
			}
			check := func() {
				busy := make([]int, n)
				for i := n - 1; i >= 0; i-- {
					busy[i] += len(gates[i])
					if parent[i] >= 0 {
						busy[parent[i]] += busy[i]
					}
					assert.Equal(t, busy[i] == 0, scopes[i].IsFinished(), "scope %d", i)
					counts(t, scopes[i], len(gates[i]), 0, len(gates[i]))
				}
				assert.Equal(t, busy[0]+1, co.Scheduler().Stats().Active)
			}
			seed := uint32(12345)
			random := func(n int) int { seed = seed*1664525 + 1013904223; return int(seed>>8) % n }
			for range 300 {
				i := random(n)
				if k := len(gates[i]); k > 0 && random(5) > 1 {
					gates[i][k-1].Open(nil, nil)
					gates[i] = gates[i][:k-1]
				} else {
					g := e.Gate()
					gates[i] = append(gates[i], g)
					e.Spawn(scopes[i], cotest.Waiter(g))
				}
				cotest.Yields(co, 2)
				check()
			}
			return scopes[0].Dispose()
		})
	})
}

func TestScope_SCOPE15_TheLimitIsForAllOfTheWait(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := cancelledWith(e, co, errBoom, errOther, nil, nil, nil, nil)
			start := co.Scheduler().Reactor().Now()
			err := s.AwaitAfterCancellation(co, func(err error, _ *scope.Scope) error { e.Say(err.Error()); return nil }, scheduler.Timeout(4*ms))
			cotest.IsTimeout(t, err)
			var over *event.TimeoutError
			if assert.ErrorAs(t, err, &over) {
				assert.Equal(t, 4*ms, over.Limit)
			}
			assert.Equal(t, 4*ms, co.Scheduler().Reactor().Now().Sub(start))
			assert.Equal(t, []string{"boom", "other"}, e.Said())

			// It is over while the handler runs: what is left to wait for has no time.
			s = cancelledWith(e, co, errBoom, nil, nil, nil, nil, nil)
			start = co.Scheduler().Reactor().Now()
			cotest.IsTimeout(t, s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { return co.Delay(2 * ms) }, scheduler.Timeout(2*ms)))
			assert.Less(t, co.Scheduler().Reactor().Now().Sub(start), 5*ms)
			// So is the scope: nothing is left to wait for.
			s = cancelledWith(e, co, errBoom)
			return s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { return co.Delay(4 * ms) }, scheduler.Timeout(2*ms))
		})
	})
}
