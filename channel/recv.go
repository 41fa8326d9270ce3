package channel

import (
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Recv takes the oldest value out of the channel, and waits until there is one (CHAN-03). Receivers are served in the order
// of their arrival (CHAN-04); a value that is set aside for one is never taken by another (CHAN-14).
//
// Errors, all with the zero value: *event.ClosedError when the channel is closed and empty (CHAN-09, CHAN-35); the
// coroutine's cancellation, and the value that was meant for it then goes to the next in line, or stays (CHAN-12); those
// of the options; *event.UsageError for a coroutine of another run, or any misuse of co.
func (c *Channel[T]) Recv(co *scheduler.Coroutine, opts ...scheduler.WaitOption) (T, error) {
	var zero T
	if err := co.Enter(callRecv); err != nil {
		return zero, err
	}
	if co.Scheduler() != c.s || len(opts) > 0 {
		if err := c.check(co, callRecv, opts); err != nil {
			return zero, err
		}
	}
	if c.receivable() {
		v := c.take()
		co.Lucky()
		return v, nil
	}
	if c.reason != nil {
		return zero, c.closedError(callRecv)
	}
	w, over, err := c.recvLater(co, opts)
	if !over {
		// Here and not further down: see scheduler's Parking.
		co.Switch()
		err = w.Parked()
	}
	return c.received(w, err)
}

// TryRecv takes the oldest value that is not set aside for somebody, and reports whether there was one. It never waits. It
// panics with a *event.UsageError on a foreign goroutine.
func (c *Channel[T]) TryRecv() (v T, ok bool) {
	c.must(callTryRecv)
	if !c.receivable() {
		return v, false
	}
	return c.take(), true
}

// receivable reports whether there is a value that is nobody's.
func (c *Channel[T]) receivable() bool {
	return c.values.Len() > 0 || c.capacity == 0 && c.senders.Waiting() > 0
}

// take takes the oldest value; there must be one.
func (c *Channel[T]) take() T {
	if c.values.Len() == 0 {
		return c.takeFromSender()
	}
	v := c.values.Pop()
	c.taken()
	return v
}

// takeFromSender is the rendezvous with a sender that waits.
func (c *Channel[T]) takeFromSender() T {
	w := c.senders.First()
	v := w.Data.value
	c.senders.Release(w)
	if t := w.Data.turn; t != nil {
		t.choose(nil)
	}
	c.exchanged()
	return v
}

// taken announces the slot that a value has left.
func (c *Channel[T]) taken() {
	if c.capacity > 0 && c.senders.Waiting() > 0 {
		c.wakeSenders()
	}
	c.exchanged()
}

func (c *Channel[T]) recvLater(co *scheduler.Coroutine, opts []scheduler.WaitOption) (w *waitq.Waiter[place[T]], over bool, err error) {
	w = c.receivers.Push(co, place[T]{})
	c.waits()
	over, err = w.Parking(callRecv, opts)
	return w, over, err
}

// received is what a receiver does when its wait is over.
func (c *Channel[T]) received(w *waitq.Waiter[place[T]], err error) (T, error) {
	v := w.Data.value
	w.Free()
	if err != nil {
		var zero T
		return zero, c.failed(callRecv, err)
	}
	c.taken()
	return v, nil
}

// give hands v to the receiver that has waited longest; there must be one. A coroutine has it set aside and takes it when
// it runs; a future has it at once, so the slot is free again (CHAN-25).
func (c *Channel[T]) give(v T) {
	w := c.receivers.First()
	if answer := w.Data.answer; answer != nil {
		c.receivers.Release(w)
		w.Free()
		c.taken()
		complete(answer, v) // last: it may run anything
		return
	}
	w.Data.value = v
	c.receivers.Reserve(w)
	if t := w.Data.turn; t != nil {
		t.choose(nil)
	}
	c.exchanged()
}

// receiving is a channel as the owner of the queue of its receivers.
type receiving[T any] Channel[T]

// Departed passes on the value of a receiver that was woken and leaves: each receiver behind it gets the value before its
// own, so that values keep their order, and the last value goes to who waits, or back to the channel (CHAN-12).
func (o *receiving[T]) Departed(w *waitq.Waiter[place[T]], reserved bool) {
	c := (*Channel[T])(o)
	if !reserved {
		c.waits()
		return
	}
	v := w.Data.value
	for b := w.Behind(); b != nil; b = b.Behind() {
		v, b.Data.value = b.Data.value, v
	}
	if c.receivers.Waiting() > 0 {
		c.give(v)
		return
	}
	c.values.PushFront(v)
	c.waits()
}

func (o *receiving[T]) WaitInfo() string { return (*Channel[T])(o).brief() + ": receive" }
