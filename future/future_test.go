package future

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestFuture_FUT01_OneOutcomeForEverybody(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[string](co)
		mapped := Map(f, func(v string) (int, error) { return len(v), nil })
		got := 0
		for range 3 {
			spawn(t, co, func(co *scheduler.Coroutine) {
				v, err := f.Await(co)
				assert.NoError(t, err)
				assert.Equal(t, "ada", v)
				got++
			})
		}
		settle(t, co)
		require.NoError(t, c.Complete("ada"))
		until(t, co, func() bool { return got == 3 })
		n, err := mapped.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 3, n)

		for _, again := range []error{c.Complete("bob"), c.Fail(errTest)} {
			require.ErrorIs(t, again, event.ErrUsage)
			assert.ErrorContains(t, again, "already completed at")
		}
		v, err := f.Await(co)
		require.NoError(t, err)
		assert.Equal(t, "ada", v)
	})
}

func TestFuture_FUT01_OneErrorForEverybody(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[string](co)
		got := 0
		for range 3 {
			spawn(t, co, func(co *scheduler.Coroutine) {
				_, err := f.Await(co)
				assert.Equal(t, errTest, err)
				got++
			})
		}
		settle(t, co)
		require.NoError(t, c.Fail(errTest))
		until(t, co, func() bool { return got == 3 })
		assert.ErrorIs(t, c.Complete("late"), event.ErrUsage)
		assert.Equal(t, errTest, f.Err())
		assert.ErrorIs(t, c.Fail(nil), event.ErrInvalidArgument)
	})
}

func TestFuture_FUT01_AwaitersRunInTheOrderInWhichTheyCame(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		var order []int
		var waiting []*scheduler.Coroutine
		for i := range 5 {
			waiting = append(waiting, spawn(t, co, func(co *scheduler.Coroutine) {
				if _, err := f.Await(co); err == nil {
					order = append(order, i)
				}
			}))
		}
		settle(t, co)
		waiting[0].Cancel(nil) // the one that has no node
		waiting[3].Cancel(nil)
		settle(t, co)
		spawn(t, co, func(co *scheduler.Coroutine) {
			if _, err := f.Await(co); err == nil {
				order = append(order, 9)
			}
		})
		settle(t, co)
		require.NoError(t, c.Complete(1))
		settle(t, co)
		assert.Equal(t, []int{1, 2, 4, 9}, order)
		assert.Zero(t, f.core.interest)
	})
}

func TestFuture_FUT02_CancelSettlesAPendingOne(t *testing.T) {
	for name, reason := range map[string]error{"default reason": nil, "given reason": errTest} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
				c, f := New[int](co)
				var got error
				spawn(t, co, func(co *scheduler.Coroutine) { _, got = f.Await(co) })
				settle(t, co)
				require.NoError(t, f.Cancel(reason))
				assert.True(t, f.Completed())
				assert.True(t, f.Cancelled())
				settle(t, co)
				var cancelled *event.CancelledError
				require.ErrorAs(t, got, &cancelled)
				assert.Equal(t, reason, cancelled.Reason)
				assert.ErrorIs(t, got, context.Canceled)
				require.NoError(t, f.Cancel(errors.New("second")))
				assert.Same(t, cancelled, f.Err())
				err := c.Complete(1)
				require.ErrorIs(t, err, event.ErrUsage)
				assert.ErrorContains(t, err, "cancelled")
			})
		})
	}
}

func TestFuture_FUT02_CancelOfACompletedOneDoesNothing(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Completed(co, 7)
		require.NoError(t, f.Cancel(errTest))
		v, err := f.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 7, v)
		assert.False(t, f.Cancelled())
	})
}

func TestFuture_FUT02_TheCompleterIsToldOfACancel(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		for name, end := range map[string]func(f *Future[int]) error{
			"cancel":  func(f *Future[int]) error { return f.Cancel(nil) },
			"dispose": func(f *Future[int]) error { return f.Dispose() },
		} {
			c, f := New[int](co)
			told := 0
			c.OnCancel(func() {
				told++
				assert.False(t, f.Completed(), name)
			})
			require.NoError(t, end(f))
			require.NoError(t, end(f))
			assert.Equal(t, 1, told, name)
			assert.True(t, f.Cancelled(), name)
		}
		again, g := New[int](co)
		again.OnCancel(func() {
			assert.NoError(t, g.Cancel(errOther))
			assert.ErrorIs(t, again.Complete(1), event.ErrUsage)
		})
		require.NoError(t, g.Cancel(errTest))
		assert.ErrorIs(t, g.Err(), errOther, "GEN-10, GEN-07")

		c, f := New[int](co)
		c.OnCancel(func() { t.Error("it was completed") })
		require.NoError(t, c.Complete(1))
		c.OnCancel(func() { t.Error("it was completed") })
		require.NoError(t, f.Cancel(nil))
		assert.NoError(t, f.Err())
		require.NoError(t, f.Ignore())
	})
}

func TestFuture_FUT02_CancelReachesTheCoroutine(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var seen error
		f := Go(co, func(co *scheduler.Coroutine) (int, error) {
			seen = co.Delay(1e6 * ms)
			return 0, seen
		})
		settle(t, co)
		require.NoError(t, f.Cancel(errTest))
		assert.False(t, f.Completed(), "the coroutine has not ended")
		_, err := f.Await(co)
		assert.ErrorIs(t, err, errTest)
		assert.ErrorIs(t, seen, errTest)
		assert.True(t, f.Cancelled())
	})
}

func TestFuture_CANC05_AResultInSpiteOfTheCancellation(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Go(co, func(co *scheduler.Coroutine) (int, error) {
			_ = co.Delay(1e6 * ms)
			return 5, nil
		})
		settle(t, co)
		require.NoError(t, f.Cancel(nil))
		v, err := f.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 5, v)
		assert.False(t, f.Cancelled())
	})
}

func TestFuture_CANC02_CancelledBeforeItStarted(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Go(co, func(co *scheduler.Coroutine) (int, error) {
			t.Error("the body ran")
			return 0, nil
		})
		require.NoError(t, f.Cancel(errTest))
		_, err := f.Await(co)
		assert.ErrorIs(t, err, errTest)
		assert.True(t, f.Cancelled())
	})
}

func TestFuture_FUT03_CancelledIsAboutTheStoredError(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, pending := New[int](co)
		assert.False(t, pending.Cancelled())
		assert.False(t, Failed[int](co, errTest).Err() == nil)
		failed := Failed[int](co, errTest)
		assert.False(t, failed.Cancelled())
		assert.Equal(t, errTest, failed.Err())
		assert.True(t, Failed[int](co, &event.CancelledError{}).Cancelled())
		require.NoError(t, c.Fail(&event.CancelledError{Reason: errTest}))
		assert.True(t, pending.Cancelled())
		require.NoError(t, pending.Ignore())
	})
}

func TestFuture_FUT14_Locations(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		assert.Regexp(t, `future_test\.go:\d+$`, f.CreatedAt())
		assert.Empty(t, f.CompletedAt())
		require.NoError(t, c.Complete(1))
		assert.Regexp(t, `future_test\.go:\d+$`, f.CompletedAt())
		assert.NotEqual(t, f.CreatedAt(), f.CompletedAt())

		_, cancelled := New[struct{ a, b string }](co)
		require.NoError(t, cancelled.Cancel(nil))
		for name, at := range map[string]string{
			"cancelled":    cancelled.CreatedAt(),
			"cancelled at": cancelled.CompletedAt(),
			"map":          Map(f, func(int) (int, error) { return 0, nil }).CreatedAt(),
			"catch":        f.Catch(func(error) (int, error) { return 0, nil }).CreatedAt(),
			"finally":      f.Finally(func() error { return nil }).CreatedAt(),
			"go":           later(co, ms, 1, nil).CreatedAt(),
			"completed":    Completed(co, 1).CompletedAt(),
			"failed":       Failed[string](co, &event.CancelledError{}).CreatedAt(),
		} {
			assert.Regexp(t, `future/(future|world)_test\.go:\d+$`, at, name)
		}
		_, remote := NewRemote[int](co)
		assert.Contains(t, remote.CreatedAt(), "future_test.go:")
	})
}

func TestFuture_EVT16_Info(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[map[string]int](co)
		assert.Regexp(t, `^future\[map\[string\]int\] created at .*future_test.go:\d+, pending$`, f.Info())
		assert.Equal(t, f.Info(), f.AsEvent().Info())
		require.NoError(t, c.Complete(nil))
		assert.Regexp(t, `, completed$`, f.Info())
		assert.Regexp(t, `, completed: failed: test failure$`, ignored(Failed[int](co, errTest)).Info())
		assert.Regexp(t, `, completed: cancelled$`, Failed[int](co, &event.CancelledError{}).Info())
	})
}

func ignored[T any](f *Future[T]) *Future[T] {
	if err := f.Ignore(); err != nil {
		panic(err)
	}
	return f
}

func TestFuture_ResultNeverWaits(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		_, ok, err := f.Result()
		assert.False(t, ok)
		assert.NoError(t, err)
		assert.NoError(t, f.Err())
		require.NoError(t, c.Complete(3))
		v, ok, err := f.Result()
		assert.True(t, ok)
		assert.NoError(t, err)
		assert.Equal(t, 3, v)
	})
}

func TestFuture_Go_AFailedSpawnIsAFailedFuture(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		closed, err := co.Scope().New()
		require.NoError(t, err)
		require.NoError(t, closed.Cancel(nil))
		f := Go(closed, func(*scheduler.Coroutine) (int, error) { return 1, nil })
		_, err = f.Await(co)
		assert.ErrorIs(t, err, event.ErrUsage)
		_, err = Go[int](co, nil).Await(co)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

func TestFuture_Go_APanicIsTheOutcome(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, err := Go(co, func(*scheduler.Coroutine) (int, error) { panic("boom") }).Await(co)
		var p *event.PanicError
		require.ErrorAs(t, err, &p)
		assert.Equal(t, "boom", p.Value)
	})
}

func TestFuture_MisusePanics(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, f := New[int](co)
		var none *Future[int]
		for name, call := range map[string]func(){
			"New without owner":         func() { New[int](nil) },
			"NewRemote without owner":   func() { NewRemote[int](nil) },
			"Completed without owner":   func() { Completed(nil, 1) },
			"Failed without error":      func() { Failed[int](co, nil) },
			"Go without spawner":        func() { Go(nil, func(*scheduler.Coroutine) (int, error) { return 0, nil }) },
			"Map without function":      func() { Map[int, int](f, nil) },
			"Map without future":        func() { Map(none, func(int) (int, error) { return 0, nil }) },
			"Catch without function":    func() { f.Catch(nil) },
			"Finally without function":  func() { f.Finally(nil) },
			"FromEvent without event":   func() { FromEvent(co, nil) },
			"FromEvent without a scope": func() { FromEvent(nil, f) },
		} {
			assert.ErrorIs(t, panicked(call), event.ErrInvalidArgument, name)
		}
		_, err := none.Await(co)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

// panicked returns the error that call panics with.
func panicked(call func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	call()
	return nil
}
