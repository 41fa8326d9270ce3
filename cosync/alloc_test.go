package cosync_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// contended says what one more lock, wait and unlock allocates while partners do the same all the time. In the end relieve
// wakes those of them that nobody else will.
func contended(t *testing.T, co *coroutine, round body, relieve func()) float64 {
	stop := false
	var partners []*coroutine
	for range 3 {
		partner, err := co.Spawn(func(co *coroutine) error {
			for !stop {
				if err := round(co); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, err)
		partners = append(partners, partner)
	}
	require.NoError(t, co.Yield())
	n := testing.AllocsPerRun(200, func() { _ = round(co) })
	stop = true
	for _, partner := range partners {
		for !partner.Completed() {
			relieve()
			require.NoError(t, co.Yield())
		}
		require.NoError(t, partner.Error())
	}
	return n
}

func TestCosync_NoCallAllocates(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		limit := scheduler.Timeout(time.Hour)
		var m cosync.Mutex
		var rw cosync.RWMutex
		sem := cosync.NewSemaphore(3)
		var g cosync.WaitGroup
		var o cosync.Once
		require.NoError(t, o.Do(co, nothing))
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			_ = m.Lock(co, limit)
			m.Unlock()
			m.TryLock(co)
			m.Unlock()
			_ = m.With(co, nothing)
			_ = rw.Lock(co)
			rw.Unlock()
			_ = rw.RLock(co)
			rw.RUnlock()
			_ = sem.Acquire(co, 2)
			_ = sem.TryAcquire(co, 1)
			sem.Release(3)
			g.Add(1)
			g.Done()
			_ = g.Wait(co)
			_ = o.Do(co, nothing)
		}), "without waiting")

		assert.Zero(t, contended(t, co, func(co *coroutine) error {
			if err := m.Lock(co, limit); err != nil {
				return err
			}
			defer m.Unlock()
			return co.Yield()
		}, func() {}), "Mutex")
		assert.Zero(t, contended(t, co, func(co *coroutine) error {
			if err := rw.Lock(co); err != nil {
				return err
			}
			err := co.Yield()
			rw.Unlock()
			if err := rw.RLock(co); err != nil {
				return err
			}
			defer rw.RUnlock()
			return err
		}, func() {}), "RWMutex")
		assert.Zero(t, contended(t, co, func(co *coroutine) error {
			if err := sem.Acquire(co, 2); err != nil {
				return err
			}
			defer sem.Release(2)
			return co.Yield()
		}, func() {}), "Semaphore")
		assert.Zero(t, contended(t, co, func(co *coroutine) error {
			if g.Stats().Waiting == 2 {
				g.Done()
			} else if g.Stats().Count == 0 {
				g.Add(1)
				return co.Yield()
			}
			return g.Wait(co)
		}, func() { g.Add(-g.Stats().Count) }), "WaitGroup")
		c := cosync.NewCond(&m)
		assert.Zero(t, contended(t, co, func(co *coroutine) error {
			if err := m.Lock(co); err != nil {
				return err
			}
			defer m.Unlock()
			if c.Stats().Waiting == 0 {
				return c.Wait(co)
			}
			c.Signal()
			return co.Yield()
		}, c.Broadcast), "Cond")
	})
}
