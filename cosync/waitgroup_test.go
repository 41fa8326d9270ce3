package cosync_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestWaitGroup_GoCountsUntilTheCoroutineHasEnded(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var g cosync.WaitGroup
		var keep gate
		ended := 0
		for _, fn := range []body{
			func(*coroutine) error { ended++; return nil },
			func(co *coroutine) error { err := keep.pass(co); ended++; return err },
		} {
			_, err := g.Go(co, fn)
			require.NoError(t, err)
		}
		assert.Equal(t, cosync.WaitGroupStats{Count: 2}, g.Stats())
		require.NoError(t, co.Yield())
		require.NoError(t, co.Yield())
		assert.Equal(t, cosync.WaitGroupStats{Count: 1}, g.Stats())
		assert.ErrorIs(t, g.Wait(co, scheduler.Timeout(1)), event.ErrTimeout)
		keep.open()
		require.NoError(t, g.Wait(co))
		assert.Equal(t, 2, ended)
		assert.Equal(t, "wait group, 0 still to be done", g.Info())
		require.NoError(t, g.Wait(co), "again")
	})
}

func TestWaitGroup_CANC02_GoCountsACoroutineThatNeverStarts(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var g cosync.WaitGroup
		never, err := g.Go(co, func(*coroutine) error { t.Error("it ran"); return nil })
		require.NoError(t, err)
		require.NoError(t, never.Cancel(nil))
		require.NoError(t, g.Wait(co))
	})
}

func TestWaitGroup_AFailureInGoIsThatOfACoroutine(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *coroutine) error {
			var g cosync.WaitGroup
			scope, err := co.Scope().New()
			require.NoError(t, err)
			var failed []error
			scope.OnError(func(_ *scheduler.Scope, _ *coroutine, err error) error {
				failed = append(failed, err)
				return nil
			})
			_, err = g.Go(scope, func(*coroutine) error { return errBoom })
			require.NoError(t, err)
			_, err = g.Go(scope, func(*coroutine) error { panic("boom") })
			require.NoError(t, err)
			require.NoError(t, g.Wait(co))
			require.Len(t, failed, 2)
			assert.Equal(t, errBoom, failed[0])
			var panicked *event.PanicError
			assert.ErrorAs(t, failed[1], &panicked)
			_, err = g.Go(co, func(*coroutine) error { return errBoom })
			require.NoError(t, err)
			return nil
		})
		assert.True(t, errors.Is(err, errBoom), "%v", err)
	})
}

func TestWaitGroup_GoThatIsRefusedCountsNothing(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var g cosync.WaitGroup
		_, err := g.Go(co, nil)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = g.Go(nil, nothing)
		assert.ErrorIs(t, err, event.ErrUsage)
		scope, err := co.Scope().New()
		require.NoError(t, err)
		require.NoError(t, panicOf(func() { scope.Cancel(nil) }))
		_, err = g.Go(scope, nothing)
		assert.Error(t, err)
		assert.Equal(t, cosync.WaitGroupStats{}, g.Stats())
	})
}

func TestWaitGroup_TheNumberIsNeverNegative(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var g cosync.WaitGroup
		refused(t, g.Done, "cosync: WaitGroup.Done: only 0 are still to be done; ")
		g.Add(2)
		refused(t, func() { g.Add(-3) }, "only 2")
		refused(t, func() { g.Add(math.MinInt) }, "only 2")
		refused(t, func() { g.Add(math.MaxInt) }, "too many")
		g.Add(-2)
		g.Add(0)
		require.NoError(t, g.Wait(co))
	})
}

func TestWaitGroup_WhoWasWokenGoesOnEvenIfMoreIsAdded(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var g cosync.WaitGroup
		g.Add(1)
		waiter, err := co.Spawn(func(co *coroutine) error { return g.Wait(co) })
		require.NoError(t, err)
		require.NoError(t, co.Yield())
		g.Done()
		g.Add(1)
		_, err = co.Await(waiter)
		require.NoError(t, err)
		g.Done()
	})
}
