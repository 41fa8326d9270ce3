package scheduler

import (
	"runtime"
	"time"
)

// watch starts the watchdog: a goroutine that tells the logger when a coroutine, or a callback, has not come back to the
// scheduler for long. stop ends it.
func (s *Scheduler) watch() (stop func()) {
	limit := s.opts.Watchdog
	if limit <= 0 {
		return func() {}
	}
	if r, ok := s.reactor.(waker); ok { // a simulation never waits
		s.wakes = true
		r.OnWake(s.wake)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(max(limit/4, time.Millisecond))
		defer tick.Stop()
		var since time.Time // when the present hold was first seen
		told := time.Duration(0)
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if s.blocked.Load() || !s.poked.Load() || since.IsZero() {
				s.poked.Store(true)
				since, told = time.Now(), 0
				continue
			}
			if held := time.Since(since); held >= limit && held >= 2*told {
				told = held
				s.tellLate(held)
			}
		}
	}()
	return func() {
		if r, ok := s.reactor.(waker); ok {
			r.OnWake(nil)
		}
		close(quit)
		<-done
	}
}

// waker is a reactor that says when it has waited, before it calls anybody.
type waker interface{ OnWake(fn func()) }

// wake says that the loop does not wait for events any more.
func (s *Scheduler) wake() {
	s.blocked.Store(false)
	s.poked.Store(false)
}

// tellLate logs who holds the loop. The culprit's stack is that of the coroutine's body which is not in state [coroutine].
func (s *Scheduler) tellLate(held time.Duration) {
	defer func() { _ = recover() }() // the logger is somebody else's, and must not end the process here
	id, name, started := uint64(0), "a callback of the loop", ""
	if co := s.shown.Load(); co != nil {
		id, name, started = co.ID(), co.Name(), co.SpawnLocation()
	}
	stacks := make([]byte, 64<<10)
	stacks = stacks[:runtime.Stack(stacks, true)]
	s.opts.Logger.Warn("a coroutine has not come back to the loop, which stands still",
		"run", s.name, "coroutine", id, "name", name, "started", started, "for", held.Round(time.Millisecond), "stacks", string(stacks))
}
