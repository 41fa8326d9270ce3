package ours

import (
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
)

// Wake is the counterpart of goroutines.Wake.
func Wake(wakes int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		p := &pair{times: 1}
		c := newCrowd(2, p.body)
		p.wait(co, 1)
		err := c.measure(co, s, 1, func() { p.times, p.made = wakes, 0 })
		s.Starts += p.made
		return err
	})
}

// pair is two coroutines that wake each other in turns.
type pair struct {
	waits [2]*future.Completer[struct{}]
	times int
	made  uint64
}

func (p *pair) wait(co *scheduler.Coroutine, me int) *future.Future[struct{}] {
	var f *future.Future[struct{}]
	p.waits[me], f = future.New[struct{}](co)
	p.made++
	return f
}

func (p *pair) body(co *scheduler.Coroutine, me int, woken *uint64) error {
	f := p.waits[1].Future() // made by whoever came before
	for range p.times {
		if me == 0 {
			f = p.wait(co, 0)
			if err := p.waits[1].Complete(struct{}{}); err != nil {
				return err
			}
		}
		if _, err := f.Await(co); err != nil {
			return err
		}
		*woken++
		if me == 1 {
			f = p.wait(co, 1)
			if err := p.waits[0].Complete(struct{}{}); err != nil {
				return err
			}
		}
	}
	return nil
}
