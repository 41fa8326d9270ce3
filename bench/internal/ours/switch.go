package ours

import (
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/scheduler"
)

// Switch is the counterpart of goroutines.Switch.
func Switch(n, yields int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		times := 1
		c := newCrowd(n, func(co *scheduler.Coroutine, _ int, did *uint64) error {
			for range times {
				if err := co.Yield(); err != nil {
					return err
				}
				*did++
			}
			return nil
		})
		return c.measure(co, s, 1, func() { times = yields })
	})
}
