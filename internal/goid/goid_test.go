package goid

import (
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// both runs a test with Get and with the way that other architectures take.
func both(t *testing.T, body func(t *testing.T, get func() uintptr)) {
	t.Run("Get", func(t *testing.T) { body(t, Get) })
	t.Run("portable", func(t *testing.T) { body(t, portable) })
}

func TestGet_IsNeverZeroAndTheSameInEveryCallOfAGoroutine(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		assert.NotZero(t, get())
		assert.Equal(t, get(), get())
		assert.Equal(t, get(), func() uintptr { return get() }())
	})
}

func TestGet_DiffersAmongGoroutinesThatAreAlive(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		const n = 1000
		ids := make([]uintptr, n)
		var all, ended sync.WaitGroup
		all.Add(n)
		for i := range ids {
			ended.Go(func() {
				ids[i] = get()
				all.Done()
				all.Wait() // nobody ends before the last one has asked
			})
		}
		ended.Wait()
		owner := map[uintptr]int{get(): -1}
		for i, id := range ids {
			other, taken := owner[id]
			require.False(t, taken, "goroutines %d and %d are both %#x", i, other, id)
			owner[id] = i
		}
	})
}

func TestGet_DiffersInTheBodyOfAnIterPull(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		next, stop := iter.Pull(func(yield func(uintptr) bool) {
			for yield(get()) {
			}
		})
		defer stop()
		first, _ := next()
		assert.NotEqual(t, get(), first)
		var resumer sync.WaitGroup
		resumer.Go(func() {
			second, _ := next()
			assert.Equal(t, first, second, "it is its own, not that of whoever resumes it")
		})
		resumer.Wait()
	})
}

// changes counts how often get answers anything but what it answered first, while act runs n times.
func changes(n int, get func() uintptr, act func()) int {
	first, changed := get(), 0
	for range n {
		act()
		if get() != first {
			changed++
		}
	}
	return changed
}

func TestGet_StaysWhenGoroutinesTakeTurnsOnTheThreads(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		var group sync.WaitGroup
		for range 4 * runtime.GOMAXPROCS(0) {
			group.Go(func() {
				assert.Zero(t, changes(200, get, runtime.Gosched))
			})
		}
		group.Wait()
	})
}

func TestGet_StaysWhenTheGoroutineIsPreempted(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		// More goroutines that never yield than there are processors, and a collector that stops them all the time.
		var group sync.WaitGroup
		for range runtime.GOMAXPROCS(0) + 1 {
			group.Go(func() {
				sink := 0
				assert.Zero(t, changes(20, get, func() {
					for i := range 100_000 {
						sink += i
					}
				}))
				runtime.KeepAlive(sink)
			})
		}
		for range 5 {
			runtime.GC()
		}
		group.Wait()
	})
}

func TestGet_StaysWhenTheGoroutineChangesItsThread(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		assert.Zero(t, changes(100, get, func() {
			runtime.LockOSThread()
			var other sync.WaitGroup
			other.Go(func() {}) // has to run on another thread
			other.Wait()
			runtime.UnlockOSThread()
		}))
	})
}

//go:noinline
func deep(n int, get func() uintptr, want uintptr) bool {
	var frame [256]byte
	frame[n%len(frame)] = 1
	return get() == want && (n == 0 || deep(n-1, get, want)) && frame[n%len(frame)] == 1
}

func TestGet_StaysWhenTheStackMoves(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		var group sync.WaitGroup
		group.Go(func() { // with a new stack, the smallest one
			first := get()
			assert.True(t, deep(2000, get, first), "while it grows to most of a megabyte")
			runtime.GC() // shrinks it
			runtime.GC()
			assert.Equal(t, first, get())
		})
		group.Wait()
	})
}

func TestGet_StaysWhenGarbageIsCollected(t *testing.T) {
	both(t, func(t *testing.T, get func() uintptr) {
		assert.Zero(t, changes(10, get, runtime.GC))
	})
}

func TestGet_AllocatesNothing(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(1000, func() { _ = Get() }))
}

func BenchmarkGet(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = Get()
	}
}

func BenchmarkPortable(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = portable()
	}
}
