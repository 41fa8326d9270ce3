package ours

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

const never = 1_000_000 * time.Second

type startCloser interface {
	Subscribe(event.Func) (*event.Callback, error)
	Start() error
	Close() error
}

// closer creates, starts and closes handles of one type.
type closer struct {
	loop *reactor.Loop
	s    *measure.Sample
	add  func(i int) (startCloser, error)
	kind cuv.Kind
	all  []startCloser
}

func (c *closer) addAll(n int) error {
	fired := func(*event.Base, *event.Callback, any, error) { c.s.Events++ }
	for i := range n {
		h, err := c.add(i)
		if err != nil {
			return err
		}
		c.all[i] = h
		if _, err := h.Subscribe(fired); err != nil {
			return err
		}
		if err := h.Start(); err != nil {
			return err
		}
		c.s.Starts++
	}
	return nil
}

// round has a turn between start and close, as the C side does: it puts every
// handle in place.
func (c *closer) round(n int) error {
	if err := c.addAll(n); err != nil {
		return err
	}
	if _, err := c.loop.Tick(false); err != nil {
		return err
	}
	for _, h := range c.all {
		if err := h.Close(); err != nil {
			return err
		}
	}
	return turnUntil(c.loop, false, c.s, func() bool {
		c.s.Closes = closed(c.loop, c.kind)
		return c.s.Closes >= c.s.Starts
	})
}

func (c *closer) run(n, rounds int) error {
	c.all = make([]startCloser, n)
	return c.s.Timed(func() error {
		for range rounds {
			if err := c.round(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// CloseTimers is the counterpart of raw.CloseTimers.
func CloseTimers(n, rounds int) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) error {
		c := &closer{loop: loop, s: s, kind: cuv.KindTimer}
		c.add = func(int) (startCloser, error) { return loop.NewTimer(never) }
		return c.run(n, rounds)
	})
}

// ClosePolls is the counterpart of raw.ClosePolls.
func ClosePolls(n, rounds int) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) (err error) {
		var fds []int
		defer func() {
			for _, fd := range fds {
				err = errors.Join(err, syscall.Close(fd))
			}
		}()
		for range n {
			fd, _, errno := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
			if errno != 0 {
				return fmt.Errorf("eventfd: %w", errno)
			}
			fds = append(fds, int(fd))
		}
		c := &closer{loop: loop, s: s, kind: cuv.KindPoll}
		c.add = func(i int) (startCloser, error) { return loop.NewPoll(fds[i], reactor.Readable) }
		return c.run(n, rounds)
	})
}
