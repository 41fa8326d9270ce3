package channel

import (
	"errors"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Why a channel was closed: the Reason of the *event.ClosedError that its calls return then, for [errors.Is].
var (
	// ErrCloseCalled: somebody called Close.
	ErrCloseCalled = errors.New("channel: Close was called")
	// ErrNoProducers: a receiver waited for NoProducerTimeout, and no value came.
	ErrNoProducers = errors.New("channel: nobody sent in the time allowed")
	// ErrNoConsumers: a sender waited for NoConsumerTimeout, and no value was taken.
	ErrNoConsumers = errors.New("channel: nobody received in the time allowed")
	// ErrDeadlock: somebody waited under a soft timeout, and nothing in the run could go on any more.
	ErrDeadlock = errors.New("channel: waiting, and nothing in the run could go on")
	// ErrScopeDisposed: the scope that the channel belongs to was cancelled or disposed.
	ErrScopeDisposed = errors.New("channel: its scope was disposed")
)

const (
	callNew       = "channel: New"
	callSend      = "channel: Send"
	callRecv      = "channel: Recv"
	callTrySend   = "channel: TrySend"
	callTryRecv   = "channel: TryRecv"
	callRecvAsync = "channel: RecvAsync"
	callSelect    = "channel: Select"
	callClose     = "channel: Close"
)

// closedError is the answer to a call on a closed channel.
func (c *Channel[T]) closedError(call string) error {
	fix := "nothing more will come: stop receiving"
	if call == callSend {
		fix = "nobody will receive: stop sending"
	}
	return &event.ClosedError{Call: call, What: c.brief(), Reason: c.reason, Fix: fix}
}

// failed returns the error of a wait that ended with err.
func (c *Channel[T]) failed(call string, err error) error {
	if c.reason != ErrScopeDisposed || err == nil {
		return err
	}
	return waitq.ClosedAndCancelled(err, c.closedError(call))
}

// foreign is the answer to a coroutine, or a scope, of another run (GEN-11).
func (c *Channel[T]) foreign(call, what string, other *scheduler.Scheduler) error {
	return &event.UsageError{
		Call:    call,
		Problem: "the channel belongs to run " + c.s.Name() + ", the " + what + " to run " + other.Name(),
		Fix:     "cross over with Post, or with a channel made for it",
	}
}

// must refuses a foreign goroutine where no error can be returned.
func (c *Channel[T]) must(call string) {
	if err := c.s.Check(call); err != nil {
		panic(err)
	}
}
