package ours

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

type polls struct {
	loop *reactor.Loop
	s    *measure.Sample
	buf  [64]byte
	read []int // fds
	fill []int
	all  []*reactor.Poll
	err  error
}

func (p *polls) open(n int) error {
	for range n {
		var fds [2]int
		if err := syscall.Pipe2(fds[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
			return fmt.Errorf("pipe2: %w", err)
		}
		p.read = append(p.read, fds[0])
		p.fill = append(p.fill, fds[1])
	}
	return nil
}

func (p *polls) watch(fd int) error {
	poll, err := p.loop.NewPoll(fd, reactor.Readable)
	if err != nil {
		return err
	}
	p.all = append(p.all, poll)
	_, err = poll.Subscribe(func(_ *event.Base, _ *event.Callback, _ any, err error) { p.readable(fd, err) })
	if err != nil {
		return err
	}
	p.s.Starts++
	return poll.Start()
}

// readable reads with a raw system call: the fd never blocks, so the Go
// scheduler need not hear of it.
func (p *polls) readable(fd int, err error) {
	if err != nil {
		p.err = err
		return
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p.buf)), unsafe.Sizeof(p.buf))
	if errno != 0 {
		p.err = errno
		return
	}
	p.s.Events++
	p.s.Bytes += uint64(n)
}

// round times from readiness to the last byte read, not the writes.
func (p *polls) round() error {
	for _, fd := range p.fill {
		if _, err := syscall.Write(fd, []byte{'x'}); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	want := p.s.Events + uint64(len(p.fill))
	err := p.s.Timed(func() error {
		return turnUntil(p.loop, true, p.s, func() bool { return p.s.Events >= want || p.err != nil })
	})
	return errors.Join(err, p.err)
}

func (p *polls) run(n, rounds int) error {
	if err := p.open(n); err != nil {
		return err
	}
	for _, fd := range p.read {
		if err := p.watch(fd); err != nil {
			return err
		}
	}
	if err := p.round(); err != nil { // makes libuv register the fds, and warms up
		return err
	}
	settle()
	*p.s = measure.Sample{Work: measure.Work{Starts: p.s.Starts}}
	for range rounds {
		if err := p.round(); err != nil {
			return err
		}
	}
	return nil
}

func (p *polls) close() (err error) {
	for _, poll := range p.all {
		err = errors.Join(err, poll.Close())
	}
	for _, fd := range append(p.read, p.fill...) {
		err = errors.Join(err, syscall.Close(fd))
	}
	return err
}

// Poll is the counterpart of raw.Poll.
func Poll(n, rounds int) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) (err error) {
		p := &polls{loop: loop, s: s}
		defer func() { err = errors.Join(err, p.close()) }()
		return p.run(n, rounds)
	})
}
