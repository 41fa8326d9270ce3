package cosync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestMutex_LockingAgainIsRefusedInsteadOfADeadlock(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.Mutex
		require.NoError(t, m.Lock(co))
		err := m.Lock(co)
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.ErrorContains(t, err, `cosync: Mutex.Lock: coroutine 1 "main" holds the mutex already`)
		assert.False(t, m.TryLock(co))
		assert.Equal(t, cosync.MutexStats{Holder: co}, m.Stats())
		m.Unlock()
		assert.Equal(t, "mutex, not locked", m.Info())
	})
}

func TestMutex_UnlockByAnybodyButTheHolderPanics(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.Mutex
		refused(t, m.Unlock, "cosync: Mutex.Unlock: the mutex is not locked; ")
		s := &scene{t: t, co: co, o: &object{hold: func(co *coroutine, fn body) error { return m.With(co, fn) }}}
		s.hold()
		refused(t, m.Unlock, `held by coroutine 2 "holder", not by the caller; `)
		s.gate.open()
		s.yield()
		refused(t, m.Unlock, "not locked")
		assert.True(t, m.TryLock(co))
		m.Unlock()
	})
}

func TestMutex_WhoWasWokenHoldsItBeforeItRuns(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.Mutex
		require.NoError(t, m.Lock(co))
		next, err := co.Spawn(func(co *coroutine) error { return m.With(co, nothing) })
		require.NoError(t, err)
		require.NoError(t, co.Yield())
		m.Unlock()
		assert.Equal(t, cosync.MutexStats{Holder: next}, m.Stats())
		refused(t, m.Unlock, "held by coroutine 2")
		_, err = co.Await(next)
		require.NoError(t, err)
	})
}

func TestMutex_WithUnlocksHoweverTheFunctionEnds(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.Mutex
		assert.Equal(t, errBoom, m.With(co, func(*coroutine) error { return errBoom }))
		assert.Panics(t, func() { _ = m.With(co, func(*coroutine) error { panic("boom") }) })
		assert.ErrorIs(t, m.With(co, nil), event.ErrInvalidArgument)
		assert.True(t, m.TryLock(co))
		m.Unlock()
	})
}

func TestMutex_DEAD10_AHolderThatHasEndedIsNamed(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.Mutex
		_, err := co.Spawn(func(co *coroutine) error { return m.Lock(co) }, scheduler.Named("careless"))
		require.NoError(t, err)
		require.NoError(t, co.Yield())
		assert.Equal(t, `mutex, held by coroutine 2 "careless", which has ended`, m.Info())
	})
}

func TestMutex_LuckDoesNotStarveTheOthers(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var m cosync.Mutex
		ran := false
		_, err := co.Spawn(func(*coroutine) error { ran = true; return nil })
		require.NoError(t, err)
		for range 10_000 {
			require.NoError(t, m.Lock(co))
			m.Unlock()
		}
		assert.True(t, ran)
	})
}

// A callback has no coroutine, and nothing to unlock.
func TestMutex_ACallbackIsRefused(t *testing.T) {
	simulate(t, func(co *coroutine) error {
		var m cosync.Mutex
		require.NoError(t, m.Lock(co))
		called := false
		require.NoError(t, co.Scheduler().Microtask(func() error {
			refused(t, m.Unlock, "not by the caller")
			refused(t, func() { m.TryLock(co) }, "callback")
			called = true
			return nil
		}))
		require.NoError(t, co.Delay(1))
		assert.True(t, called)
		m.Unlock()
		return nil
	})
}

func TestMutex_AnErrorMayBeReturnedThroughWith(t *testing.T) {
	simulate(t, func(co *coroutine) error {
		var m cosync.Mutex
		one, err := co.Spawn(func(co *coroutine) error {
			return m.With(co, func(co *coroutine) error {
				if err := co.Cancel(errBoom); err != nil {
					return err
				}
				return co.Yield()
			})
		})
		require.NoError(t, err)
		_, err = co.Await(one)
		assert.ErrorIs(t, err, context.Canceled)
		assert.True(t, errors.Is(err, errBoom))
		assert.Nil(t, m.Stats().Holder)
		return nil
	})
}

// Two runs may both be the first: one of them is refused.
func TestCosync_GEN11_OfTwoRunsAtOnceOneIsRefused(t *testing.T) {
	for range 20 {
		var g cosync.WaitGroup
		results := make(chan error)
		for range 2 {
			go simulate(t, func(co *coroutine) error {
				results <- g.Wait(co)
				return nil
			})
		}
		first, second := <-results, <-results
		assert.True(t, (first == nil) != (second == nil), "%v, %v", first, second)
		assert.ErrorIs(t, errors.Join(first, second), event.ErrUsage)
	}
}
