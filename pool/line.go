package pool

import (
	"slices"

	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// ask is what a waiter of a pool carries. It is small, so that a waiter is one cache line. Loop goroutine only.
type ask[T any] struct {
	entry  *entry[T] // what is set aside for it
	build  *build[T] // what is being made, and will be paid for by it: its error is the waiter's. nil: nothing
	ticket ticket
	came   uint32 // when it came for the first time, as a number that may wrap; 0: it will not come again
}

// reserve sets e aside for w. What was being made for w is there for the next one.
func (c *core[T]) reserve(w *waitq.Waiter[ask[T]], e *entry[T]) {
	b := c.uncover(w)
	w.Data.entry = e
	c.line.Reserve(w)
	c.unclaimed(b)
}

// cover sees to it that something is being made for everybody who waits, as far as there is room. Those for whom something is
// are covered: there is nobody else in the line while there is room.
func (c *core[T]) cover() {
	for c.line.Waiting() > c.covered && (c.total < c.max && c.reason == nil || len(c.spare) > 0) {
		if c.bare == nil {
			c.bare = c.line.First()
		}
		for c.bare.Data.build != nil {
			c.bare = c.bare.Behind()
		}
		c.coverOne(c.bare)
	}
}

// coverOne has something made for w, or takes for it what is being made for nobody.
func (c *core[T]) coverOne(w *waitq.Waiter[ask[T]]) {
	if len(c.spare) == 0 {
		c.build(w, w.Coroutine())
		return
	}
	b := c.spare[0]
	c.spare = slices.Delete(c.spare, 0, 1)
	c.claim(b, w)
}

func (c *core[T]) claim(b *build[T], w *waitq.Waiter[ask[T]]) {
	b.waiter, w.Data.build = w, b
	c.covered++
}

// uncover takes from w, which is about to leave the line or has just left it, what is being made for it, if anything is.
func (c *core[T]) uncover(w *waitq.Waiter[ask[T]]) *build[T] {
	if c.bare == w {
		c.bare = w.Behind()
	}
	b := w.Data.build
	if b != nil {
		b.waiter, w.Data.build = nil, nil
		c.covered--
	}
	return b
}

// unclaimed is called for what is being made, if that is not nil, when who it was for has left, or was served otherwise.
func (c *core[T]) unclaimed(b *build[T]) {
	if b == nil {
		return
	}
	if b.stale() {
		b.forgo()
		return
	}
	c.spare = append(c.spare, b)
	c.cover()
}

// waiting is a pool as the owner of its line.
type waiting[T any] core[T]

// Departed passes on what was set aside for w, or is being made for it, in the same step (GEN-01, POOL-17).
func (o *waiting[T]) Departed(w *waitq.Waiter[ask[T]], reserved bool) {
	c := (*core[T])(o)
	t := w.Data.ticket
	w.Data.ticket = 0
	c.breaker.nothing(t)
	c.unclaimed(c.uncover(w))
	if reserved {
		c.put(w.Data.entry)
	}
}

// inLine puts who came for the first time at that number into the line: behind those who came before.
func (c *core[T]) inLine(co *scheduler.Coroutine, p ask[T]) *waitq.Waiter[ask[T]] {
	next := c.line.First()
	for next != nil && int32(next.Data.came-p.came) < 0 {
		next = next.Behind()
	}
	c.bare = nil
	return c.line.PushBefore(next, co, p)
}
