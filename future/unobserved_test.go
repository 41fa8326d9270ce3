package future

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

const neverUsed = "future: never used"

func TestFuture_FUT11_AValueNobodyUsesIsToldOnce(t *testing.T) {
	made := map[string]func(co *scheduler.Coroutine){
		"completed": func(co *scheduler.Coroutine) { Completed(co, 1) },
		"go":        func(co *scheduler.Coroutine) { later(co, ms, 1, nil) },
		"new": func(co *scheduler.Coroutine) {
			c, _ := New[int](co)
			_ = c.Complete(1)
		},
		"the last of a chain": func(co *scheduler.Coroutine) {
			Map(Completed(co, 1), func(int) (int, error) { return 2, nil })
		},
	}
	for name, make := range made {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				require.NoError(t, w.run(func(co *scheduler.Coroutine) { make(co) }))
				assert.Equal(t, 1, w.logged(neverUsed), w.log.String())
				assert.Contains(t, w.log.String(), "_test.go:", "where it was made")
			})
		})
	}
}

func TestFuture_FUT11_WhatCountsAsUse(t *testing.T) {
	uses := map[string]func(t *testing.T, co *scheduler.Coroutine, f *Future[int]){
		"ignore":  func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { f.Ignore() },
		"await":   func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { _, _ = f.Await(co) },
		"map":     func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { Map(f, increment).Ignore() },
		"catch":   func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { f.Catch(recovered) },
		"finally": func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { f.Finally(func() error { return nil }) },
		"result": func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) {
			for _, ok, _ := f.Result(); !ok; _, ok, _ = f.Result() {
				require.NoError(t, co.Delay(ms))
			}
		},
		"combine": func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { _, _, _ = AwaitAll(co, Of(f)) },
		"plain":   func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { _, _ = co.Await(f) },
		"dispose": func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) { f.Dispose() },
		"abandoned await": func(t *testing.T, co *scheduler.Coroutine, f *Future[int]) {
			_, _ = f.Await(co, scheduler.Timeout(ms))
		},
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				require.NoError(t, w.run(func(co *scheduler.Coroutine) {
					c, pending := New[int](co)
					spawn(t, co, func(co *scheduler.Coroutine) {
						_ = co.Delay(5 * ms)
						_ = c.Complete(2)
					})
					use(t, co, pending)
					use(t, co, Completed(co, 1))
				}))
				assert.Zero(t, w.logged(neverUsed), w.log.String())
			})
		})
	}
}

func increment(v int) (int, error)     { return v + 1, nil }
func recovered(err error) (int, error) { return 0, nil }

func TestFuture_FUT11_ACancelledOneIsNoMistake(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.run(func(co *scheduler.Coroutine) {
			_, f := New[int](co)
			require.NoError(t, f.Cancel(errTest))
		}))
		assert.Empty(t, w.log.String())
	})
}

func TestFuture_FUT12_AnErrorNobodyTakesIsToldOnce(t *testing.T) {
	failures := map[string]func(co *scheduler.Coroutine){
		"failed": func(co *scheduler.Coroutine) { Failed[int](co, errTest) },
		"go":     func(co *scheduler.Coroutine) { later(co, ms, 0, errTest) },
		"completer": func(co *scheduler.Coroutine) {
			c, _ := New[int](co)
			_ = c.Fail(errTest)
		},
		"finally alone": func(co *scheduler.Coroutine) { later(co, ms, 0, errTest).Finally(func() error { return nil }) },
		"map alone":     func(co *scheduler.Coroutine) { Map(later(co, ms, 0, errTest), increment) },
		"a chain": func(co *scheduler.Coroutine) {
			Map(Map(Failed[int](co, errTest), increment).Finally(func() error { return nil }), increment)
		},
		"await that gave up": func(co *scheduler.Coroutine) {
			_, _ = later(co, 3*ms, 0, errTest).Await(co, scheduler.Timeout(ms))
		},
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				err := w.run(func(co *scheduler.Coroutine) { fail(co) })
				require.ErrorIs(t, err, errTest)
				assert.Equal(t, 1, unhandled(err), err)
				var u *UnhandledError
				require.ErrorAs(t, err, &u)
				assert.Contains(t, u.CreatedAt, "_test.go:")
				assert.Zero(t, w.logged(neverUsed))
			})
		})
	}
}

// unhandled counts the UnhandledErrors in a tree of errors.
func unhandled(err error) int {
	if _, ok := err.(*UnhandledError); ok {
		return 1
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return unhandled(e.Unwrap())
	case interface{ Unwrap() []error }:
		n := 0
		for _, one := range e.Unwrap() {
			n += unhandled(one)
		}
		return n
	}
	return 0
}

func TestFuture_FUT12_WhatCountsAsTaking(t *testing.T) {
	takes := map[string]func(co *scheduler.Coroutine, f *Future[int]){
		"await":         func(co *scheduler.Coroutine, f *Future[int]) { _, _ = f.Await(co) },
		"plain await":   func(co *scheduler.Coroutine, f *Future[int]) { _, _ = co.Await(f) },
		"ignore":        func(co *scheduler.Coroutine, f *Future[int]) { f.Ignore() },
		"catch":         func(co *scheduler.Coroutine, f *Future[int]) { f.Catch(recovered) },
		"catch the map": func(co *scheduler.Coroutine, f *Future[int]) { Map(f, increment).Catch(recovered) },
		"await finally": func(co *scheduler.Coroutine, f *Future[int]) {
			_, _ = f.Finally(func() error { return nil }).Await(co)
		},
		"combine": func(co *scheduler.Coroutine, f *Future[int]) { _, _, _ = AwaitAll(co, Of(f)) },
		"callback": func(co *scheduler.Coroutine, f *Future[int]) {
			_, _ = f.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {})
		},
		"err": func(co *scheduler.Coroutine, f *Future[int]) {
			for !f.Completed() {
				_ = co.Yield()
			}
			_ = f.Err()
		},
	}
	for name, take := range takes {
		t.Run(name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, w *world) {
				require.NoError(t, w.run(func(co *scheduler.Coroutine) {
					take(co, Go(co, func(co *scheduler.Coroutine) (int, error) { return 0, errTest }))
					take(co, Failed[int](co, errTest))
				}))
			})
		})
	}
}

func TestFuture_CORO14_AwaitAfterTheFailureDeliversItAgainAndAgain(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Go(co, func(*scheduler.Coroutine) (int, error) { return 0, errTest })
		until(t, co, f.Completed)
		settle(t, co)
		for range 3 {
			_, err := f.Await(co)
			assert.Same(t, errTest, err)
		}
	})
}

func TestFuture_CORO16_ReportedWhenTheOwningScopeCompletes(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		var handled []error
		require.NoError(t, w.run(func(co *scheduler.Coroutine) {
			s, err := co.Scope().New()
			require.NoError(t, err)
			s.OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				handled = append(handled, err)
				return nil
			})
			Failed[int](s, errTest)
			settle(t, co)
			assert.Empty(t, handled, "not before the scope completes")
			require.NoError(t, s.Cancel(nil))
		}))
		require.Len(t, handled, 1)
		assert.ErrorIs(t, handled[0], errTest)
	})
}

func TestFuture_CORO16_AFailureWhileTheCancelledScopeWindsDown(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		err := w.run(func(co *scheduler.Coroutine) {
			s, err := co.Scope().New()
			require.NoError(t, err)
			Go(s, func(co *scheduler.Coroutine) (int, error) {
				_ = co.Delay(1e6 * ms)
				return 0, errTest
			})
			settle(t, co)
			require.NoError(t, s.Cancel(nil))
		})
		require.ErrorIs(t, err, errTest)
		assert.Equal(t, 1, unhandled(err))
	})
}

func TestFuture_CANC19_ACancelledOutcomeIsNeverUnhandled(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Go(co, func(co *scheduler.Coroutine) (int, error) { return 0, co.Delay(1e6 * ms) })
		settle(t, co)
		require.NoError(t, f.Cancel(errTest))
		Failed[int](co, &event.CancelledError{Reason: errTest})
	})
}

func TestFuture_UsedOnesAreNotKeptByTheScope(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Completed(co, 1)
		require.True(t, f.core.has(isOwned))
		_, _ = f.Await(co)
		assert.False(t, f.core.has(isOwned))
		g := Failed[int](co, errTest)
		g.AsEvent()
		assert.True(t, g.core.has(isOwned), "used, but its error is still nobody's")
		_ = g.Err()
		assert.False(t, g.core.has(isOwned))
		c, h := New[int](co)
		h.AsEvent()
		require.NoError(t, c.Complete(1))
		assert.False(t, h.core.has(isOwned))
	})
}
