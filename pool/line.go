package pool

import (
	"errors"
	"fmt"
	"slices"
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
	b := c.uncover(w)
	w.Data.entry, w.Data.fresh = e, fresh
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
func (c *core[T]) coverOne(w *waitq.Waiter[place[T]]) {
	if len(c.spare) == 0 {
		c.build(w, w.Coroutine())
		return
	}
	b := c.spare[0]
	c.spare = slices.Delete(c.spare, 0, 1)
	c.claim(b, w)
}

func (c *core[T]) claim(b *build[T], w *waitq.Waiter[place[T]]) {
	b.waiter, w.Data.build = w, b
	c.covered++
}

// uncover takes from w, which is about to leave the line or has just left it, what is being made for it, if anything is.
func (c *core[T]) uncover(w *waitq.Waiter[place[T]]) *build[T] {
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
func (o *waiting[T]) Departed(w *waitq.Waiter[place[T]], reserved bool) {
	c := (*core[T])(o)
	t := w.Data.ticket
	w.Data.ticket = ticket{}
	c.breaker.nothing(t)
	c.unclaimed(c.uncover(w))
	if reserved {
		c.put(w.Data.entry, w.Data.fresh)
	}
}

// WaitInfo names those who have what the others wait for: who looks for a deadlock wants to know.
func (o *waiting[T]) WaitInfo() string {
	c := (*core[T])(o)
	return c.brief() + ": acquire" + c.users()
}

// users is ", in use by a, b, 1 being made", or as much of it as there is.
func (c *core[T]) users() string {
	const most = 5
	var names []string
	more := 0
	for _, e := range c.entries {
		switch {
		case !e.isOut():
		case len(names) < most:
			names = append(names, e.user())
		default:
			more++
		}
	}
	text := ""
	if len(names) > 0 {
		text = ", in use by " + strings.Join(names, ", ")
	}
	if more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	if c.builds > 0 {
		text += ", " + strconv.Itoa(c.builds) + " being made"
	}
	return text
}

// inLine puts who came for the first time at that number into the line: behind those who came before.
func (c *core[T]) inLine(co *scheduler.Coroutine, p place[T]) *waitq.Waiter[place[T]] {
	next := c.line.First()
	for next != nil && next.Data.came < p.came {
		next = next.Behind()
	}
	c.bare = nil
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

// late is a timeout that says what there was to wait for.
func (c *core[T]) late(err *event.TimeoutError) error {
	return fmt.Errorf("%w: %s%s", err, c.brief(), c.users())
}

// gaveUp counts a wait that ended with err, and returns what the caller sees.
func (c *core[T]) gaveUp(err error) error {
	if c.reason == ErrScopeDisposed {
		err = waitq.ClosedAndCancelled(err, c.closedError(callAcquire))
	}
	switch {
	case errors.Is(err, event.ErrTimeout):
		c.stats.TimedOut++
		if late, ok := err.(*event.TimeoutError); ok && late.Call == callAcquire { // otherwise it is that of a block
			err = c.late(late)
		}
	case event.IsCancellation(err):
		c.stats.Cancelled++
	}
	return err
}
