package scheduler

import (
	"time"
)

// schedule is the scheduler itself. It runs on the stack of whoever has nothing to do: a coroutine that suspends, a fiber
// whose coroutine has ended, the root. It returns when f shall go on: with its coroutine, with a new one (f was idle), or,
// false, to end.
func (s *Scheduler) schedule(f *fiber) bool {
	co := s.next()
	to := s.root
	switch {
	case co == nil: // the run is over
	case co.fiber != nil:
		to = co.fiber
	case f.co == nil && !f.dead && f != s.root:
		f.adopt(co)
		return true
	default:
		to = s.fiberFor(co)
	}
	if to == f {
		return true
	}
	if f.co == nil && !f.dead && f != s.root {
		if len(s.idle) >= maxIdle {
			s.group.Leave(&to.ctx)
			return false
		}
		s.idle = append(s.idle, f)
	}
	return s.switchTo(f, to)
}

// switchTo parks f and has to run. It returns when f is switched to, and false when f shall end.
func (s *Scheduler) switchTo(f, to *fiber) bool {
	alive := s.group.Switch(&f.ctx, &to.ctx)
	if s.sampling {
		alive = s.sampled(f)
	}
	s.take(f)
	return alive
}

// quick is next for the most frequent case, a suspended coroutine that is ready and nothing else to do. It returns its fiber;
// nil: use next.
func (s *Scheduler) quick() *fiber {
	if s.ready.Len() == 0 || s.left <= s.clockAt || s.micro.Len() > 0 || s.opts.Rand != nil || s.poked.Load() {
		return nil
	}
	if f := s.ready.At(0).fiber; f != nil {
		s.left--
		s.ready.Pop()
		return f
	}
	return nil
}

func (s *Scheduler) fiberFor(co *Coroutine) *fiber {
	last := len(s.idle) - 1
	if last < 0 {
		return s.newFiber(co)
	}
	f := s.idle[last]
	s.idle[last] = nil
	s.idle = s.idle[:last]
	f.adopt(co)
	return f
}

// next finds the coroutine that goes on, turning the event loop while there is none; nil: the run is over.
func (s *Scheduler) next() *Coroutine {
	if s.poked.Load() {
		s.poked.Store(false)
	}
	for {
		if s.micro.Len() > 0 {
			s.microtasks()
		}
		if s.ready.Len() == 0 {
			switch {
			case s.micro.Len() > 0: // queued by microtasks
				s.turn(false)
			case s.over():
				return nil
			case s.ready.Len() == 0:
				s.wait()
			}
			continue
		}
		if s.left <= s.clockAt && (s.left == 0 || s.sliceOver()) {
			s.turn(false)
			continue
		}
		s.left--
		co := s.popReady()
		switch {
		case co.state == completed: // its fiber exited while it was in the queue
		case co.state == queued && co.asked: // CANC-02
			s.finish(co, co.requested())
		default:
			return co
		}
	}
}

func (s *Scheduler) popReady() *Coroutine {
	if r := s.opts.Rand; r != nil {
		s.ready.Swap(0, r.IntN(s.ready.Len()))
	}
	return s.ready.Pop()
}

// wait turns the event loop when no coroutine is ready: blocking, unless nothing could ever happen.
func (s *Scheduler) wait() {
	if s.reactor.Live() > 0 || s.reactor.Pending() {
		s.turn(true)
		return
	}
	// DEAD-05: what has happened already is looked at before the verdict.
	s.turn(false)
	if !s.stuck() {
		return
	}
	s.starve()
	if s.stuck() {
		s.deadlocked()
	}
}

// stuck reports whether coroutines are left and nothing can wake them.
func (s *Scheduler) stuck() bool {
	return s.ready.Len() == 0 && s.micro.Len() == 0 && s.reactor.Live() == 0 && !s.reactor.Pending() && s.total > 0
}

// turn is one turn of the event loop, and the beginning of another stretch of coroutines.
func (s *Scheduler) turn(block bool) {
	s.stats.Turns++
	s.slowTurn()
	if s.watched && block {
		s.blocked.Store(true)
	}
	s.tick(block)
	if s.watched {
		s.wake()
	}
	s.stretch()
}

// stretch begins the time until the next look at the event loop.
func (s *Scheduler) stretch() {
	s.left, s.clockStep = s.opts.Budget, 1
	s.clockAt = max(0, s.left-s.clockStep)
	s.sliceFrom = s.reactor.Now()
}

// tick turns the reactor. Callbacks may panic or exit the goroutine: the run fails, and goes on to its end.
func (s *Scheduler) tick(block bool) {
	returned := false
	defer s.guard(&returned)
	_, err := s.reactor.Tick(block)
	returned = true
	if err != nil {
		s.broken(err)
	}
}

// sliceOver looks at the clock: about eight times in a slice, however long the coroutines run, and every 16 resumptions, in
// case they become longer.
func (s *Scheduler) sliceOver() bool {
	spent := s.reactor.Now().Sub(s.sliceFrom)
	if spent >= s.opts.Slice {
		return true
	}
	done := s.opts.Budget - s.left
	s.clockStep = max(1, min(2*s.clockStep, 16, int(s.opts.Slice/8*time.Duration(done)/max(spent, 1))))
	s.clockAt = max(0, s.left-s.clockStep)
	return false
}
