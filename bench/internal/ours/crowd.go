package ours

import (
	"context"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

// inRun gives fn a run of its own for one round; fn is its main coroutine.
func inRun(fn func(*scheduler.Coroutine, *measure.Sample) error) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) error {
		run := scheduler.New(loop, scheduler.Options{})
		return run.Run(context.Background(), func(co *scheduler.Coroutine) error { return fn(co, s) })
	})
}

// crowd is a number of coroutines that are started together and waited for. It
// is made like that of package goroutines, so that the two measure the same.
type crowd struct {
	wg     cosync.WaitGroup
	bodies []func(*scheduler.Coroutine) error
	did    []uint64 // what each has done so far
	starts uint64
}

// newCrowd has body called with the number of the coroutine and its count.
func newCrowd(n int, body func(co *scheduler.Coroutine, i int, did *uint64) error) *crowd {
	c := &crowd{bodies: make([]func(*scheduler.Coroutine) error, n), did: make([]uint64, n)}
	for i := range c.bodies {
		c.bodies[i] = func(co *scheduler.Coroutine) error {
			err := body(co, i, &c.did[i])
			c.wg.Done()
			return err
		}
	}
	return c
}

func (c *crowd) start(co *scheduler.Coroutine) error {
	c.wg.Add(len(c.bodies))
	for _, body := range c.bodies {
		if _, err := co.Spawn(body); err != nil {
			return err
		}
		c.starts++
	}
	return nil
}

// round starts the crowd and waits for it.
func (c *crowd) round(co *scheduler.Coroutine) error {
	if err := c.start(co); err != nil {
		return err
	}
	return c.wg.Wait(co)
}

// measure times so many rounds. begin is called before the first that counts.
func (c *crowd) measure(co *scheduler.Coroutine, s *measure.Sample, rounds int, begin func()) error {
	err := warmed(co, s, rounds, c.round, func() {
		c.starts = 0
		clear(c.did)
		begin()
	})
	c.count(s)
	return err
}

// warmed times so many rounds after one for nothing, with which their
// coroutines start on the contexts of others that have ended. begin is called
// between the two.
func warmed(co *scheduler.Coroutine, s *measure.Sample, rounds int, round func(*scheduler.Coroutine) error, begin func()) error {
	settle()
	if err := round(co); err != nil {
		return err
	}
	begin()
	return s.Timed(func() error {
		for range rounds {
			if err := round(co); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *crowd) count(s *measure.Sample) {
	s.Starts += c.starts
	for _, n := range c.did {
		s.Events += n
	}
}
