package scope_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// handlers make a scope say which of its handlers was called, with what; they answer with what is given.
func handlers(e *cotest.Env, s *scope.Scope, name string, own, child error) {
	require.NoError(e.T, s.OnError(func(got *scope.Scope, co *scheduler.Coroutine, err error) error {
		assert.True(e.T, got.Same(s), "the scope of the handler")
		e.Say(name + ".OnError: " + err.Error())
		return own
	}))
	require.NoError(e.T, s.OnChildError(func(got *scope.Scope, co *scheduler.Coroutine, err error) error {
		assert.True(e.T, got.Same(s), "the scope of the handler")
		e.Say(name + ".OnChildError: " + err.Error())
		return child
	}))
}

func TestScope_SCOPE16_TheHandlerCatchesFailuresOfTheScopesOwn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			var failed *scheduler.Coroutine
			require.NoError(t, s.OnError(func(got *scope.Scope, c *scheduler.Coroutine, err error) error {
				assert.True(t, got.Same(s))
				assert.Same(t, failed, c)
				assert.True(t, c.Completed())
				assert.Nil(t, co.Scheduler().Current(), "outside of any coroutine")
				cotest.IsUsage(t, c.Yield(), "Yield")
				e.Say("first " + err.Error())
				return nil
			}))
			sibling := e.Spawn(s, func(co *scheduler.Coroutine) error {
				assert.NoError(t, co.Delay(2*ms))
				e.Say("sibling")
				return nil
			})
			failed = e.Spawn(s, cotest.Fails(errBoom))
			require.NoError(t, co.Yield())
			assert.Equal(t, []string{"first boom"}, e.Said())
			assert.False(t, s.IsCancelled())
			assert.Equal(t, errBoom, failed.Error())

			require.NoError(t, s.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
				e.Say("second " + err.Error())
				return nil
			}))
			e.Spawn(s, cotest.Fails(errOther))
			e.Spawn(s, func(*scheduler.Coroutine) error { panic("no") })
			require.NoError(t, co.Yield())
			said := e.Said()
			if assert.Len(t, said, 2) {
				assert.Equal(t, "second other", said[0])
				assert.Contains(t, said[1], "no", "panics, too")
			}
			_, err := co.Await(sibling)
			assert.Equal(t, []string{"sibling"}, e.Said())
			return err
		})

		// Removed: as if there had never been one.
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			handlers(e, s, "s", nil, nil)
			require.NoError(t, s.OnError(nil))
			require.NoError(t, s.OnChildError(nil))
			e.Spawn(scope.New(s), cotest.Fails(errBoom))
			return co.Delay(hour)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Empty(t, e.Said())
	})
}

func TestScope_SCOPE17_ChildHandlerFirstThenItsOwn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			top := scope.New(co)
			handlers(e, top, "top", nil, nil)
			parent := scope.New(top)
			fail := func(in *scope.Scope, want ...string) {
				t.Helper()
				e.Spawn(in, cotest.Fails(errBoom))
				require.NoError(t, co.Yield())
				assert.Equal(t, want, e.Said())
			}
			handlers(e, parent, "parent", nil, nil)
			fail(parent, "parent.OnError: boom") // not for its own
			fail(scope.New(parent), "parent.OnChildError: boom")
			fail(scope.New(scope.New(parent)), "parent.OnChildError: boom") // from further below
			assert.False(t, parent.IsCancelled())

			require.NoError(t, parent.OnChildError(nil))
			fail(scope.New(parent), "parent.OnError: boom")

			// The handlers of the scope between come first.
			handlers(e, parent, "parent", nil, nil)
			between := scope.New(parent)
			handlers(e, between, "between", nil, nil)
			fail(scope.New(between), "between.OnChildError: boom")
			require.NoError(t, between.OnError(nil))
			fail(between, "parent.OnChildError: boom") // its own, and it has no handler for these: cancelled
			assert.True(t, between.IsCancelled())
			assert.False(t, parent.IsCancelled())

			// SCOPE-20: the child handler fails, then the own one has its turn.
			handlers(e, parent, "parent", nil, errOther)
			fail(scope.New(parent), "parent.OnChildError: boom", "parent.OnError: other (after: boom)")
			return nil
		})
	})
}

func TestScope_SCOPE18_WithoutAHandlerAllFailTogether(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, safe := range []bool{false, true} {
			err := e.Run(func(co *scheduler.Coroutine) error {
				parent := scope.New(co)
				if !safe {
					parent.AsNotSafely()
				}
				s := scope.Inherit(parent)
				below := scope.Inherit(s)
				sibling := scope.Inherit(parent)
				spawn := func(in *scope.Scope, name string) {
					e.Spawn(in, func(co *scheduler.Coroutine) error {
						err := co.Delay(hour)
						cotest.IsCancelled(t, err, errBoom)
						e.Say(name)
						return err
					})
				}
				spawn(s, "own")
				spawn(below, "below")
				spawn(sibling, "sibling scope")
				spawn(parent, "parent")
				require.NoError(t, co.Yield())
				failed := e.Spawn(s, cotest.Fails(errBoom))
				queued := e.Spawn(s, e.Sayer("never"))
				err := co.Delay(hour)
				cotest.IsCancelled(t, err, errBoom)
				assert.True(t, s.IsCancelled())
				assert.True(t, parent.IsCancelled())
				assert.True(t, failed.Completed())
				cotest.IsCancelled(t, queued.Error(), errBoom)
				return err
			})
			assert.ErrorIs(t, err, errBoom)
			said := e.Said()
			if assert.Len(t, said, 4) {
				assert.Equal(t, "below", said[0], "children first")
				assert.Equal(t, "own", said[1])
			}
			var failure *scheduler.FailureError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, errBoom, failure.Err)
		}
	})
}

func TestScope_SCOPE18_CancelledUpToWhereItIsDealtWith(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			top := scope.New(co)
			handlers(e, top, "top", nil, nil)
			between := scope.New(top)
			s := scope.New(between)
			beside := e.Spawn(top, cotest.Sleeper(ms))
			victim := e.Spawn(between, cotest.Sleeper(hour))
			e.Spawn(s, cotest.Fails(errBoom))
			_, err := co.Await(victim)
			cotest.IsCancelled(t, err, errBoom)
			assert.Equal(t, []string{"top.OnChildError: boom"}, e.Said())
			assert.True(t, s.IsClosed())
			assert.True(t, between.IsClosed())
			assert.False(t, top.IsCancelled())
			_, err = s.Spawn(cotest.Fails(nil))
			cotest.IsUsage(t, err, "boom")
			_, err = co.Await(beside)
			return err
		})
	})
}

func TestScope_SCOPE19_TheChildIsCancelledBeforeTheParentIsAsked(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			parent := scope.New(co)
			s := scope.New(parent)
			sibling := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, parent.OnChildError(func(got *scope.Scope, c *scheduler.Coroutine, _ error) error {
				assert.True(t, s.IsCancelled())
				assert.True(t, sibling.CancellationRequested())
				assert.False(t, got.IsCancelled())
				assert.True(t, scope.Of(c).Same(s))
				_, err := s.Spawn(cotest.Fails(nil))
				cotest.IsUsage(t, err)
				e.Spawn(got, e.Sayer("spawned in the handler"))
				return nil
			}))
			require.NoError(t, co.Yield())
			e.Spawn(s, cotest.Fails(errBoom))
			_, err := co.Await(sibling)
			cotest.IsCancelled(t, err, errBoom)
			require.NoError(t, parent.AwaitCompletion(co))
			assert.Equal(t, []string{"spawned in the handler"}, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE20_AFailingHandlerIsChained(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			parent := scope.New(co)
			s := scope.New(parent)
			handlers(e, s, "s", errOther, nil)
			require.NoError(t, parent.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
				assert.ErrorIs(t, err, errOther)
				assert.ErrorIs(t, err, errBoom)
				assert.True(t, s.IsCancelled(), "it was not dealt with")
				panic("again")
			}))
			e.Spawn(s, cotest.Fails(errBoom))
			return co.Delay(hour)
		})
		for _, want := range []error{errBoom, errOther} {
			assert.ErrorIs(t, err, want)
		}
		var p *event.PanicError
		if assert.ErrorAs(t, err, &p) {
			assert.Equal(t, "again", p.Value)
		}

		// A handler that returns the very failure: it goes on, once.
		err = e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			require.NoError(t, s.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error { return err }))
			e.Spawn(s, cotest.Fails(errBoom))
			return co.Delay(hour)
		})
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScope_SCOPE21_WhoAwaitsGetsItAlone(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			handlers(e, s, "s", nil, nil)
			sibling := e.Spawn(s, cotest.Sleeper(2*ms))
			c := e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
			_, err := co.Await(c)
			assert.Equal(t, errBoom, err)
			assert.False(t, s.IsCancelled())
			assert.Empty(t, e.Said())

			// Whose failure has an owner of its own is none of the scope's.
			f := future.Go(s, func(*scheduler.Coroutine) (int, error) { return 0, errBoom })
			require.NoError(t, co.Yield())
			_, err = f.Await(co)
			assert.ErrorIs(t, err, errBoom)
			assert.Empty(t, e.Said())
			assert.False(t, s.IsCancelled())
			_, err = co.Await(sibling)
			return err
		})
	})
}

func TestScope_SCOPE08_SCOPE18_AZombiesFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			// It still goes to the handlers.
			s := cancelledWith(e, co, errBoom)
			handlers(e, s, "s", nil, nil)
			require.NoError(t, co.Delay(2*ms))
			assert.Equal(t, []string{"s.OnError: boom"}, e.Said())

			// The zombies of a scope that has ended are left alone (SCOPE-06), the failure goes on.
			for _, handled := range []bool{true, false} {
				top := scope.New(co)
				handlers(e, top, "top", nil, nil)
				between := scope.New(top)
				s = scope.New(between)
				z, other := e.Spawn(s, cotest.Sleeper(2*ms)), e.Spawn(between, cotest.Sleeper(2*ms))
				e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
				require.NoError(t, co.Yield())
				require.NoError(t, s.DisposeSafely())
				if handled {
					handlers(e, between, "between", nil, nil)
				}
				require.NoError(t, s.AwaitCompletion(co))
				for !other.Completed() || !z.Completed() {
					require.NoError(t, co.Delay(ms))
				}
				assert.True(t, z.Zombie())
				if handled {
					assert.NoError(t, z.Error())
					assert.NoError(t, other.Error())
					assert.False(t, s.IsCancelled())
					assert.False(t, between.IsCancelled())
					assert.Equal(t, []string{"between.OnChildError: boom"}, e.Said())
				} else { // the scope around had not ended: it is cancelled, with all that is below it
					cotest.IsCancelled(t, z.Error(), errBoom)
					cotest.IsCancelled(t, other.Error(), errBoom)
					assert.True(t, between.IsCancelled())
					assert.Equal(t, []string{"top.OnChildError: boom"}, e.Said())
				}
				assert.False(t, top.IsCancelled())
			}
			return nil
		})
		err := e.Run(func(co *scheduler.Coroutine) error {
			_ = cancelledWith(e, co, errBoom)
			return co.Delay(hour)
		})
		assert.ErrorIs(t, err, errBoom, "to the root")
	})
}

func TestScope_CANC19_CancellationsAreNoFailures(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			handlers(e, s, "s", nil, nil)
			for range 3 {
				e.Spawn(s, cotest.Sleeper(hour))
			}
			require.NoError(t, co.Yield())
			e.Spawn(s, cotest.Fails(nil))
			require.NoError(t, s.Cancel(errStop))
			require.NoError(t, s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { e.Say("failure"); return nil }))
			assert.Empty(t, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE16_HandlersMayDoAnything(t *testing.T) {
	doings := map[string]func(e *cotest.Env, s *scope.Scope) error{
		"cancel":         func(e *cotest.Env, s *scope.Scope) error { return s.Cancel(errStop) },
		"dispose":        func(e *cotest.Env, s *scope.Scope) error { return s.Dispose() },
		"dispose safely": func(e *cotest.Env, s *scope.Scope) error { return s.DisposeSafely() },
		"close":          func(e *cotest.Env, s *scope.Scope) error { return s.Close() },
		"limit":          func(e *cotest.Env, s *scope.Scope) error { return s.DisposeAfterTimeout(ms) },
		"limit 0":        func(e *cotest.Env, s *scope.Scope) error { return s.DisposeAfterTimeout(0) },
		"parent": func(e *cotest.Env, s *scope.Scope) error {
			for c := s.Scope(); c.Parent() != nil; c = c.Parent() {
				if c.Parent().Parent() == nil {
					return c.Dispose(errStop)
				}
			}
			return nil
		},
		"spawn": func(e *cotest.Env, s *scope.Scope) error {
			_, err := s.Spawn(e.Sayer("spawned"))
			return err
		},
		"handlers": func(e *cotest.Env, s *scope.Scope) error {
			if err := s.OnError(nil); err != nil {
				return err
			}
			return s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { e.Say("finally"); return nil })
		},
		"new": func(e *cotest.Env, s *scope.Scope) error {
			_, err := scope.New(s).Spawn(e.Sayer("spawned"))
			return err
		},
	}
	for name, do := range doings {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					parent := scope.New(co)
					s := scope.New(parent)
					calls := 0
					require.NoError(t, s.OnError(func(got *scope.Scope, _ *scheduler.Coroutine, _ error) error {
						calls++
						assert.NoError(t, do(e, got))
						return nil
					}))
					e.Spawn(s, cotest.Sleeper(2*ms))
					e.Spawn(scope.New(s), cotest.Sleeper(2*ms))
					e.Spawn(s, cotest.Fails(errBoom))
					require.NoError(t, parent.AwaitCompletion(co))
					assert.Equal(t, 1, calls)
					require.NoError(t, parent.Dispose())
					require.NoError(t, parent.AwaitAfterCancellation(co, nil))
					counts(t, s, 0, 0, 0)
					e.Counts(1, 0, 1)
					assert.True(t, s.IsClosed())
					return nil
				})
				for _, step := range e.Said() {
					assert.Contains(t, []string{"spawned", "finally"}, step)
				}
			})
		})
	}
}

// Goexit, as t.FailNow does it, in whatever is called by the scope: the run ends in order.
func TestScope_GEN10_GoexitInWhatIsCalled(t *testing.T) {
	places := map[string]func(e *cotest.Env, co *scheduler.Coroutine){
		"OnError": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := scope.New(co)
			_ = s.OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { runtime.Goexit(); return nil })
			e.Spawn(s, cotest.Fails(errBoom))
		},
		"OnChildError": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := scope.New(co)
			_ = s.OnChildError(func(*scope.Scope, *scheduler.Coroutine, error) error { runtime.Goexit(); return nil })
			e.Spawn(scope.New(s), cotest.Fails(errBoom))
		},
		"OnFinally": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := scope.New(co)
			_ = s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { runtime.Goexit(); return nil })
			_ = s.Close()
		},
		"OnFinally at once": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := scope.New(co)
			_ = s.Close()
			_ = s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { runtime.Goexit(); return nil })
		},
		"after cancellation": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := cancelledWith(e, co, errBoom, errOther)
			_ = s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { runtime.Goexit(); return nil })
		},
		"subscriber": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := scope.New(co)
			e.Spawn(s, cotest.Sleeper(ms))
			_, _ = s.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { runtime.Goexit() })
		},
		"a zombie": func(e *cotest.Env, co *scheduler.Coroutine) {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); runtime.Goexit(); return nil })
			_ = co.Yield()
			_ = s.Close()
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
				var left *scope.Scope
				e.Exits(func(co *scheduler.Coroutine) error {
					left = scope.New(co)
					e.Spawn(left, cotest.Sleeper(hour))
					place(e, co)
					return co.Delay(hour)
				})
			})
		})
	}
}

func TestScope_GEN08_AFutureNobodyLookedAtFailsItsScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			require.NoError(t, s.OnError(func(_ *scope.Scope, c *scheduler.Coroutine, err error) error {
				assert.Nil(t, c, "it is not that of a coroutine")
				assert.ErrorIs(t, err, errBoom)
				e.Say("failure")
				return nil
			}))
			f := future.Go(s, func(*scheduler.Coroutine) (int, error) { return 0, errBoom })
			cotest.Yields(co, 2)
			assert.Empty(t, e.Said(), "not before the scope completes")
			require.NoError(t, s.Close())
			assert.Equal(t, []string{"failure"}, e.Said())
			assert.Error(t, errors.Join(f.Err()))
			return nil
		})
	})
}
