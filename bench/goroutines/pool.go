package goroutines

import (
	"context"
	"errors"
	"runtime"

	"github.com/jackc/puddle/v2"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// PoolUncontended has one goroutine take a resource from a pool of so many and
// give it back, n times.
func PoolUncontended(resources, n int) (measure.Sample, error) {
	return onPool(1, resources, n, func(p *puddle.Pool[int], times int, did *uint64) error {
		for range times {
			r, err := p.Acquire(context.Background())
			if err != nil {
				return err
			}
			r.Release()
			*did++
		}
		return nil
	})
}

// PoolContended has more goroutines than there are resources take one, step
// aside once while they have it, and give it back, so many rounds each.
func PoolContended(waiters, resources, rounds int) (measure.Sample, error) {
	return onPool(waiters, resources, rounds, func(p *puddle.Pool[int], times int, did *uint64) error {
		for range times {
			r, err := p.Acquire(context.Background())
			if err != nil {
				return err
			}
			runtime.Gosched()
			r.Release()
			*did++
		}
		return nil
	})
}

func onPool(n, resources, rounds int, body func(p *puddle.Pool[int], times int, did *uint64) error) (s measure.Sample, err error) {
	p, err := fullPool(resources)
	if err != nil {
		return s, err
	}
	defer p.Close()
	times := 1
	failed := make([]error, n) // each goroutine has its own
	c := newCrowd(n, func(i int, did *uint64) { failed[i] = errors.Join(failed[i], body(p, times, did)) })
	err = c.measure(&s, 1, func() { times = rounds })
	return s, errors.Join(err, errors.Join(failed...))
}

// fullPool has all its resources from the beginning: what making one costs is
// not asked.
func fullPool(resources int) (*puddle.Pool[int], error) {
	p, err := puddle.NewPool(&puddle.Config[int]{
		Constructor: func(context.Context) (int, error) { return 1, nil },
		Destructor:  func(int) {},
		MaxSize:     int32(resources),
	})
	if err != nil {
		return nil, err
	}
	for range resources {
		if err := p.CreateResource(context.Background()); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}
