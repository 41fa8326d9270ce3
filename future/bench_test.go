package future

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

func inBench(b *testing.B, body func(co *scheduler.Coroutine)) {
	l := newLoop(b)
	require.NoError(b, scheduler.New(l, scheduler.Options{}).Run(b.Context(), func(co *scheduler.Coroutine) error {
		body(co)
		return nil
	}))
}

func BenchmarkNewAndComplete(b *testing.B) {
	inBench(b, func(co *scheduler.Coroutine) {
		for b.Loop() {
			c, f := New[int](co)
			f.core.use()
			_ = c.Complete(1)
		}
	})
}

func BenchmarkAwaitCompleted(b *testing.B) {
	inBench(b, func(co *scheduler.Coroutine) {
		f := Completed(co, 1)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = f.Await(co)
		}
	})
}

// Two coroutines: each waits for a new future that the other completes.
func BenchmarkWake(b *testing.B) {
	inBench(b, func(co *scheduler.Coroutine) {
		b.ReportAllocs()
		var theirs *Completer[int]
		end := false
		c, f := New[int](co)
		_, _ = co.Spawn(func(co *scheduler.Coroutine) error {
			for !end {
				var mine *Future[int]
				theirs, mine = New[int](co)
				_ = c.Complete(1)
				_, _ = mine.Await(co)
			}
			return nil
		})
		n := 0
		for b.Loop() {
			if n > 0 {
				c, f = New[int](co)
				_ = theirs.Complete(1)
			}
			n++
			_, _ = f.Await(co)
		}
		end = true
		_ = theirs.Complete(1)
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*n), "ns/wake")
	})
}

// The same with goroutines and channels that are closed.
func BenchmarkWakeGoroutines(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.ReportAllocs()
	var theirs, ours chan struct{}
	ours = make(chan struct{})
	end := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !end {
			mine := make(chan struct{})
			theirs = mine
			close(ours)
			<-mine
		}
	}()
	n := 0
	for b.Loop() {
		c := ours
		if n > 0 {
			c = make(chan struct{})
			ours = c
			close(theirs)
		}
		n++
		<-c
	}
	end = true
	close(theirs)
	<-done
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*n), "ns/wake")
}

func BenchmarkGo(b *testing.B) {
	inBench(b, func(co *scheduler.Coroutine) {
		b.ReportAllocs()
		fn := func(*scheduler.Coroutine) (int, error) { return 1, nil }
		for b.Loop() {
			_, _ = Go(co, fn).Await(co)
		}
	})
}

func BenchmarkAwaitAll100(b *testing.B) {
	inBench(b, func(co *scheduler.Coroutine) {
		b.ReportAllocs()
		var cs [100]*Completer[int]
		var fs [100]*Future[int]
		for b.Loop() {
			for i := range fs {
				cs[i], fs[i] = New[int](co)
			}
			_, _ = co.Spawn(func(*scheduler.Coroutine) error {
				for _, c := range cs {
					_ = c.Complete(1)
				}
				return nil
			})
			_, _ = AwaitAllOrFail(co, Of(fs[:]...))
		}
	})
}

func BenchmarkYield(b *testing.B) {
	inBench(b, func(co *scheduler.Coroutine) {
		end := false
		_, _ = co.Spawn(func(co *scheduler.Coroutine) error {
			for !end {
				_ = co.Yield()
			}
			return nil
		})
		for b.Loop() {
			_ = co.Yield()
		}
		end = true
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/switch")
	})
}
