package waitq

import (
	"errors"

	"github.com/uvasync/uvasync/event"
)

// ClosedAndCancelled is what a wait returns that ended with err, on something that was closed with its scope: when the coroutine
// was cancelled together with it, by the scope that both belong to, it is a cancellation still, so that a body may return it, and
// matches the closing, too (CHAN-34).
func ClosedAndCancelled(err, closed error) error {
	var cancelled *event.CancelledError
	if !errors.As(err, &cancelled) || cancelled.Token || error(cancelled) != err && !errors.Is(err, event.ErrClosed) {
		return err // nothing of that, or a failure beside it
	}
	return &event.CancelledError{Reason: event.WithCause(closed, cancelled.Reason)}
}
