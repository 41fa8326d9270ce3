package ours

import (
	"errors"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// PoolUncontended is the counterpart of goroutines.PoolUncontended.
func PoolUncontended(resources, n int) (measure.Sample, error) {
	return onPool(1, resources, n, func(co *scheduler.Coroutine, p *pool.Pool[int], times int, did *uint64) error {
		for range times {
			h, err := p.Acquire(co)
			if err != nil {
				return err
			}
			if err := h.Release(co); err != nil {
				return err
			}
			*did++
		}
		return nil
	})
}

// PoolContended is the counterpart of goroutines.PoolContended.
func PoolContended(waiters, resources, rounds int) (measure.Sample, error) {
	return onPool(waiters, resources, rounds, func(co *scheduler.Coroutine, p *pool.Pool[int], times int, did *uint64) error {
		for range times {
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
			*did++
		}
		return nil
	})
}

func onPool(n, resources, rounds int, body func(co *scheduler.Coroutine, p *pool.Pool[int], times int, did *uint64) error) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		p, err := pool.New(co, pool.Config[int]{
			Create: func(*scheduler.Coroutine) (int, error) { return 1, nil },
			Min:    resources, Max: resources,
		})
		if err != nil {
			return err
		}
		times := 1
		c := newCrowd(n, func(co *scheduler.Coroutine, _ int, did *uint64) error { return body(co, p, times, did) })
		err = c.measure(co, s, 1, func() { times = rounds })
		return errors.Join(err, p.Close(co))
	})
}
