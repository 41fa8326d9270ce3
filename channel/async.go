package channel

import (
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// RecvAsync is Recv for later: a future, of owner's scope, for the oldest value. It stands in line with the receivers and
// has its value, or *event.ClosedError, at the moment when it comes (CHAN-08, CHAN-25). A future that is cancelled leaves
// the line and takes nothing. Error: *event.UsageError for a nil owner, one of another run, and on a foreign goroutine.
//
//go:noinline
func (c *Channel[T]) RecvAsync(owner scheduler.Scoped) (*future.Future[T], error) {
	scope, err := scopeOf(callRecvAsync, owner)
	if err != nil {
		return nil, err
	}
	if scope.Scheduler() != c.s {
		return nil, c.foreign(callRecvAsync, "scope", scope.Scheduler())
	}
	at := callerpc.Get()
	if c.receivable() {
		return future.Completed(scope, c.take()).At(at), nil
	}
	if c.reason != nil {
		return future.Failed[T](scope, c.closedError(callRecvAsync)).At(at), nil
	}
	answer, pending := future.New[T](scope)
	w := c.receivers.Push(nil, place[T]{answer: answer})
	answer.OnCancel(func() {
		w.Leave(nil)
		w.Free()
	})
	c.waits()
	return pending.At(at), nil
}

// complete hands v to a future that was in line; it may run code of users.
func complete[T any](answer *future.Completer[T], v T) { settled(answer.Complete(v)) }

func fail[T any](answer *future.Completer[T], err error) { settled(answer.Fail(err)) }

// settled fails on what cannot be: a future leaves the line before it settles in any other way.
func settled(err error) {
	if err != nil {
		panic("bug: channel: " + err.Error())
	}
}
