package scheduler_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// suspending are the calls that may suspend, by the name that their errors give them.
var suspending = map[string]func(e *env, co *scheduler.Coroutine) error{
	"Yield":   func(_ *env, co *scheduler.Coroutine) error { return co.Yield() },
	"Delay":   func(_ *env, co *scheduler.Coroutine) error { return co.Delay(ms) },
	"Delay 0": func(_ *env, co *scheduler.Coroutine) error { return co.Delay(0) },
	"Await": func(e *env, co *scheduler.Coroutine) error {
		_, err := co.Await(e.gate())
		return err
	},
	"Await of what is done": func(e *env, co *scheduler.Coroutine) error {
		o := e.outcome()
		o.complete(1, nil)
		_, err := co.Await(o)
		return err
	},
	"AwaitFirst": func(e *env, co *scheduler.Coroutine) error {
		_, _, err := co.AwaitFirst([]event.Event{e.gate()})
		return err
	},
	"Park": func(_ *env, co *scheduler.Coroutine) error { return park(co, &line{}) },
	"WithTimeout": func(e *env, co *scheduler.Coroutine) error {
		return co.WithTimeout(ms, func(*scheduler.Coroutine) error { e.t.Error("it ran"); return nil })
	},
	"WithDeadline": func(e *env, co *scheduler.Coroutine) error {
		return co.WithDeadline(e.w.Now().Add(ms), func(*scheduler.Coroutine) error { e.t.Error("it ran"); return nil })
	},
	"WithCancel": func(e *env, co *scheduler.Coroutine) error {
		return co.WithCancel(func(*scheduler.Coroutine, func(error)) error { e.t.Error("it ran"); return nil })
	},
}

// misuses is suspending, and what is for the coroutine itself without being a suspension point.
func misuses() map[string]func(e *env, co *scheduler.Coroutine) error {
	all := map[string]func(e *env, co *scheduler.Coroutine) error{
		"Protect": func(e *env, co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error { e.t.Error("it ran"); return nil })
		},
		"Park alone": func(_ *env, co *scheduler.Coroutine) error { return co.Park("test: Park", &line{}) },
	}
	for name, call := range suspending {
		all[name] = call
	}
	return all
}

// refusedAll checks that every suspending call of co is a UsageError with the words.
func (e *env) refusedAll(co *scheduler.Coroutine, words ...string) {
	for name, call := range misuses() {
		err := call(e, co)
		if !assert.ErrorIs(e.t, err, event.ErrUsage, name) {
			continue
		}
		word, _, _ := strings.Cut(name, " ")
		isUsage(e.t, err, append(words, word)...)
	}
}

func TestCoroutine_CORO29_CallbacksCannotSuspend(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			check := func(where string) func() {
				return func() {
					e.say(where)
					for name, call := range misuses() {
						err := call(e, co)
						isUsage(t, err, "callback")
						assert.ErrorIs(t, err, event.ErrUsage, "%s in %s", name, where)
					}
				}
			}
			e.after(ms, check("deadline"))
			require.NoError(t, e.s.Post(check("posted")))
			require.NoError(t, e.s.Microtask(func() error { check("microtask")(); return nil }))
			g := e.gate()
			_, err := g.Subscribe(func(*event.Base, *event.Callback, any, error) { check("event")() })
			require.NoError(t, err)
			e.after(2*ms, func() { g.open(nil, nil) })
			sub, err := co.Scope().New()
			require.NoError(t, err)
			sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { check("handler")(); return nil })
			e.spawn(sub, returns(errBoom))
			e.spawn(co, returns(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { check("settler")() })))
			return co.Delay(5 * ms)
		})
		assert.ElementsMatch(t, []string{"deadline", "posted", "microtask", "event", "handler", "settler"}, e.said())
	})
}

func TestCoroutine_CORO29_OnlyParkedOnesCanBeWoken(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			refused := func(who *scheduler.Coroutine) {
				t.Helper()
				before := e.s.Stats().Ready
				isUsage(t, who.Unpark(), "Unpark")
				isUsage(t, who.UnparkWith(errBoom), "Unpark")
				assert.Equal(t, before, e.s.Stats().Ready)
			}
			refused(co)
			assert.Error(t, (*scheduler.Coroutine)(nil).Unpark())
			l := &line{}
			child := e.spawn(co, func(self *scheduler.Coroutine) error {
				require.NoError(t, self.Yield())
				require.NoError(t, self.Delay(ms))
				_, err := self.Await(e.gate(), scheduler.Timeout(ms))
				isTimeout(t, err)
				e.say("parks")
				return park(self, l)
			})
			refused(child) // queued
			require.NoError(t, co.Yield())
			refused(child) // in Yield
			require.NoError(t, co.Yield())
			refused(child) // in Delay
			for len(e.steps) == 0 {
				require.NoError(t, co.Delay(ms))
				if len(e.steps) == 0 {
					refused(child) // in Delay or Await
				}
			}
			require.NoError(t, child.Unpark())
			refused(child) // woken
			require.NoError(t, co.Yield())
			require.True(t, child.Completed())
			refused(child)
			assert.Empty(t, l.left)
			return nil
		})
		assert.Equal(t, []string{"parks"}, e.said())
	})
}

func TestCoroutine_CORO30_WrongCoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var main *scheduler.Coroutine
		e.mustRun(func(co *scheduler.Coroutine) error {
			main = co
			e.refusedAll(nil, "nil")
			e.refusedAll(&scheduler.Coroutine{}, "not made")
			ended := e.spawn(co, returns(nil), scheduler.Named("alpha"))
			e.refusedAll(ended, "another body", "alpha") // not begun
			require.NoError(t, co.Yield())
			e.refusedAll(ended, "alpha")
			suspended := e.spawn(co, func(self *scheduler.Coroutine) error {
				e.refusedAll(main, "another body", main.Name())
				return self.Delay(ms)
			}, scheduler.Named("beta"))
			require.NoError(t, co.Yield())
			e.refusedAll(suspended, "another body", "beta")
			assert.True(t, suspended.Suspended())
			assert.Zero(t, e.s.Stats().Ready)
			return nil
		}, withName("one"))
		e.refusedAll(main, "one", "not running")
		isUsage(t, main.Cancel(nil), "Cancel", "not running")
	})
}

// It is a UsageError whatever the coroutine does meanwhile, without a data race.
func TestCoroutine_CORO30_ForeignGoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			foreign(func() { e.refusedAll(co, "goroutine") })
			foreign(func() {
				isUsage(t, co.Cancel(nil), "Cancel", "goroutine")
				isUsage(t, co.Scope().Cancel(nil), "Cancel", "goroutine")
				_, err := co.Scope().New()
				isUsage(t, err, "New", "goroutine")
				isUsage(t, e.s.Check("the call"), "the call", "goroutine")
				isUsage(t, e.s.Shutdown(nil), "Shutdown", "goroutine")
				isUsage(t, e.s.Microtask(func() error { return nil }), "Microtask", "goroutine")
				_, err = e.s.NewExternal()
				isUsage(t, err, "NewExternal", "goroutine")
				_, err = e.s.NewRoot()
				isUsage(t, err, "NewRoot", "goroutine")
			})
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					default:
						e.refusedAll(co, "goroutine")
						runtime.Gosched()
					}
				}
			}()
			for range 30 {
				e.spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
				require.NoError(t, co.Yield())
				require.NoError(t, co.Delay(ms))
			}
			close(stop)
			<-done
			return nil
		})
	})
}

// While nobody is on the loop's goroutine but Unpark is called: it is for the loop, too.
func TestCoroutine_CORO30_UnparkByForeignGoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
			require.NoError(t, co.Yield())
			foreign(func() {
				isUsage(t, child.Unpark(), "Unpark", "goroutine")
				isUsage(t, child.UnparkWith(errBoom), "Unpark", "goroutine")
			})
			assert.False(t, child.Queued())
			_ = child.Unpark()
			return nil
		})
	})
}

func TestCoroutine_GEN11_RunsKeepTheirCoroutinesApart(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(outer *scheduler.Coroutine) error {
			err := e.s.Run(context.Background(), returns(nil))
			isUsage(t, err, "Run", "outer")
			second := scheduler.New(e.w, scheduler.Options{Name: "inner"})
			for _, ctx := range []context.Context{outer, context.WithValue(outer, outer, 1)} {
				isUsage(t, second.Run(ctx, returns(nil)), "Run", "outer")
			}
			err = outer.Protect(func(ctx context.Context) error { return second.Run(ctx, returns(nil)) })
			isUsage(t, err, "Run", "outer")

			// A run of its own loop in a coroutine holds up the outer one, and works.
			w := reactortest.Simulated{Reactor: simreactor.New(1)}
			defer func() { assert.NoError(t, w.Close()) }()
			in := &env{t: t, w: w}
			e.spawn(outer, returns(nil), scheduler.Named("waiting"))
			require.NoError(t, in.run(func(inner *scheduler.Coroutine) error {
				require.NoError(t, inner.Delay(ms))
				in.refusedAll(outer, "outer")
				_, err := inner.Await(outer)
				isUsage(t, err, "outer", "inner")
				_, _, err = inner.AwaitFirst([]event.Event{in.gate(), outer})
				isUsage(t, err, "outer", "inner")
				_, err = inner.Await(in.gate(), scheduler.Token(outer))
				isUsage(t, err, "outer", "inner")
				_, err = outer.Spawn(returns(nil))
				isUsage(t, err, "outer")
				isUsage(t, outer.Cancel(nil), "outer")
				return inner.Delay(ms)
			}, withName("inner")))
			require.NoError(t, outer.Yield())
			return outer.Delay(ms)
		}, withName("outer"))
		isUsage(t, e.s.Run(context.Background(), returns(nil)), "Run", "outer")
		assert.Error(t, scheduler.New(e.w, scheduler.Options{}).Run(nil, returns(nil))) //nolint:staticcheck // that is the test
		assert.Error(t, scheduler.New(e.w, scheduler.Options{}).Run(context.Background(), nil))
		assert.Panics(t, func() { scheduler.New(nil, scheduler.Options{}) })
	})
}

func TestCoroutine_AwaitRefusesWhatIsNoEvent(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(nil)
			assert.ErrorIs(t, err, event.ErrInvalidArgument)
			_, err = co.Await(co)
			isUsage(t, err, "itself")
			for _, evs := range [][]event.Event{nil, {}, {e.gate(), nil}} {
				fired, _, err := co.AwaitFirst(evs)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				assert.Equal(t, -1, fired)
			}
			_, err = co.Await(&event.Reference{})
			isUsage(t, err, "Await")
			assert.ErrorIs(t, co.Delay(-1), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithTimeout(0, func(*scheduler.Coroutine) error { return nil }), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithTimeout(ms, nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithDeadline(e.w.Now(), nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithCancel(nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.Protect(nil), event.ErrInvalidArgument)
			return nil
		})
	})
}

func TestCoroutine_REACT08_TimeoutsMustBePositive(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			o := e.outcome()
			o.complete(1, nil)
			for _, opt := range []scheduler.WaitOption{scheduler.Timeout(0), scheduler.Timeout(-ms), scheduler.Token(nil), {}} {
				_, err := co.Await(e.gate(), opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				_, err = co.Await(o, opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument, "also when it needs no wait")
				_, _, err = co.AwaitFirst([]event.Event{e.gate()}, scheduler.Timeout(ms), opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				l := &line{}
				assert.ErrorIs(t, park(co, l, opt), event.ErrInvalidArgument)
				assert.Len(t, l.left, 1)
			}
			return nil
		})
	})
}

// exits runs a main that is expected to exit its goroutine, and returns whether Run returned.
func (e *env) exits(main func(co *scheduler.Coroutine) error, opts ...option) (returned bool) {
	foreign(func() {
		_ = e.run(main, opts...)
		returned = true
	})
	st := e.s.Stats()
	assert.Zero(e.t, st.Total)
	assert.Zero(e.t, st.Contexts)
	return returned
}

func TestCoroutine_Goexit_EndsTheRunAfterTheCleanUp(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for name, exit := range map[string]func(co *scheduler.Coroutine){
			"main": func(*scheduler.Coroutine) { runtime.Goexit() },
			"child": func(co *scheduler.Coroutine) {
				e.spawn(co, func(*scheduler.Coroutine) error { runtime.Goexit(); return nil })
			},
			"child after a wait": func(co *scheduler.Coroutine) {
				e.spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); runtime.Goexit(); return nil })
			},
			"callback":  func(*scheduler.Coroutine) { e.after(ms, runtime.Goexit) },
			"two":       func(*scheduler.Coroutine) { e.after(ms, runtime.Goexit); e.after(ms, runtime.Goexit) },
			"posted":    func(*scheduler.Coroutine) { _ = e.s.Post(runtime.Goexit) },
			"microtask": func(*scheduler.Coroutine) { _ = e.s.Microtask(func() error { runtime.Goexit(); return nil }) },
			"finally": func(co *scheduler.Coroutine) {
				_ = e.spawn(co, returns(nil)).OnFinally(func(_, _ *scheduler.Coroutine) error { runtime.Goexit(); return nil })
			},
			"handler": func(co *scheduler.Coroutine) {
				sub, err := co.Scope().New()
				require.NoError(t, err)
				sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { runtime.Goexit(); return nil })
				e.spawn(sub, returns(errBoom))
			},
			"settler": func(co *scheduler.Coroutine) {
				e.spawn(co, returns(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { runtime.Goexit() })))
			},
		} {
			t.Run(name, func(t *testing.T) {
				e.said()
				returned := e.exits(func(co *scheduler.Coroutine) error {
					child := e.spawn(co, func(co *scheduler.Coroutine) error {
						defer e.say("cleaned up")
						return co.Delay(3600 * 1000 * ms)
					})
					require.NoError(t, co.Yield())
					require.True(t, child.Suspended())
					exit(co)
					return nil
				})
				assert.False(t, returned, "Run's goroutine exits")
				assert.Equal(t, []string{"cleaned up"}, e.said())
			})
		}
		t.Run("everywhere", func(t *testing.T) {
			ended := 0
			assert.False(t, e.exits(func(co *scheduler.Coroutine) error {
				for i := range 20 {
					e.spawn(co, func(co *scheduler.Coroutine) error {
						defer func() { ended++ }()
						yields(co, 1+i%4)
						runtime.Goexit()
						return nil
					})
				}
				return nil
			}))
			assert.Equal(t, 20, ended)
		})
		t.Run("with a panic in a deferred function", func(t *testing.T) {
			e.exits(func(co *scheduler.Coroutine) error {
				e.spawn(co, func(*scheduler.Coroutine) error {
					defer func() { panic(errBoom) }()
					runtime.Goexit()
					return nil
				})
				e.spawn(co, e.sayer("next"))
				return nil
			})
			e.said()
		})
	})
}

// The callbacks of a lone coroutine run on its stack: when one of them exits, so does the coroutine, woken as it may be.
func TestCoroutine_CORO31_OneThatEndsWhileItIsInTheQueueNeverGoesOn(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		assert.False(t, e.exits(func(co *scheduler.Coroutine) error {
			l := &line{}
			e.after(ms, func() {
				require.NoError(t, co.Unpark())
				require.NoError(t, e.s.Post(func() { runtime.Goexit() }))
				e.say("woken")
				runtime.Goexit()
			})
			_ = park(co, l)
			e.say("went on")
			return nil
		}))
		assert.Equal(t, []string{"woken"}, e.said())
	})
}

func TestCoroutine_CORO31_CancelledWhileQueuedRunsOnceMoreOrNever(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.spawn(co, func(co *scheduler.Coroutine) error {
				err := park(co, l)
				e.say("once")
				return err
			})
			require.NoError(t, co.Yield())
			require.NoError(t, child.Unpark())
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Cancel(errOther))
			assert.Equal(t, 1, e.s.Stats().Ready)
			never := e.spawn(co, e.sayer("never"))
			require.NoError(t, never.Cancel(errStop))
			assert.Equal(t, 2, e.s.Stats().Ready)
			yields(co, 3)
			assert.True(t, child.Completed())
			assert.True(t, never.Completed())
			assert.Zero(t, e.s.Stats().Ready)
			isCancelled(t, child.Error(), errStop)
			return nil
		})
		assert.Equal(t, []string{"once"}, e.said())
	})
}
