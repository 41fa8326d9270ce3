package cosync_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// buyer starts a coroutine that acquires n and keeps them.
func buyer(s *scene, sem *cosync.Semaphore, name string, n int) *coroutine {
	co := s.spawn(name, func(co *coroutine) error {
		if err := sem.Acquire(co, n); err != nil {
			s.log = append(s.log, name+": "+short(err))
			return nil
		}
		s.log = append(s.log, name)
		return nil
	})
	s.yield()
	return co
}

func TestSemaphore_GEN04_ASmallOneDoesNotOvertakeABigOne(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		s, sem := &scene{t: t, co: co}, cosync.NewSemaphore(5)
		require.NoError(t, sem.Acquire(co, 3))
		buyer(s, sem, "big", 4)
		buyer(s, sem, "small", 1)
		assert.Equal(t, cosync.SemaphoreStats{Size: 5, Held: 3, Waiting: 2}, sem.Stats())
		assert.False(t, sem.TryAcquire(co, 1))
		sem.Release(1)
		s.yield()
		s.is()
		sem.Release(1)
		assert.Equal(t, cosync.SemaphoreStats{Size: 5, Held: 1, Promised: 4, Waiting: 1}, sem.Stats())
		assert.Equal(t, "semaphore, 0 of 5 free, the first in line wants 1", sem.Info())
		s.yield()
		s.is("big")
		sem.Release(1)
		s.yield()
		s.is("small")
		sem.Release(5)
		assert.Equal(t, cosync.SemaphoreStats{Size: 5}, sem.Stats())
	})
}

func TestSemaphore_GEN05_ABigOneThatLeavesLetsTheSmallOnesIn(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		s, sem := &scene{t: t, co: co}, cosync.NewSemaphore(5)
		require.NoError(t, sem.Acquire(co, 3))
		big := buyer(s, sem, "big", 4)
		buyer(s, sem, "one", 1)
		buyer(s, sem, "two", 1)
		buyer(s, sem, "three", 1)
		require.NoError(t, big.Cancel(nil))
		assert.Equal(t, cosync.SemaphoreStats{Size: 5, Held: 3, Promised: 2, Waiting: 1}, sem.Stats(), "in the same step")
		s.yield()
		s.is("big: cancelled", "one", "two")
		sem.Release(1)
		s.yield()
		s.is("three")
	})
}

func TestSemaphore_NobodyReleasesWhatIsNotHeld(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		s, sem := &scene{t: t, co: co}, cosync.NewSemaphore(3)
		refused(t, func() { sem.Release(1) }, "cosync: Semaphore.Release: only 0 of its permits are held, not 1; ")
		require.NoError(t, sem.Acquire(co, 3))
		buyer(s, sem, "a", 2)
		sem.Release(3)
		refused(t, func() { sem.Release(1) }, "only 0") // two are promised, which nobody holds yet
		s.yield()
		sem.Release(2)
		assert.Equal(t, cosync.SemaphoreStats{Size: 3}, sem.Stats())
	})
}

func TestSemaphore_REACT08_IllegalNumbers(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		sem := cosync.NewSemaphore(3)
		for _, n := range []int{-1, 0, 4} {
			assert.ErrorIs(t, sem.Acquire(co, n), event.ErrInvalidArgument)
			assert.ErrorIs(t, panicOf(func() { sem.TryAcquire(co, n) }), event.ErrInvalidArgument)
			assert.ErrorIs(t, panicOf(func() { sem.Release(n) }), event.ErrInvalidArgument)
		}
		for _, size := range []int{-1, 0} {
			assert.ErrorIs(t, panicOf(func() { cosync.NewSemaphore(size) }), event.ErrInvalidArgument)
		}
		assert.ErrorIs(t, sem.With(co, 1, nil), event.ErrInvalidArgument)
		var zero cosync.Semaphore
		assert.ErrorContains(t, zero.Acquire(co, 1), "make it with NewSemaphore")
		assert.Equal(t, cosync.SemaphoreStats{Size: 3}, sem.Stats())
	})
}

func panicOf(fn func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	fn()
	return nil
}

// Who holds permits is nobody's business, so callbacks can take and give them.
func TestSemaphore_CallbacksMayAcquireAndRelease(t *testing.T) {
	simulate(t, func(co *coroutine) error {
		sem := cosync.NewSemaphore(1)
		got := false
		require.NoError(t, co.Scheduler().Microtask(func() error {
			got = sem.TryAcquire(co.Scope(), 1)
			return nil
		}))
		require.NoError(t, co.Delay(1))
		assert.True(t, got)
		assert.ErrorIs(t, sem.Acquire(co, 1, scheduler.Timeout(1)), event.ErrTimeout)
		require.NoError(t, co.Scheduler().Microtask(func() error { sem.Release(1); return nil }))
		return sem.Acquire(co, 1)
	})
}
