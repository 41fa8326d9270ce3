package scope_test

import (
	"context"
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

// The collector finds handles on the stack of those who are in a call. What makes and drops a handle is a function of its own.
//
//go:noinline
func abandon(fn func() *scope.Scope) (inner *scheduler.Scope) { return fn().Scope() }

func TestScope_SCOPE26_ADroppedHandleEndsTheScope(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		for _, safe := range []bool{false, true} {
			for name, build := range map[string]func(co *scheduler.Coroutine) *scope.Scope{
				"New":     func(co *scheduler.Coroutine) *scope.Scope { return scope.New(co) },
				"Inherit": func(co *scheduler.Coroutine) *scope.Scope { return scope.Inherit(co) },
				"NewRoot": func(co *scheduler.Coroutine) *scope.Scope { return scope.NewRoot(co) },
			} {
				e.MustRun(func(co *scheduler.Coroutine) error {
					g := e.Gate()
					var c *scheduler.Coroutine
					inner := abandon(func() *scope.Scope {
						s := build(co)
						if !safe {
							s.AsNotSafely()
						}
						require.NoError(t, s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { e.Say("finally"); return nil }))
						require.NoError(t, s.OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { return nil }))
						require.NoError(t, s.Values().Set("key", 1))
						c = e.Spawn(s, func(co *scheduler.Coroutine) error {
							_, err := co.Await(g)
							return err
						})
						require.NoError(t, co.Yield())
						return s
					})
					assert.False(t, inner.Closed())
					cotest.Collect(t, co, inner.Closed)
					assert.Equal(t, safe, c.Zombie(), name)
					if safe {
						assert.False(t, c.CancellationRequested())
						assert.Nil(t, inner.Cancelled())
						g.Open(nil, nil)
						_, err := co.Await(c)
						assert.NoError(t, err)
					} else {
						_, err := co.Await(c)
						cotest.IsCancelled(t, err, scope.ErrDropped)
						assert.Contains(t, err.Error(), "destroyed")
						assert.Contains(t, err.Error(), "collected")
					}
					cotest.Yields(co, 2)
					assert.Equal(t, []string{"finally"}, e.Said())
					return nil
				})
			}
		}
	})
}

func TestScope_SCOPE26_ADroppedHandleOfAnEmptyScope(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			outer := scope.New(co)
			inner := abandon(func() *scope.Scope { return scope.New(outer) })
			assert.Len(t, outer.ChildScopes(), 1)
			cotest.Collect(t, co, inner.Drained)
			assert.Empty(t, outer.ChildScopes(), "nothing is left of it")
			assert.False(t, outer.IsClosed())
			return nil
		})
	})
}

func TestScope_SCOPE26_OtherHandlesEndNothing(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			below := scope.New(s)
			c := e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			for range 3 {
				_, _, _ = abandon(func() *scope.Scope { return scope.Of(c) }), scope.Main(co).Stats(), s.ChildScopes()
				cotest.Storm(co)
			}
			assert.False(t, s.IsClosed())
			assert.False(t, below.IsClosed())
			assert.False(t, scope.Main(co).IsClosed())
			require.NoError(t, s.Dispose())
			runtime.KeepAlive(below)
			return s.AwaitAfterCancellation(co, nil)
		})
	})
}

// Whoever waits keeps the scope alive, though nobody else holds the handle.
func TestScope_SCOPE26_AWaitKeepsTheHandle(t *testing.T) {
	waits := map[string]func(co *scheduler.Coroutine, s *scope.Scope) error{
		"AwaitCompletion": func(co *scheduler.Coroutine, s *scope.Scope) error { return s.AwaitCompletion(co) },
		"AwaitCompletion with a limit": func(co *scheduler.Coroutine, s *scope.Scope) error {
			return s.AwaitCompletion(co, scheduler.Timeout(hour))
		},
		"Await": func(co *scheduler.Coroutine, s *scope.Scope) error { _, err := co.Await(s); return err },
		"AwaitFirst": func(co *scheduler.Coroutine, s *scope.Scope) error {
			_, _, err := co.AwaitFirst([]event.Event{s})
			return err
		},
		"AwaitAll": func(co *scheduler.Coroutine, s *scope.Scope) error {
			_, _, err := future.AwaitAll(co, future.Events(s))
			return err
		},
		"AwaitAnyOrFail": func(co *scheduler.Coroutine, s *scope.Scope) error {
			_, err := future.AwaitAnyOrFail(co, future.Events(s))
			return err
		},
		"Token": func(co *scheduler.Coroutine, s *scope.Scope) error {
			g := cotest.NewGate(nil)
			_, err := co.Await(g, scheduler.Token(s))
			isToken := event.IsCancellation(err)
			if isToken {
				return nil
			}
			return err
		},
		"FromEvent": func(co *scheduler.Coroutine, s *scope.Scope) error {
			_, err := future.FromEvent(co, s).Await(co)
			return err
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					g := e.Gate()
					var c *scheduler.Coroutine
					w := e.Spawn(co, func(co *scheduler.Coroutine) error {
						s := scope.New(co).AsNotSafely()
						var err error
						c, err = s.Spawn(cotest.Waiter(g))
						require.NoError(t, err)
						return wait(co, s)
					})
					cotest.Yields(co, 3)
					for range 2 {
						cotest.Storm(co)
					}
					require.NotNil(t, c)
					assert.False(t, c.CancellationRequested(), "the scope was ended while somebody waited for it")
					assert.False(t, c.Completed())
					g.Open(nil, nil)
					_, err := co.Await(w)
					require.NoError(t, err)
					_, err = co.Await(c)
					require.NoError(t, err)
					return nil
				})
			})
		})
	}
}

func TestScope_SCOPE26_AwaitAfterCancellationKeepsTheHandle(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		for _, wait := range []func(co *scheduler.Coroutine, s *scope.Scope) error{
			func(co *scheduler.Coroutine, s *scope.Scope) error { return s.AwaitAfterCancellation(co, nil) },
			func(co *scheduler.Coroutine, s *scope.Scope) error {
				return s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { cotest.Storm(co); return nil }, scheduler.Timeout(hour))
			},
		} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				g := e.Gate()
				var z *scheduler.Coroutine
				w := e.Spawn(co, func(co *scheduler.Coroutine) error {
					around := scope.New(co)
					s := scope.New(around)
					var err error
					z, err = s.Spawn(cotest.Waiter(g))
					require.NoError(t, err)
					require.NoError(t, co.Yield())
					// The scope around it ends it: nobody has used its handle for that.
					require.NoError(t, around.Cancel(nil))
					s.AsNotSafely()
					return wait(co, s)
				})
				cotest.Yields(co, 4)
				for range 2 {
					cotest.Storm(co)
				}
				require.NotNil(t, z)
				assert.False(t, z.CancellationRequested())
				g.Open(nil, nil)
				_, err := co.Await(w)
				require.NoError(t, err)
				_, err = co.Await(z)
				return err
			})
		}
	})
}

func TestScope_SCOPE26_AnEndedOneIsLeftAloneByTheCollector(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		for name, end := range map[string]func(s *scope.Scope) error{
			"cancel":         func(s *scope.Scope) error { return s.Cancel(errStop) },
			"dispose safely": (*scope.Scope).DisposeSafely,
			"limit":          func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
		} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				g := e.Gate()
				var c *scheduler.Coroutine
				abandon(func() *scope.Scope {
					s := scope.New(co)
					c = e.Spawn(s, cotest.Waiter(g))
					require.NoError(t, co.Yield())
					require.NoError(t, end(s))
					return s.AsNotSafely()
				})
				zombie := c.Zombie()
				cotest.Storm(co)
				cotest.Storm(co)
				assert.False(t, c.CancellationRequested(), name)
				assert.Equal(t, zombie, c.Zombie())
				g.Open(nil, nil)
				_, err := co.Await(c)
				return err
			})
		}
	})
}

func TestScope_SCOPE26_DroppedAfterTheRun(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		var held []*scope.Scope
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 10 {
				held = append(held, scope.New(co), scope.NewRoot(co))
			}
			return nil
		})
		for _, s := range held {
			assert.True(t, s.Scope().Closed())
		}
		held = nil
		for range 5 {
			runtime.GC()
		}
	})
}

func TestScope_CanBeStartedFromAsASpawner(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			var spawner scheduler.Spawner = s
			c, err := spawner.Spawn(func(co *scheduler.Coroutine) error {
				assert.True(t, scope.Of(co).Same(s))
				return nil
			}, scheduler.Named("a name"))
			require.NoError(t, err)
			assert.Equal(t, "a name", c.Name())
			f := future.Go(s, func(co *scheduler.Coroutine) (bool, error) { return scope.Of(co).Same(s), nil })
			in, err := f.Await(co)
			require.NoError(t, err)
			assert.True(t, in)
			var ctx context.Context = c
			assert.Error(t, ctx.Err(), "it has ended")
			return nil
		})
	})
}
