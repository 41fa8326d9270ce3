package scheduler

import (
	"runtime/trace"
	"time"
)

// The scheduler runs on the stack of whoever has nothing to do: a coroutine that suspends, a fiber whose coroutine has ended,
// the root. They call pick, and switch to whom it names.

// few is up to how many coroutines the event loop is turned on whatever stack it is. With more, the root does it, because what
// is called from there would make the stacks of the coroutines grow, one after the other.
const few = 32

// pick says which fiber goes on when f has nothing to do: f itself, with its coroutine or, idle, with a new one; or another.
// The root is for what others must not do, and for the end.
func (s *Scheduler) pick(f *fiber) *fiber {
	co := s.next(f)
	switch {
	case co == nil:
		return s.root
	case co.fiber != nil:
		return co.fiber
	case f.co == nil && !f.dead && f != s.root:
		f.adopt(co)
		return f
	case len(s.idle) > 0:
		return s.idleFiber(co)
	case f == s.root:
		return s.newFiber(co)
	}
	s.wanted = co // contexts are made on a stack that need not stay small
	return s.root
}

// root's part: it makes fibers, and turns the event loop when there are many coroutines. It returns when the run is over.
func (s *Scheduler) rule() {
	for {
		var to *fiber
		if co := s.wanted; co != nil {
			s.wanted = nil
			to = s.newFiber(co)
		} else if to = s.pick(s.root); to == s.root {
			return
		}
		s.switchTo(s.root, to)
	}
}

// switchTo parks f and has to run. It returns when f is switched to, and false when f shall end.
func (s *Scheduler) switchTo(f, to *fiber) bool {
	alive := s.group.Switch(&f.ctx, &to.ctx)
	if s.sampling {
		alive = s.sampled(f)
	}
	s.owner.set(f.g)
	s.fiber = f
	return alive
}

// quick is next for the most frequent case, a suspended coroutine that is ready and nothing else to do. It returns its fiber;
// nil: use next.
func (s *Scheduler) quick() *fiber {
	if s.ready.Len() == 0 || s.left <= s.clockAt || s.micro.Len() > 0 || s.shuffled || s.poked.Load() {
		return nil
	}
	if f := s.ready.At(0).fiber; f != nil {
		s.left--
		s.ready.Pop()
		return f
	}
	return nil
}

// next finds the coroutine that goes on, turning the event loop while there is none; nil: the root must, or the run is over.
// f is whose stack this is.
func (s *Scheduler) next(f *fiber) *Coroutine {
	leave := f != s.root && s.total > few
	if s.poked.Load() {
		s.poked.Store(false)
	}
	for {
		if s.micro.Len() > 0 {
			s.microtasks()
		}
		if s.ready.Len() == 0 {
			switch {
			case leave:
				return nil
			case s.micro.Len() > 0: // queued by microtasks
				s.turn(false)
			case s.over():
				return nil
			case s.ready.Len() == 0:
				s.wait()
			}
			continue
		}
		if s.left <= s.clockAt && (s.left <= 0 || s.sliceOver()) {
			if leave {
				return nil
			}
			if s.active == 0 && s.micro.Len() == 0 { // zombies and helpers may be ready for ever
				s.shutdown(ErrRunOver)
			}
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
	s.trim()
	s.slowTurn()
	if s.wakes && block {
		s.blocked.Store(true)
	}
	s.tick(block)
	if s.wakes {
		s.wake()
	}
	s.stretch()
}

// stretch begins the time until the next look at the event loop.
func (s *Scheduler) stretch() {
	s.observed = s.opts.Switch != nil || s.opts.PprofLabels || s.watched || s.regions > 0 || trace.IsEnabled()
	s.left, s.clockStep = s.opts.Budget, 1
	s.clockAt = max(0, s.left-s.clockStep)
	s.sliceFrom = s.reactor.Elapsed()
	s.clock = s.sliceFrom
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

// sliceSpent reports whether the event loop was last looked at a slice ago.
func (s *Scheduler) sliceSpent() bool { return s.reactor.Elapsed()-s.sliceFrom >= s.opts.Slice }

// sliceOver looks at the clock: about eight times in a slice, however long the coroutines run, and every 16 resumptions, in
// case they become longer.
func (s *Scheduler) sliceOver() bool {
	s.clock = s.reactor.Elapsed()
	spent := s.clock - s.sliceFrom
	if spent >= s.opts.Slice {
		return true
	}
	done := s.opts.Budget - s.left
	s.clockStep = max(1, min(2*s.clockStep, 16, int(s.opts.Slice/8*time.Duration(done)/max(spent, 1))))
	s.clockAt = max(0, s.left-s.clockStep)
	return false
}
