package scope_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// interrupters make something of somebody else's run in the middle of the end of a scope: they are called with a scope that has
// coroutines already, and do is called when it ends.
var interrupters = map[string]func(e *cotest.Env, co *scheduler.Coroutine, s *scope.Scope, do func()){
	"who is told that a coroutine is cancelled": func(e *cotest.Env, co *scheduler.Coroutine, s *scope.Scope, do func()) {
		first := e.Spawn(s, func(co *scheduler.Coroutine) error {
			co.AfterFunc(do)
			err := co.Delay(hour)
			e.Say("told")
			return err
		})
		cotest.Yields(co, 1)
		assert.True(e.T, first.Started())
	},
	"who watches a channel of the scope": func(e *cotest.Env, co *scheduler.Coroutine, s *scope.Scope, do func()) {
		c, err := channel.New[int](s, 0)
		require.NoError(e.T, err)
		_, err = c.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { do() })
		require.NoError(e.T, err)
	},
	"who watches a channel of a scope below": func(e *cotest.Env, co *scheduler.Coroutine, s *scope.Scope, do func()) {
		c, err := channel.New[int](scope.Inherit(s), 0)
		require.NoError(e.T, err)
		_, err = c.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { do() })
		require.NoError(e.T, err)
	},
}

func TestScope_GEN10_PanicsAndExitsWhileAScopeEnds(t *testing.T) {
	ends := map[string]func(s *scope.Scope) error{
		"cancel":  func(s *scope.Scope) error { return s.AsNotSafely().Cancel(errStop) },
		"dispose": (*scope.Scope).Dispose,
		"limit 0": func(s *scope.Scope) error { return s.DisposeAfterTimeout(0) },
		"limit":   func(s *scope.Scope) error { return s.DisposeAfterTimeout(ms) },
		"failure": func(s *scope.Scope) error { _, err := s.Spawn(cotest.Fails(errBoom)); return err },
	}
	for how, interrupt := range interrupters {
		for name, end := range ends {
			for _, exit := range []bool{false, true} {
				what := map[bool]string{false: "panic", true: "exit"}[exit]
				t.Run(how+", "+name+", "+what, func(t *testing.T) {
					cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
						var told []error
						main := func(co *scheduler.Coroutine) error {
							s := scope.New(co)
							victim := func(co *scheduler.Coroutine) error {
								err := co.Delay(hour)
								told = append(told, err)
								return err
							}
							e.Spawn(scope.New(s), victim)
							interrupt(e, co, s, func() {
								if exit {
									runtime.Goexit()
								}
								panic(errOther)
							})
							e.Spawn(s, victim)
							e.Spawn(s, victim)
							cotest.Yields(co, 2)
							_ = end(s)
							err := co.Delay(hour)
							assert.True(t, event.IsCancellation(err))
							return err
						}
						// Nobody needs to be unwound who can be cancelled: an unwound one tells nothing.
						if exit {
							e.Exits(main, cotest.WithGrace(time.Second))
						} else {
							var p *event.PanicError
							assert.ErrorAs(t, e.Run(main, cotest.WithGrace(time.Second)), &p)
						}
						assert.Len(t, told, 3, "each is cancelled")
						if strings.Contains(how, "that a coroutine is cancelled") {
							assert.Equal(t, []string{"told"}, e.Said(), "that one, too")
						}
						for _, err := range told {
							assert.True(t, event.IsCancellation(err), "%v", err)
						}
					})
				})
			}
		}
	}
}

// A zombie can be cancelled by itself, like any coroutine (CANC-21).
func TestScope_CANC21_AZombieIsCancelledAlone(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			a, b := e.Spawn(s, cotest.Sleeper(hour)), e.Spawn(s, cotest.Sleeper(2*ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeSafely())
			require.NoError(t, a.Cancel(errOther))
			_, err := co.Await(a)
			cotest.IsCancelled(t, err, errOther)
			assert.False(t, b.CancellationRequested())
			assert.False(t, s.IsCancelled())
			counts(t, s, 0, 1, 1)
			_, err = co.Await(b)
			return err
		})
	})
}

// CANC-13: a protected section defers the cancellation by a scope, and makes no difference to who becomes a zombie.
func TestScope_CANC13_InAProtectedSection(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, safe := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				if !safe {
					s.AsNotSafely()
				}
				c := e.Spawn(s, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						assert.NoError(t, co.Delay(ms))
						assert.NoError(t, co.Err())
						assert.Equal(t, safe, co.Zombie())
						e.Say("whole")
						return nil
					})
				})
				require.NoError(t, co.Yield())
				require.NoError(t, s.Cancel(errStop))
				_, err := co.Await(c)
				assert.Equal(t, []string{"whole"}, e.Said())
				if safe {
					return err
				}
				cotest.IsCancelled(t, err, errStop)
				return nil
			})
		}
	})
}

func TestScope_SCOPE26_TheMainScopeCanBeClosed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, row := range map[string]struct {
			end    func(s *scope.Scope) error
			reason error
		}{
			"close":           {(*scope.Scope).Close, scheduler.ErrRunOver},
			"close, not safe": {func(s *scope.Scope) error { return s.AsNotSafely().Close() }, scope.ErrScopeClosed},
			"dispose":         {(*scope.Scope).Dispose, scope.ErrDisposed},
			"dispose safely":  {(*scope.Scope).DisposeSafely, scheduler.ErrRunOver},
			"limit":           {func(s *scope.Scope) error { return s.DisposeAfterTimeout(2 * ms) }, scope.ErrTimeLimit},
		} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				main := scope.Main(co)
				finally(e, main, "finally", nil)
				require.NoError(t, row.end(main))
				_, err := co.Spawn(cotest.Fails(nil))
				cotest.IsUsage(t, err)
				assert.True(t, scope.New(co).IsClosed())
				cotest.IsCancelled(t, co.Delay(hour), row.reason)
				return nil
			})
			assert.Equal(t, []string{"finally"}, e.Said(), name)
		}
	})
}

func TestScope_SHUT04_FinallyOfTheMainScopeStartsMore(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			return scope.Main(co).OnFinally(func(self *scheduler.Coroutine, s *scope.Scope) error {
				assert.True(t, s.Same(scope.Main(self)))
				below := scope.New(self)
				finally(e, below, "finally below", nil)
				e.Spawn(below, func(co *scheduler.Coroutine) error { e.Say("below"); return co.Delay(ms) })
				return below.AwaitCompletion(self)
			})
		})
		assert.Equal(t, []string{"below", "finally below"}, e.Said())
	})
}

// Whoever is told of the end of a scope may end others: nobody is passed over.
func TestScope_GEN10_ScopesThatEndWhileOthersDo(t *testing.T) {
	closers := map[string]func(e *cotest.Env, co *scheduler.Coroutine, s *scope.Scope, do func()){
		"channel": interrupters["who watches a channel of the scope"], "coroutine": interrupters["who is told that a coroutine is cancelled"],
	}
	// tree has one scope whose end ends the one after it, or the two after it, and others after those.
	tree := func(e *cotest.Env, co *scheduler.Coroutine, how string, add func() *scope.Scope) (victims []*scheduler.Coroutine, all []*scope.Scope) {
		for range 5 {
			all = append(all, add())
		}
		closers[how](e, co, all[0], func() {
			assert.NoError(e.T, all[1].Dispose())
			assert.NoError(e.T, all[2].Dispose())
		})
		for _, i := range []int{3, 4} {
			victims = append(victims, e.Spawn(all[i], cotest.Sleeper(hour)))
		}
		require.NoError(e.T, co.Yield())
		return victims, all
	}
	for how := range closers {
		t.Run(how, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				var victims []*scheduler.Coroutine
				for name, end := range map[string]func(s *scope.Scope) error{
					"cancel":  func(s *scope.Scope) error { return s.AsNotSafely().Cancel(errStop) },
					"dispose": (*scope.Scope).Dispose,
				} {
					e.MustRun(func(co *scheduler.Coroutine) error {
						s := scope.New(co)
						victims, _ = tree(e, co, how, func() *scope.Scope { return scope.New(s).AsNotSafely() })
						require.NoError(t, end(s))
						require.NoError(t, s.AwaitAfterCancellation(co, nil), name)
						return nil
					})
					for _, c := range victims {
						assert.True(t, c.Cancelled(), name)
					}
				}
				// Scopes beside the main one, at the end of the run.
				err := e.Run(func(co *scheduler.Coroutine) error {
					victims, _ = tree(e, co, how, func() *scope.Scope { return scope.NewRoot(co) })
					return errBoom
				}, cotest.WithGrace(time.Second))
				assert.ErrorIs(t, err, errBoom)
				for _, c := range victims {
					cotest.IsCancelled(t, c.Error(), errBoom)
				}
				var late *scheduler.ShutdownError
				assert.False(t, errors.As(err, &late), "nobody had to be unwound: %v", err)
			})
		})
	}
	t.Run("without coroutines", func(t *testing.T) {
		cotest.Each(t, func(t *testing.T, e *cotest.Env) {
			for name, end := range map[string]func(s *scope.Scope) error{
				"cancel":                func(s *scope.Scope) error { return s.Cancel(errStop) },
				"dispose":               (*scope.Scope).Dispose,
				"dispose safely":        (*scope.Scope).DisposeSafely,
				"dispose after timeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
			} {
				e.MustRun(func(co *scheduler.Coroutine) error {
					s := scope.New(co)
					var all []*scope.Scope
					for range 5 {
						all = append(all, scope.New(s))
					}
					closers["channel"](e, co, all[0], func() {
						assert.NoError(t, all[1].Dispose())
						assert.NoError(t, all[2].Dispose())
					})
					require.NoError(t, end(s))
					for i, x := range append(all, s) {
						assert.True(t, x.Scope().Drained(), "%s: scope %d", name, i)
					}
					assert.Zero(t, e.W.Live(), name)
					return s.AwaitCompletion(co)
				})
			}
		})
	})
}
