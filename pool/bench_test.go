package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// benchmarked runs body in a run of its own, in which the real clock ends slices.
func benchmarked(b *testing.B, body func(co *scheduler.Coroutine) error) {
	r := simreactor.New(1)
	defer r.Close()
	if err := scheduler.New(r, scheduler.Options{Slice: time.Hour}).Run(context.Background(), body); err != nil {
		b.Fatal(err)
	}
}

func numbers(n int) pool.Config[int] {
	return pool.Config[int]{Min: n, Max: n, Create: func(*scheduler.Coroutine) (int, error) { return 1, nil }}
}

func BenchmarkPool_Uncontended(b *testing.B) {
	benchmarked(b, func(co *scheduler.Coroutine) error {
		p, err := pool.New(co, numbers(10))
		if err != nil {
			return err
		}
		b.ReportAllocs()
		for b.Loop() {
			h, err := p.Acquire(co)
			if err != nil {
				return err
			}
			if err := h.Release(co); err != nil {
				return err
			}
		}
		return p.Close(co)
	})
}

func BenchmarkPool_Contended(b *testing.B) {
	benchmarked(b, func(co *scheduler.Coroutine) error {
		p, err := pool.New(co, numbers(10))
		if err != nil {
			return err
		}
		b.ReportAllocs()
		const crowd = 1000
		rounds := 1 + b.N/crowd
		b.ResetTimer()
		for range crowd {
			_, err := co.Spawn(func(co *scheduler.Coroutine) error {
				for range rounds {
					h, err := p.Acquire(co)
					if err != nil {
						return err
					}
					if err := co.Yield(); err != nil {
						return err
					}
					if err := h.Release(co); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
