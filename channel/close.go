package channel

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
)

// Close closes the channel with [ErrCloseCalled]. Nothing can be sent any more; whoever waits to send, and whoever waits
// to receive and has nothing set aside for it, gets *event.ClosedError (CHAN-09, CHAN-10). Values that were sent can still
// be received; what waits in a Send with capacity 0 was not sent (CHAN-20). Further calls do nothing. Error:
// *event.UsageError on a foreign goroutine. Loop only.
func (c *Channel[T]) Close() error {
	if err := c.s.Check(callClose); err != nil {
		return err
	}
	c.close(ErrCloseCalled)
	return nil
}

func (c *Channel[T]) close(reason error) {
	if c.reason != nil {
		return
	}
	c.reason = reason
	c.owned.Release()
	c.waits()
	// Deferred, because a subscriber of a future that panics must not keep the others waiting.
	defer c.notifyClosed()
	defer rejectAll(&c.receivers, c.closedError(callRecv))
	rejectAll(&c.senders, c.closedError(callSend))
}

func (c *Channel[T]) notifyClosed() {
	c.base.MarkClosed()
	_, _, err := c.base.Outcome()
	if err := c.base.Notify(nil, err); err != nil {
		panic("bug: channel: " + err.Error())
	}
}

func rejectAll[T any](q *waitq.Queue[place[T]], err error) {
	defer func() {
		if q.First() != nil {
			rejectAll(q, err)
		}
	}()
	for w := q.First(); w != nil; w = q.First() {
		q.Reject(w, err)
		switch {
		case w.Data.turn != nil:
			w.Data.turn.choose(err)
		case w.Data.answer != nil:
			answer := w.Data.answer
			w.Free()
			fail(answer, err) // it may run anything
		}
	}
}

// closing is a channel as an event, which happens when the channel is closed.
type closing[T any] Channel[T]

func (k *closing[T]) StartEvent() error { return nil }
func (k *closing[T]) StopEvent()        {}
func (k *closing[T]) DisposeEvent()     {}
func (k *closing[T]) Info() string      { return (*Channel[T])(k).Info() }

func (k *closing[T]) Outcome() (result any, ok bool, err error) {
	switch k.reason {
	case nil:
		return nil, false, nil
	case ErrCloseCalled:
		return nil, true, nil
	}
	return nil, true, &event.ClosedError{Call: callRecv, What: (*Channel[T])(k).brief(), Reason: k.reason}
}

// belonging is a channel as a thing of its scope.
type belonging[T any] Channel[T]

func (o *belonging[T]) ScopeClosed(error) { (*Channel[T])(o).close(ErrScopeDisposed) }

// ScopeDone does nothing: a scope that is done by itself leaves its channels open (CHAN-36), and a channel has no outcome
// that somebody must look at.
func (o *belonging[T]) ScopeDone() error { return nil }
