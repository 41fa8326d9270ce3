package channel

import (
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Send puts v into the channel, and waits until it can: for a free slot, or with capacity 0 for a receiver (CHAN-02,
// CHAN-03, CHAN-05). Senders are served in the order of their arrival (CHAN-04).
//
// Errors: *event.ClosedError when the channel is closed, before or meanwhile (CHAN-09, CHAN-22); the coroutine's
// cancellation; those of the options; *event.UsageError for a coroutine of another run, or any misuse of co. After an
// error v was not sent, with one exception: with capacity 0, a coroutine that is cancelled after its value was taken, and
// before it runs, gets its cancellation (CHAN-23).
func (c *Channel[T]) Send(co *scheduler.Coroutine, v T, opts ...scheduler.WaitOption) error {
	if err := co.Enter(callSend); err != nil {
		return err
	}
	if co.Scheduler() != c.s || len(opts) > 0 {
		if err := c.check(co, callSend, opts); err != nil {
			return err
		}
	}
	if c.reason != nil {
		return c.closedError(callSend)
	}
	if c.sendable() {
		c.put(v)
		co.Lucky()
		return nil
	}
	w, over, err := c.sendLater(co, v, opts)
	if !over {
		// Here and not further down: see scheduler's Parking.
		co.Switch()
		err = w.Parked()
	}
	return c.sentLater(w, v, err)
}

// TrySend puts v into the channel if there is a free slot that is not set aside for somebody, and reports whether it did;
// with capacity 0 the one slot is enough, and no receiver needs to be there (CHAN-07). It never waits. It panics with a
// *event.UsageError on a foreign goroutine.
func (c *Channel[T]) TrySend(v T) bool {
	c.must(callTrySend)
	if c.reason != nil || !c.roomToTry() {
		return false
	}
	c.put(v)
	return true
}

func (c *Channel[T]) roomToTry() bool {
	if c.capacity == 0 {
		return c.len() == 0
	}
	return c.room()
}

// check is what is left of the beginning of a call that may suspend, when Enter has found nothing and there is something
// to look at.
func (c *Channel[T]) check(co *scheduler.Coroutine, call string, opts []scheduler.WaitOption) error {
	if co.Scheduler() != c.s {
		return c.foreign(call, "coroutine", co.Scheduler())
	}
	return scheduler.CheckOptions(call, opts)
}

// sendable reports whether a Send need not wait.
func (c *Channel[T]) sendable() bool {
	if c.capacity == 0 {
		return c.receivers.Waiting() > 0
	}
	return c.room()
}

// put gives v to the receiver that has waited longest, or keeps it. There must be room.
func (c *Channel[T]) put(v T) {
	if c.receivers.Waiting() == 0 {
		c.values.Push(v)
		c.exchanged()
		return
	}
	c.give(v)
}

func (c *Channel[T]) sendLater(co *scheduler.Coroutine, v T, opts []scheduler.WaitOption) (w *waitq.Waiter[place[T]], over bool, err error) {
	w = c.senders.Push(co, place[T]{value: v})
	c.waits()
	over, err = w.Parking(callSend, opts)
	return w, over, err
}

func (c *Channel[T]) sentLater(w *waitq.Waiter[place[T]], v T, err error) error {
	w.Free()
	if err != nil {
		return c.failed(callSend, err)
	}
	return c.sent(v)
}

// sent is what a sender does when it was served and runs: with capacity 0 its value is gone already, otherwise the slot
// is its own now.
func (c *Channel[T]) sent(v T) error {
	if c.capacity == 0 {
		return nil
	}
	if c.reason != nil {
		return c.closedError(callSend)
	}
	c.put(v)
	return nil
}

// wakeSenders sets free slots aside for those who wait for one.
func (c *Channel[T]) wakeSenders() {
	for w := c.senders.First(); w != nil && c.room(); w = c.senders.First() {
		c.senders.Reserve(w)
		if t := w.Data.turn; t != nil {
			t.choose(nil)
		}
	}
}

// sending is a channel as the owner of the queue of its senders.
type sending[T any] Channel[T]

func (o *sending[T]) Departed(_ *waitq.Waiter[place[T]], reserved bool) {
	c := (*Channel[T])(o)
	if reserved {
		c.wakeSenders()
	}
	c.waits()
}

func (o *sending[T]) WaitInfo() string { return (*Channel[T])(o).brief() + ": send" }
