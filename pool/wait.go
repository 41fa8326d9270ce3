package pool

import (
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// beginWait puts co in the line and begins its wait; the rest is to follow as with scheduler's Parking.
func (c *core[T]) beginWait(co *scheduler.Coroutine, at ask[T], opts []scheduler.WaitOption) (w *waitq.Waiter[ask[T]], over bool, err error) {
	if c.timeout > 0 && scheduler.TimeoutOf(opts) == 0 {
		opts = append([]scheduler.WaitOption{scheduler.Timeout(c.timeout)}, opts...)
	}
	if at.came == c.arrivals || at.came == 0 { // nobody has come since
		w = c.line.Push(co, at)
	} else {
		w = c.inLine(co, at)
	}
	if over, err = w.Parking(callAcquire, opts); !over {
		c.cover() // and not w, which a token may have taken out of the line already
	}
	return w, over, err
}

// endWait is what remains when a wait is over: the handle, or the error.
func (c *core[T]) endWait(co *scheduler.Coroutine, w *waitq.Waiter[ask[T]], err error) (*entry[T], ticket, error) {
	d := w.Data
	w.Free()
	switch {
	case err != nil:
		c.breaker.nothing(d.ticket)
		return nil, 0, c.gaveUp(err)
	case c.breaker.state() == Inactive: // since it was woken
		c.put(d.entry)
		return nil, 0, c.unavailable()
	}
	return d.entry, d.ticket, nil
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
