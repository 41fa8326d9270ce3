package cosync_test

import (
	"testing"

	"github.com/uvasync/uvasync/cosync"
)

func bench(b *testing.B, round func(co *coroutine)) {
	simulate(b, func(co *coroutine) error {
		b.ReportAllocs()
		for b.Loop() {
			round(co)
		}
		return nil
	})
}

func BenchmarkMutex(b *testing.B) {
	var m cosync.Mutex
	bench(b, func(co *coroutine) { _ = m.Lock(co); m.Unlock() })
}

func BenchmarkRWMutex_RLock(b *testing.B) {
	var m cosync.RWMutex
	bench(b, func(co *coroutine) { _ = m.RLock(co); m.RUnlock() })
}

func BenchmarkSemaphore(b *testing.B) {
	s := cosync.NewSemaphore(2)
	bench(b, func(co *coroutine) { _ = s.Acquire(co, 1); s.Release(1) })
}

func BenchmarkMutex_HandedOver(b *testing.B) {
	var m cosync.Mutex
	simulate(b, func(co *coroutine) error {
		stop := false
		_, err := co.Spawn(func(co *coroutine) error {
			for !stop {
				_ = m.Lock(co)
				_ = co.Yield()
				m.Unlock()
			}
			return nil
		})
		b.ReportAllocs()
		for b.Loop() {
			_ = m.Lock(co)
			_ = co.Yield()
			m.Unlock()
		}
		stop = true
		return err
	})
}
