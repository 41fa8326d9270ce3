package future

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/callerpc"
)

// Completer is the right to settle a future of [New], once. Loop goroutine only; Move makes one for other goroutines.
type Completer[T any] struct {
	future Future[T] // the two are one allocation
}

// Future returns the future that the completer settles.
func (c *Completer[T]) Future() *Future[T] { return &c.future }

// Complete settles the future with value. Errors: [event.UsageError] when it has settled already, which leaves the first
// outcome as it is (FUT-01), after Move, and outside of the run's loop.
//
//go:noinline
func (c *Completer[T]) Complete(value T) error {
	if err := c.begin("future: Complete", callerpc.Get()); err != nil {
		return err
	}
	c.future.value = value
	c.future.core.settle(nil)
	return nil
}

// Fail settles the future with err. Errors: as for Complete; [event.InvalidArgumentError] when err is nil.
//
//go:noinline
func (c *Completer[T]) Fail(err error) error {
	const call = "future: Fail"
	if err == nil {
		return nilArgument(call, "error", "pass the error, or use Complete")
	}
	if refused := c.begin(call, callerpc.Get()); refused != nil {
		return refused
	}
	c.future.core.settle(err)
	return nil
}

// OnCancel has fn called when the pending future is cancelled or disposed, before it settles: whoever was to complete it can
// stop what it does for that. It is no use of the future, and replaces what was set before; nil removes it. A future that
// has settled never calls it. Loop goroutine only.
func (c *Completer[T]) OnCancel(fn func()) {
	if core := &c.future.core; !core.has(isSettled) {
		core.more().stop = fn
	}
}

// begin answers whether the future may be settled now, and notes where that happens.
func (c *Completer[T]) begin(call string, at uintptr) error {
	core := &c.future.core
	if err := core.check(call); err != nil {
		return err
	}
	if core.has(isSettled | isMoved) {
		return core.refuse(call)
	}
	core.completed = at
	return nil
}

// refuse says why a future cannot be settled by who asks.
func (c *core) refuse(call string) error {
	switch {
	case !c.has(isSettled):
		return &event.UsageError{Call: call, Problem: "the right to complete the future was moved to another goroutine", Fix: "complete it there, with what Move returned"}
	case c.cancelled():
		return &event.UsageError{Call: call, Problem: "the future is completed: it was cancelled", Fix: "look at Completed first when others may cancel it"}
	}
	problem := "the future is already completed"
	if at := location(c.completed); at != "" {
		problem += " at " + at
	}
	return &event.UsageError{Call: call, Problem: problem, Fix: "complete it once"}
}
