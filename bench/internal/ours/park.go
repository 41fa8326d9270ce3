package ours

import (
	"errors"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
)

// Park is the counterpart of goroutines.Park.
func Park(n int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		arrived := 0
		release, released := future.New[struct{}](co)
		c := newCrowd(n, func(co *scheduler.Coroutine, _ int, did *uint64) error {
			arrived++
			_, err := released.Await(co)
			*did++
			return err
		})
		err := s.Weighed(func() error {
			if err := c.start(co); err != nil {
				return err
			}
			for arrived < n {
				if err := co.Yield(); err != nil {
					return err
				}
			}
			return nil
		})
		err = errors.Join(err, release.Complete(struct{}{}), c.wg.Wait(co))
		c.count(s)
		return err
	})
}
