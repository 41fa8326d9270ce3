package ours

import (
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/scheduler"
)

// Delay is the counterpart of goroutines.Delay.
func Delay(delays []uint64) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		c := newCrowd(len(delays), func(co *scheduler.Coroutine, i int, did *uint64) error {
			err := co.Delay(time.Duration(delays[i]))
			*did++
			return err
		})
		return c.measure(co, s, 1, func() {})
	})
}
