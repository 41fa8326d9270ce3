package cosync

import (
	"strconv"

	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Semaphore hands out a limited number of permits, one or several at a time. It does not know who has them: anybody on the
// loop may give them back. Make one with [NewSemaphore].
//
// The loop only.
type Semaphore struct {
	bound    bound
	size     int              // immutable
	held     int              // loop goroutine only
	promised int              // loop goroutine only; set aside for coroutines that were woken and have not run yet
	line     waitq.Queue[int] // loop goroutine only; the data is how many are wanted
}

// NewSemaphore makes a semaphore with so many permits, all free. It panics with an *event.InvalidArgumentError for less than
// 1. Any goroutine.
func NewSemaphore(size int) *Semaphore {
	if size < 1 {
		panic(invalid("cosync: NewSemaphore", "size", size, "it must be at least 1"))
	}
	return &Semaphore{size: size}
}

func (s *Semaphore) free() int { return s.size - s.held - s.promised }

// Acquire takes n permits, after those that have asked before: also when there are enough, but somebody who wants more was
// first. Errors: the cancellation of co; ErrTimeout and *event.CancelledError of the options; *event.InvalidArgumentError
// when n is not between 1 and the size; *event.UsageError. Only the coroutine itself may call it.
func (s *Semaphore) Acquire(co *scheduler.Coroutine, n int, opts ...scheduler.WaitOption) error {
	const call = "cosync: Semaphore.Acquire"
	if err := s.bound.enter(call, "semaphore", co); err != nil {
		return err
	}
	if err := s.checkNumber(call, n); err != nil {
		return err
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	if s.line.Waiting() == 0 && n <= s.free() {
		s.held += n
		co.Lucky()
		return nil
	}
	s.line.Init((*semaphoreLine)(s))
	w := s.line.Push(co, n)
	err := w.Park(call, opts...)
	w.Free()
	if err == nil {
		s.promised -= n
		s.held += n
	}
	return err
}

// TryAcquire takes n permits if there are enough and nobody waits, and reports whether it did. by is the coroutine that calls,
// or in a callback the scope that it acts for. It panics with an *event.InvalidArgumentError when n is not between 1 and the
// size, and with an *event.UsageError from another goroutine or for another run.
func (s *Semaphore) TryAcquire(by scheduler.Scoped, n int) bool {
	const call = "cosync: Semaphore.TryAcquire"
	run, err := schedulerOf(call, by)
	if err == nil {
		err = s.bound.join(call, "semaphore", run)
	}
	if err == nil {
		err = s.checkNumber(call, n)
	}
	if err != nil {
		panic(err)
	}
	if s.line.Waiting() > 0 || n > s.free() {
		return false
	}
	s.held += n
	return true
}

// Release gives n permits back. It panics with an *event.UsageError when fewer than n are held, and with an
// *event.InvalidArgumentError when n is not between 1 and the size.
func (s *Semaphore) Release(n int) {
	const call = "cosync: Semaphore.Release"
	s.bound.check(call)
	if err := s.checkNumber(call, n); err != nil {
		panic(err)
	}
	if n > s.held {
		panic(usage(call, "only "+strconv.Itoa(s.held)+" of its permits are held, not "+strconv.Itoa(n), "release what was acquired, once"))
	}
	s.held -= n
	s.serve()
}

func (s *Semaphore) checkNumber(call string, n int) error {
	if s.size == 0 {
		return usage(call, "the semaphore has no permits", "make it with NewSemaphore")
	}
	if n < 1 || n > s.size {
		return invalid(call, "number of permits", n, "it must be between 1 and the size, "+strconv.Itoa(s.size))
	}
	return nil
}

// serve sets permits aside for those in line, in order, as far as they go.
func (s *Semaphore) serve() {
	for w := s.line.First(); w != nil && w.Data <= s.free(); w = s.line.First() {
		s.promised += w.Data
		s.line.Reserve(w)
	}
}

// With runs fn with n permits, and returns what it returns, or the error of Acquire. They are released in whatever way fn
// ends.
func (s *Semaphore) With(co *scheduler.Coroutine, n int, fn func(co *scheduler.Coroutine) error, opts ...scheduler.WaitOption) error {
	if fn == nil {
		return noFunction("cosync: Semaphore.With")
	}
	if err := s.Acquire(co, n, opts...); err != nil {
		return err
	}
	defer s.Release(n)
	return fn(co)
}

// SemaphoreStats is what a semaphore is doing. What is neither held nor promised is free.
type SemaphoreStats struct {
	Size     int // of all permits
	Held     int // permits that were acquired
	Promised int // permits set aside for coroutines that were woken and have not run yet
	Waiting  int // coroutines that nothing is set aside for
}

// Stats returns what s is doing.
func (s *Semaphore) Stats() SemaphoreStats {
	s.bound.check("cosync: Semaphore.Stats")
	return SemaphoreStats{Size: s.size, Held: s.held, Promised: s.promised, Waiting: s.line.Waiting()}
}

// Info describes s for people: "semaphore, 1 of 3 free, the first in line wants 2".
func (s *Semaphore) Info() string {
	text := "semaphore, " + strconv.Itoa(s.free()) + " of " + strconv.Itoa(s.size) + " free"
	if w := s.line.First(); w != nil {
		text += ", the first in line wants " + strconv.Itoa(w.Data)
	}
	return text
}

// semaphoreLine is the owner of a semaphore's line.
type semaphoreLine Semaphore

func (l *semaphoreLine) Departed(w *waitq.Waiter[int], reserved bool) {
	s := (*Semaphore)(l)
	if reserved {
		s.promised -= w.Data
	}
	s.serve() // also when nothing was set aside: those behind may want less (GEN-05)
}

func (l *semaphoreLine) WaitInfo() string { return (*Semaphore)(l).Info() }
