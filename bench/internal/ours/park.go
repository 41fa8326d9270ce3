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
		p := newParked(co, n)
		err := s.Weighed(func() error { return p.start(co) })
		err = errors.Join(err, p.end(co))
		p.count(s)
		return err
	})
}

// parked is a crowd that waits for one future.
type parked struct {
	*crowd
	arrived int
	release *future.Completer[struct{}]
}

func newParked(co *scheduler.Coroutine, n int) *parked {
	release, released := future.New[struct{}](co)
	p := &parked{release: release}
	p.crowd = newCrowd(n, func(co *scheduler.Coroutine, _ int, did *uint64) error {
		p.arrived++
		_, err := released.Await(co)
		*did++
		return err
	})
	return p
}

// start returns when all of them wait.
func (p *parked) start(co *scheduler.Coroutine) error {
	if err := p.crowd.start(co); err != nil {
		return err
	}
	for p.arrived < len(p.bodies) {
		if err := co.Yield(); err != nil {
			return err
		}
	}
	return nil
}

// end returns when all of them have ended.
func (p *parked) end(co *scheduler.Coroutine) error {
	return errors.Join(p.release.Complete(struct{}{}), p.wg.Wait(co))
}
