package future

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestAwait_AWAIT01_ASettledOneAtOnceAnyNumberOfTimes(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		other := false
		spawn(t, co, func(*scheduler.Coroutine) { other = true })
		f, failed, null := Completed(co, 5), Failed[int](co, errTest), Completed[*int](co, nil)
		for range 3 {
			v, err := f.Await(co)
			assert.NoError(t, err)
			assert.Equal(t, 5, v)
			_, err = failed.Await(co)
			assert.Same(t, errTest, err)
			p, err := null.Await(co)
			assert.NoError(t, err)
			assert.Nil(t, p)
		}
		assert.False(t, other, "it did not yield")
	})
}

func TestAwait_AWAIT01_NobodyRunsForEverOnIt(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		other := false
		spawn(t, co, func(*scheduler.Coroutine) { other = true })
		f := Completed(co, 1)
		for range 100_000 {
			if _, err := f.Await(co); err != nil || other {
				break
			}
		}
		assert.True(t, other)
	})
}

func TestAwait_AWAIT01_NoAllocation(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		type big struct{ a, b, c string }
		f, failed := Completed(co, big{"a", "b", "c"}), Failed[string](co, errTest)
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			_, _ = f.Await(co)
			_, _ = failed.Await(co)
			_, _ = f.Await(co, scheduler.Timeout(ms))
		}))
	})
}

func TestAwait_TheWaitItselfAllocatesNothing(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		var c *Completer[int]
		var f *Future[int]
		end := false
		spawn(t, co, func(co *scheduler.Coroutine) {
			for !end {
				_ = c.Complete(1)
				_ = co.Yield()
			}
		})
		for range 10 {
			c, f = New[int](co)
			_, _ = f.Await(co)
		}
		assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
			c, f = New[int](co)
			if _, err := f.Await(co); err != nil {
				t.Error(err)
			}
		}), "the future and its completer")
		end = true
	})
}

func TestAwait_AWAIT02_ALaterFailureReachesEveryAwaiter(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := later(co, ms, 0, errTest)
		got := 0
		for range 3 {
			spawn(t, co, func(co *scheduler.Coroutine) {
				_, err := f.Await(co)
				assert.Same(t, errTest, err)
				got++
			})
		}
		_, err := f.Await(co)
		assert.Same(t, errTest, err)
		settle(t, co)
		assert.Equal(t, 3, got)
	})
}

func TestAwait_AWAIT03_TheTargetsOutcomeWins(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		token := Completed(co, "over")
		v, err := Completed(co, 1).Await(co, scheduler.Token(token))
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		_, err = Failed[int](co, errTest).Await(co, scheduler.Token(token))
		assert.Same(t, errTest, err)
		values, err := AwaitAllOrFail(co, Of(Completed(co, 1)), scheduler.Token(token))
		require.NoError(t, err)
		assert.Equal(t, []int{1}, values.Values())
	})
}

func TestAwait_AWAIT04_TargetAndTokenTheSame(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		for _, first := range []bool{true, false} {
			f := later(co, ms, 6, nil)
			if !first { // somebody else is the first to wait
				spawn(t, co, func(co *scheduler.Coroutine) { _, _ = f.Await(co) })
				settle(t, co)
			}
			v, err := f.Await(co, scheduler.Token(f))
			require.NoError(t, err)
			assert.Equal(t, 6, v)
		}
	})
}

func TestAwait_CANC00_TheCancellationComesFirst(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Completed(co, 1)
		var errs []error
		a := spawn(t, co, func(co *scheduler.Coroutine) {
			_ = co.Delay(1e6 * ms)
			_, err := f.Await(co)
			errs = append(errs, err)
			_, _, err = AwaitAll(co, Of(f))
			errs = append(errs, err)
			errs = append(errs, ForEach(co, count(3), func(*scheduler.Coroutine, int) error { return nil }))
		})
		settle(t, co)
		require.NoError(t, a.Cancel(errTest))
		until(t, co, a.Completed)
		require.Len(t, errs, 3)
		for _, err := range errs {
			assert.ErrorIs(t, err, errTest)
		}
	})
}

func TestAwait_TimeoutAndIllegalOptions(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, f := New[int](co)
		_, err := f.Await(co, scheduler.Timeout(ms))
		assert.ErrorIs(t, err, event.ErrTimeout)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, listeners(f))
		_, err = f.Await(co, scheduler.Timeout(0))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = Completed(co, 1).Await(co, scheduler.Timeout(-1))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, _, err = AwaitAll(co, Of(f), scheduler.Timeout(0))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

func TestAwait_CORO30_TheWrongCoroutine(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		f := Completed(co, 1)
		_, err := f.Await(nil)
		assert.ErrorIs(t, err, event.ErrUsage)
		_, _, err = AwaitAll(nil, Of(f))
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.ErrorIs(t, ForEach(nil, count(1), func(*scheduler.Coroutine, int) error { return nil }), event.ErrUsage)
		spawn(t, co, func(*scheduler.Coroutine) {
			_, err := f.Await(co)
			assert.ErrorIs(t, err, event.ErrUsage)
		})
		settle(t, co)
	})
}
