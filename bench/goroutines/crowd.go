// Package goroutines is the baseline of the coroutines: for each case what a
// competent user of Go would write with goroutines, channels and package sync.
// Nothing in it knows of the library.
package goroutines

import (
	"runtime"
	"sync"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// crowd is a number of goroutines that are started together and waited for.
// Their functions exist before the timed part: go then costs no closure.
type crowd struct {
	wg     sync.WaitGroup
	bodies []func()
	did    []uint64 // what each has done so far; its own only, so that counting costs no atomic
	starts uint64
}

// newCrowd has body called with the number of the goroutine and its count.
func newCrowd(n int, body func(i int, did *uint64)) *crowd {
	c := &crowd{bodies: make([]func(), n), did: make([]uint64, n)}
	for i := range c.bodies {
		c.bodies[i] = func() {
			body(i, &c.did[i])
			c.wg.Done()
		}
	}
	return c
}

func (c *crowd) start() {
	c.wg.Add(len(c.bodies))
	for _, body := range c.bodies {
		go body()
		c.starts++
	}
}

// round starts the crowd and waits for it.
func (c *crowd) round() error {
	c.start()
	c.wg.Wait()
	return nil
}

// measure times so many rounds. begin is called before the first that counts.
func (c *crowd) measure(s *measure.Sample, rounds int, begin func()) error {
	err := warmed(s, rounds, c.round, func() {
		c.starts = 0
		clear(c.did)
		begin()
	})
	c.count(s)
	return err
}

// warmed times so many rounds after one for nothing, with which their
// goroutines start from others that have ended: the runtime keeps those. begin
// is called between the two. The collection comes first: it would take the
// stacks of those that have ended.
func warmed(s *measure.Sample, rounds int, round func() error, begin func()) error {
	runtime.GC()
	if err := round(); err != nil {
		return err
	}
	begin()
	return s.Timed(func() error {
		for range rounds {
			if err := round(); err != nil {
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
