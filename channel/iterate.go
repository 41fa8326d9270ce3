package channel

import (
	"errors"
	"iter"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// All returns the values of the channel, each received as [Channel.Recv] does it, until Close was called and nothing is
// left, which ends the loop cleanly (CHAN-27):
//
//	for v, err := range ch.All(co) {
//		if err != nil {
//			return err
//		}
//		use(v)
//	}
//
// Any other end gives the error as its last pair: the cancellation, a timeout of the channel, a deadlock, or the end of
// the channel's scope (CHAN-28). The options bound each wait, not the whole loop.
func (c *Channel[T]) All(co *scheduler.Coroutine, opts ...scheduler.WaitOption) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := c.Recv(co, opts...)
			if err != nil {
				if !c.endedCleanly(err) {
					yield(v, err)
				}
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// endedCleanly tells the end of the channel from a cancellation that came with it.
func (c *Channel[T]) endedCleanly(err error) bool {
	closed, ok := err.(*event.ClosedError)
	return ok && errors.Is(closed.Reason, ErrCloseCalled)
}
