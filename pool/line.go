package pool

import (
	"errors"
	"strconv"
	"strings"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// place is what a waiter of a pool carries.
type place[T any] struct {
	entry  *entry[T] // what is set aside for it
	fresh  bool      // and nobody has used that yet
	build  *build[T] // what is being made, and will be paid for by it: its error is the waiter's. nil: nothing
	ticket ticket
	came   uint64 // when it came for the first time, as a number; 0: it will not come again
}

// reserve sets e aside for w. What was being made for w is there for the next one.
func (c *core[T]) reserve(w *waitq.Waiter[place[T]], e *entry[T], fresh bool) {
	b := w.Data.build
	w.Data.entry, w.Data.fresh, w.Data.build = e, fresh, nil
	c.line.Reserve(w)
	if b != nil {
		c.unclaimed(b)
	}
}

// cover sees to it that something is being made for everybody who waits, as far as there is room.
func (c *core[T]) cover() {
	for w := c.line.First(); w != nil && (c.total < c.max && c.reason == nil || len(c.spare) > 0); w = w.Behind() {
		if w.Data.build != nil {
			continue
		}
		if len(c.spare) > 0 {
			b := c.spare[0]
			c.spare = c.spare[1:]
			b.waiter, w.Data.build = w, b
			continue
		}
		c.build(w, w.Coroutine())
	}
}

// unclaimed is called for what is being made when who it is for has left, or was served otherwise.
func (c *core[T]) unclaimed(b *build[T]) {
	b.waiter = nil
	if c.reason != nil || b.reset != c.reset {
		b.forgo()
		return
	}
	c.spare = append(c.spare, b)
	c.cover()
}

// waiting is a pool as the owner of its line.
type waiting[T any] core[T]

// Departed passes on what was set aside for w, or is being made for it, in the same step (GEN-01, POOL-17).
func (o *waiting[T]) Departed(w *waitq.Waiter[place[T]], reserved bool) {
	c := (*core[T])(o)
	t, b := w.Data.ticket, w.Data.build
	w.Data.ticket, w.Data.build = ticket{}, nil
	c.breaker.nothing(t)
	if b != nil {
		c.unclaimed(b)
	}
	if reserved {
		c.put(w.Data.entry, w.Data.fresh)
	}
}

// WaitInfo names those who have what the others wait for: who looks for a deadlock wants to know.
func (o *waiting[T]) WaitInfo() string {
	c := (*core[T])(o)
	return c.brief() + ": acquire" + c.users()
}

// users is ", in use by a, b", or nothing.
func (c *core[T]) users() string {
	const most = 5
	var names []string
	for _, e := range c.entries {
		switch {
		case e.holder == nil:
		case e.holder.Completed():
			names = append(names, e.holder.Name()+" (which has ended without a Release)")
		default:
			names = append(names, e.holder.Name())
		}
	}
	if n := len(names); n > most {
		names = append(names[:most], strconv.Itoa(n-most)+" more")
	}
	if len(names) == 0 {
		return ""
	}
	return ", in use by " + strings.Join(names, ", ")
}

// inLine puts who came for the first time at that number into the line: behind those who came before.
func (c *core[T]) inLine(co *scheduler.Coroutine, p place[T]) *waitq.Waiter[place[T]] {
	next := c.line.First()
	for next != nil && next.Data.came < p.came {
		next = next.Behind()
	}
	return c.line.PushBefore(next, co, p)
}

// waited is what remains when a wait is over: the handle, or the error.
func (c *core[T]) waited(co *scheduler.Coroutine, w *waitq.Waiter[place[T]], err error) (e *entry[T], fresh bool, _ ticket, _ error) {
	d := w.Data
	w.Free()
	switch {
	case err != nil:
		c.breaker.nothing(d.ticket)
		return nil, false, ticket{}, c.gaveUp(err)
	case c.breaker.state() == Inactive: // since it was woken
		c.put(d.entry, d.fresh)
		return nil, false, ticket{}, c.unavailable()
	}
	return d.entry, d.fresh, d.ticket, nil
}

// gaveUp counts a wait that ended with err, and returns what the caller sees.
func (c *core[T]) gaveUp(err error) error {
	if c.reason == ErrScopeDisposed {
		err = waitq.ClosedAndCancelled(err, c.closedError(callAcquire))
	}
	switch {
	case errors.Is(err, event.ErrTimeout):
		c.stats.TimedOut++
	case event.IsCancellation(err):
		c.stats.Cancelled++
	}
	return err
}
