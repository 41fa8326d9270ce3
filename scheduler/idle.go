package scheduler

import (
	"slices"
	"time"
)

const (
	trimEvery = time.Second
	keepIdle  = 64   // fibers that are kept in any case
	trimMost  = 4096 // at once, which takes about a millisecond
)

// idleFiber takes an idle fiber for co, the one that became idle last.
func (s *Scheduler) idleFiber(co *Coroutine) *fiber {
	last := len(s.idle) - 1
	f := s.idle[last]
	s.idle[last] = nil
	s.idle = s.idle[:last]
	s.idleLow = min(s.idleLow, last)
	f.adopt(co)
	return f
}

// trim ends half of the fibers that nobody has needed for a while, so that a burst of coroutines is forgotten step by step.
// It is called before the event loop is turned, with no coroutine current.
func (s *Scheduler) trim() {
	if len(s.idle) <= keepIdle {
		return
	}
	now := s.reactor.Elapsed()
	if now-s.trimmed < trimEvery {
		return
	}
	n := min(s.idleLow/2, len(s.idle)-keepIdle, trimMost)
	surplus := slices.Clone(s.idle[:max(0, n)])
	s.idle = slices.Delete(s.idle, 0, len(surplus))
	s.trimmed, s.idleLow = now, len(s.idle)
	s.retiring, s.slots = s.fiber, nil
	for _, f := range surplus {
		f.retired = true
		s.group.Switch(&s.retiring.ctx, &f.ctx)
	}
	s.owner.set(s.retiring.g)
	s.fiber = s.retiring
}
