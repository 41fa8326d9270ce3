package pool

import (
	"time"

	"github.com/uvasync/uvasync/scheduler"
)

// entry is a resource and what its pool knows of it. Loop goroutine only.
type entry[T any] struct {
	value  T
	pool   *core[T]
	turn   uint64               // goes up with every hand-out and every return: odd while it is out
	ticket ticket               // of the acquisition that it is out for
	holder *scheduler.Coroutine // who acquired it; nil: nobody
	reset  uint32               // how often the pool was reset before it was made
	pass   uint32               // of the health checks, the last that came to it
	index  int                  // in core.entries
	dying  bool                 // it is being destroyed, or will be next
	fresh  bool                 // nobody has had it yet, and it was not idle
	span   span
	shield scheduler.Shield // for the hooks that run protected
}

// isOut reports whether somebody has acquired e and not given it back.
func (e *entry[T]) isOut() bool { return e.turn&1 == 1 }

// add makes the entry of a resource that was just made, in a place that is taken already. reset is that of the time when the
// making began.
func (c *core[T]) add(v T, reset uint32) *entry[T] {
	e := &entry[T]{value: v, pool: c, reset: reset, index: len(c.entries), fresh: true}
	c.entries = append(c.entries, e)
	c.stats.Created++
	e.span = c.age.begin(c.now(), c.stats.Created)
	return e
}

// drop takes e out of the pool, and with it the place that it took: somebody who waits may have it (GEN-05).
func (c *core[T]) drop(e *entry[T]) {
	last := len(c.entries) - 1
	moved := c.entries[last]
	c.entries[e.index], moved.index = moved, e.index
	c.entries[last] = nil
	c.entries = c.entries[:last]
	if e.dying {
		c.dying--
	}
	c.total--
	c.vacated()
}

// condemn notes that e will be destroyed next.
func (c *core[T]) condemn(e *entry[T]) {
	if !e.dying {
		e.dying = true
		c.dying++
	}
}

// vacated is called when there is room for one more.
func (c *core[T]) vacated() {
	c.cover()
	c.ifDrained()
}

// now is the time by which resources age; it costs a look at the clock, so nobody looks who need not.
func (c *core[T]) now() time.Duration {
	if !c.age.limited {
		return 0
	}
	return c.s.Reactor().Elapsed()
}

// stale reports whether e is not to be used again.
func (c *core[T]) stale(e *entry[T]) bool {
	return c.reason != nil || e.reset != c.reset
}

// out hands e to co.
func (c *core[T]) out(co *scheduler.Coroutine, e *entry[T], t ticket) Handle[T] {
	e.turn++
	e.fresh = false
	e.holder, e.ticket = co, t
	if e.span.rested != 0 {
		e.span.rested = 0
	}
	c.stats.Acquired++
	return Handle[T]{e, e.turn}
}

// put takes a resource that is good: it goes to who has waited longest, otherwise it is idle (POOL-10).
func (c *core[T]) put(e *entry[T]) {
	w := c.line.First()
	switch {
	case c.stale(e):
		c.destroyLater([]*entry[T]{e})
	case w != nil:
		c.reserve(w, e)
	default:
		e.fresh = false
		c.idle.Push(e)
		if c.age.limited {
			c.rests(e)
		}
	}
}
