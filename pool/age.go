package pool

import (
	"math"
	"time"

	"github.com/uvasync/uvasync/event"
)

// age is how old resources may become, and the clock that retires idle ones. The times are those of core.now. Loop goroutine
// only.
type age struct {
	limited  bool
	lifetime time.Duration // 0: no limit
	idle     time.Duration // 0: no limit
	jitter   float64
	due      time.Duration // when the next one is to be retired, while clock runs
	clock    event.Deadline
}

// span is how long a resource may be used.
type span struct {
	ends   time.Duration // of its life; 0: never
	idle   time.Duration // how long it may be idle; 0: for ever
	rested time.Duration // when that is over; 0: never
}

func (a *age) init(lifetime, idle time.Duration, jitter float64) {
	a.lifetime, a.idle, a.jitter = lifetime, idle, jitter
	a.limited = lifetime > 0 || idle > 0
}

// begin is the span of the n-th resource, made now.
func (a *age) begin(now time.Duration, n uint64) (s span) {
	if !a.limited {
		return s
	}
	luck := scramble(n ^ uint64(now)<<20)
	shorten := func(d time.Duration, luck uint32) time.Duration {
		return d - time.Duration(float64(d)*a.jitter*float64(luck)/(1<<32))
	}
	if a.lifetime > 0 {
		s.ends = later(now, max(1, shorten(a.lifetime, uint32(luck))))
	}
	if a.idle > 0 {
		s.idle = max(1, shorten(a.idle, uint32(luck>>32)))
	}
	return s
}

// later is now + d, or the end of all time.
func later(now, d time.Duration) time.Duration {
	if now > math.MaxInt64-d {
		return math.MaxInt64
	}
	return now + d
}

// scramble makes of different numbers numbers that look random, the same in each simulation.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// next is when a resource that is idle is to be retired; 0: never.
func (s *span) next() time.Duration {
	if s.ends == 0 || s.rested != 0 && s.rested < s.ends {
		return s.rested
	}
	return s.ends
}

func (s *span) outlived(now time.Duration) bool { return s.ends != 0 && now >= s.ends }
func (s *span) unused(now time.Duration) bool   { return s.rested != 0 && now >= s.rested }

// rests is called with a resource that has become idle.
func (c *core[T]) rests(e *entry[T]) {
	if e.span.idle > 0 && e.span.rested == 0 {
		e.span.rested = later(c.now(), e.span.idle)
	}
	c.watch(&e.span)
}

// watch has the clock ring when the time of a resource has come.
func (c *core[T]) watch(s *span) {
	a := &c.age
	due := s.next()
	if due == 0 || a.clock != nil && a.clock.Running() && a.due <= due {
		return
	}
	if a.clock == nil {
		a.clock = c.s.Reactor().NewDeadline(c.retire)
		a.clock.SetHidden(true) // POOL-37
	}
	a.due = due
	c.start(a.clock, max(0, due-c.now()))
}

// retire destroys the idle resources whose time has come.
func (c *core[T]) retire() {
	if c.reason != nil {
		return
	}
	now := c.now()
	var old []*entry[T]
	for n := c.idle.Len(); n > 0; n-- {
		e := c.idle.Pop()
		if c.tooOld(e, now, len(old)) {
			old = append(old, e)
			continue
		}
		c.idle.Push(e)
		c.watch(&e.span)
	}
	c.destroyLater(old)
	c.refill()
}

// tooOld reports whether e, which is idle, is to be retired, when so many others are. One that only Config.Min keeps is as if it
// had been used.
func (c *core[T]) tooOld(e *entry[T], now time.Duration, others int) bool {
	switch {
	case e.span.outlived(now):
		return true
	case !e.span.unused(now):
		return false
	case c.total-c.dying-others > c.min:
		return true
	}
	e.span.rested = later(now, e.span.idle)
	return false
}

// start starts a clock of the pool.
func (c *core[T]) start(clock event.Deadline, d time.Duration) {
	if err := clock.Start(d); err != nil {
		panic("bug: pool: " + err.Error()) // the loop of a run outlives its pools
	}
}
