package scope_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// calls are all that return an error and need the loop.
func calls(co *scheduler.Coroutine) map[string]func(s *scope.Scope) error {
	return map[string]func(s *scope.Scope) error{
		"scope: Scope.Cancel":              func(s *scope.Scope) error { return s.Cancel(nil) },
		"scope: Scope.Dispose":             (*scope.Scope).Dispose,
		"scope: Scope.DisposeSafely":       (*scope.Scope).DisposeSafely,
		"scope: Scope.DisposeAfterTimeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(ms) },
		"scope: Scope.Close":               (*scope.Scope).Close,
		"scope: Scope.AwaitCompletion":     func(s *scope.Scope) error { return s.AwaitCompletion(co) },
		"scope: Scope.AwaitAfterCancellation": func(s *scope.Scope) error {
			return s.AwaitAfterCancellation(co, nil)
		},
		"scope: Scope.OnError": func(s *scope.Scope) error { return s.OnError(nil) },
		"scope: Scope.OnChildError": func(s *scope.Scope) error {
			return s.OnChildError(nil)
		},
		"scope: Scope.OnFinally": func(s *scope.Scope) error {
			return s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { return nil })
		},
		"scope: Scope.LogZombies": func(s *scope.Scope) error { return s.LogZombies(scheduler.ZombieLog{}) },
	}
}

// looks are those that return no error: they panic with it.
var looks = map[string]func(s *scope.Scope){
	"scope: Scope.AsNotSafely":  func(s *scope.Scope) { s.AsNotSafely() },
	"scope: Scope.AllowZombies": func(s *scope.Scope) { s.AllowZombies() },
	"scope: Scope.Safe":         func(s *scope.Scope) { s.Safe() },
	"scope: Scope.ChildScopes":  func(s *scope.Scope) { s.ChildScopes() },
	"scope: Scope.Stats":        func(s *scope.Scope) { s.Stats() },
	"scope: Scope.IsFinished":   func(s *scope.Scope) { s.IsFinished() },
	"scope: Scope.IsClosed":     func(s *scope.Scope) { s.IsClosed() },
	"scope: Scope.IsCancelled":  func(s *scope.Scope) { s.IsCancelled() },
	"scope: Scope.Values":       func(s *scope.Scope) { s.Values() },
}

// makers are what a handle comes from.
var makers = map[string]func(owner scheduler.Scoped) *scope.Scope{
	"scope: New": scope.New, "scope: Inherit": scope.Inherit, "scope: NewRoot": scope.NewRoot, "scope: Of": scope.Of, "scope: Main": scope.Main,
}

func TestScope_Misuse_NilHandles(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, s := range []*scope.Scope{nil, {}} {
				for name, call := range calls(co) {
					cotest.IsInvalid(t, call(s), name, "scope")
				}
				for name, look := range looks {
					cotest.IsInvalid(t, cotest.PanicOf(t, func() { look(s) }), name, "scope")
				}
				_, err := s.Spawn(cotest.Fails(nil))
				cotest.IsUsage(t, err, "nil")
				_, err = co.Await(s)
				cotest.IsInvalid(t, err, "scheduler: Await", "scope")
				_, _, err = co.AwaitFirst([]event.Event{s})
				cotest.IsInvalid(t, err, "scheduler: AwaitFirst", "scope")
				assert.Nil(t, s.Scope())
			}
			return nil
		})
	})
}

func TestScope_Misuse_NilOwnersAndFunctions(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var noCoroutine *scheduler.Coroutine
			var noScope *scheduler.Scope
			var noHandle *scope.Scope
			for name, build := range makers {
				for _, owner := range []scheduler.Scoped{nil, noCoroutine, noScope, noHandle, &scope.Scope{}, &scheduler.Coroutine{}} {
					cotest.IsInvalid(t, cotest.PanicOf(t, func() { build(owner) }), name, "owner")
				}
			}
			s := scope.New(co)
			cotest.IsInvalid(t, s.OnFinally(nil), "scope: Scope.OnFinally", "function")
			_, err := s.Spawn(nil)
			cotest.IsInvalid(t, err, "scheduler: Scope.Spawn", "function")
			for _, wait := range []func(*scheduler.Coroutine) error{
				func(co *scheduler.Coroutine) error { return s.AwaitCompletion(co) },
				func(co *scheduler.Coroutine) error { return s.AwaitAfterCancellation(co, nil) },
			} {
				cotest.IsUsage(t, wait(nil), "nil")
				cotest.IsUsage(t, wait(&scheduler.Coroutine{}), "Run or Spawn")
				// Another's coroutine, and from a callback.
				other := e.Spawn(co, cotest.Sleeper(ms))
				cotest.IsUsage(t, wait(other), "another body")
				e.After(ms/2, func() { cotest.IsUsage(t, wait(co), "callback") })
				_, err = co.Await(other)
				require.NoError(t, err)
				cotest.IsUsage(t, wait(other))
			}
			counts(t, s, 0, 0, 0)
			return nil
		})
	})
}

func TestScope_CORO30_OtherGoroutinesAreRefused(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var s *scope.Scope
		var main *scheduler.Coroutine
		refused := func(words ...string) {
			t.Helper()
			for name, call := range calls(main) {
				cotest.IsUsage(t, call(s), append([]string{name}, words...)...)
			}
			for name, look := range looks {
				cotest.IsUsage(t, cotest.PanicOf(t, func() { look(s) }), append([]string{name}, words...)...)
			}
			for name, build := range makers {
				cotest.IsUsage(t, cotest.PanicOf(t, func() { build(s) }), append([]string{name}, words...)...)
				cotest.IsUsage(t, cotest.PanicOf(t, func() { build(main) }), append([]string{name}, words...)...)
			}
			_, err := s.Spawn(cotest.Fails(nil))
			cotest.IsUsage(t, err, words...)
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			main, s = co, scope.New(co)
			c := e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			cotest.Foreign(func() { refused("goroutine", "this run") })
			assert.False(t, s.IsClosed())
			assert.True(t, s.Safe())
			counts(t, s, 1, 0, 1)
			_, err := co.Await(c)
			return err
		}, cotest.WithName("this run"))
		refused("not running") // after the end of the run
		assert.NotEmpty(t, s.Info())
		assert.NotNil(t, s.AsEvent())
		assert.True(t, s.Same(s))
	})
}

// GEN-11: the scope of one run, used by a coroutine of another.
func TestScope_GEN11_OtherRuns(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			done := make(chan struct{})
			go func() {
				defer close(done)
				sim := simreactor.New(1)
				w := reactortest.Simulated{Reactor: sim}
				defer func() { assert.NoError(t, w.Close()) }()
				assert.NoError(t, scheduler.New(w, scheduler.Options{Name: "the other run"}).Run(context.Background(), func(other *scheduler.Coroutine) error {
					both := []string{"the one run", "the other run"}
					cotest.IsUsage(t, s.AwaitCompletion(other), append(both, "AwaitCompletion")...)
					cotest.IsUsage(t, s.AwaitAfterCancellation(other, nil), append(both, "AwaitAfterCancellation")...)
					_, err := other.Await(s)
					cotest.IsUsage(t, err, append(both, "Await")...)
					_, _, err = other.AwaitFirst([]event.Event{s})
					cotest.IsUsage(t, err, append(both, "AwaitFirst")...)
					here := cotest.NewGate(w.Count())
					_, err = other.Await(here, scheduler.Token(s))
					cotest.IsUsage(t, err, append(both, "Await")...)
					cotest.IsUsage(t, s.Cancel(nil), "the one run")
					_, err = s.Spawn(cotest.Fails(nil))
					cotest.IsUsage(t, err, "the one run")
					cotest.IsUsage(t, cotest.PanicOf(t, func() { scope.New(s) }), "the one run")
					own := scope.New(other)
					assert.False(t, own.Same(s))
					return own.Close()
				}))
			}()
			<-done
			assert.False(t, s.IsClosed())
			return s.AwaitCompletion(co)
		}, cotest.WithName("the one run"))
	})
}

func TestScope_Misuse_CallsInCallbacks(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, g := scope.New(co), e.Gate()
			c := e.Spawn(s, cotest.Waiter(g))
			require.NoError(t, co.Yield())
			e.After(ms, func() {
				// What does not suspend works.
				below := scope.New(s)
				e.Spawn(below, cotest.Fails(nil))
				assert.Len(t, s.ChildScopes(), 1)
				cotest.IsUsage(t, s.AwaitCompletion(c), "callback")
				cotest.IsUsage(t, s.AwaitCompletion(co), "callback")
				assert.NoError(t, below.Cancel(errStop))
				assert.NoError(t, s.DisposeSafely())
				assert.True(t, c.Zombie())
			})
			_ = co.Scheduler().Post(func() { assert.False(t, s.IsClosed()) })
			require.NoError(t, co.Scheduler().Microtask(func() error { s.AsNotSafely(); return nil }))
			require.NoError(t, co.Delay(2*ms))
			assert.False(t, s.Safe())
			g.Open(nil, nil)
			return s.AwaitAfterCancellation(co, nil)
		})
	})
}

func TestScope_Misuse_SubscribersMayDoAnything(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, do := range map[string]func(s *scope.Scope) error{
			"spawn":  func(s *scope.Scope) error { _, err := s.Spawn(e.Sayer("spawned")); return err },
			"cancel": func(s *scope.Scope) error { return s.Cancel(errStop) },
			"close":  (*scope.Scope).Close,
			"limit":  func(s *scope.Scope) error { return s.DisposeAfterTimeout(ms) },
		} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				var cb *event.Callback
				calls := 0
				e.Spawn(s, cotest.Sleeper(ms))
				cb, err := s.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
					calls++
					if calls == 1 {
						assert.NoError(t, do(s), name)
					}
				})
				require.NoError(t, err)
				require.NoError(t, co.Delay(2*ms))
				require.NoError(t, s.AwaitCompletion(co))
				if name == "spawn" {
					assert.Equal(t, 2, calls)
					assert.Equal(t, []string{"spawned"}, e.Said())
				} else {
					assert.Equal(t, 1, calls)
				}
				s.AsEvent().DelCallback(cb)
				return nil
			})
		}
		// One that panics is a failure of the run.
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, cotest.Sleeper(ms))
			_, err := s.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(t, err)
			return co.Delay(hour)
		})
		var p *event.PanicError
		require.True(t, errors.As(err, &p))
		assert.Equal(t, errBoom, p.Value)
	})
}
