package scope

import (
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Close says that there will be no more tasks. Those that run and those that wait for their turn go on; who waits to spawn
// one gets *event.ClosedError. Further calls do nothing (TG-06). Error: *event.UsageError from a foreign goroutine.
func (g *Group[K, T]) Close() error { return g.inner().close("scope: Group.Close") }

// Cancel closes the group, and cancels its tasks, in a safe scope, too: those that run get an *event.CancelledError with
// reason, which may be nil, those that wait for their turn never start and have it as their outcome. The group has ended when
// the running ones have (TG-16). The first reason stays. Error: *event.UsageError from a foreign goroutine.
func (g *Group[K, T]) Cancel(reason error) error {
	return g.inner().cancel("scope: Group.Cancel", reason)
}

// Dispose is Cancel with [ErrDisposed]. Failures that nobody has taken are reported all the same (TG-18).
func (g *Group[K, T]) Dispose() error { return g.inner().cancel("scope: Group.Dispose", ErrDisposed) }

// AwaitCompletion waits until the group has ended: all its tasks have, those that were cancelled included. Their failures
// are no errors of it (TG-15). opts bound the wait.
//
// Errors: *event.UsageError when the group is open, when a task of the group calls it, or a coroutine that one has started,
// when co is not the calling coroutine, or is one of another run; the cancellation of co; those of the options.
func (g *Group[K, T]) AwaitCompletion(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	err := g.inner().awaitEnd("scope: Group.AwaitCompletion", co, opts)
	runtime.KeepAlive(g)
	return err
}

func (e *engine[K, T]) close(call string) error {
	if err := e.check(call); err != nil {
		return err
	}
	e.shut(nil)
	e.announce()
	return nil
}

func (e *engine[K, T]) cancel(call string, reason error) error {
	if err := e.check(call); err != nil {
		return err
	}
	if !e.closed {
		e.stop(&event.CancelledError{Reason: reason})
	}
	return e.inside.Dispose(reason)
}

func (e *engine[K, T]) awaitEnd(call string, co *scheduler.Coroutine, opts []scheduler.WaitOption) error {
	if err := e.enter(call, co, opts); err != nil {
		return err
	}
	if !e.isClosed() {
		return &event.UsageError{Call: call, Problem: "the " + e.kind.String() + " is open, so that there is no end", Fix: "Close it first"}
	}
	if err := e.refuseWait(call, co); err != nil {
		return err
	}
	if e.over {
		co.Lucky()
		return nil
	}
	w := e.enders.Push(co, struct{}{})
	err := w.Park(call, opts...)
	w.Free()
	return err
}

// shut closes the group; with a reason, the cancellation, tasks that wait for their turn end with that. Who calls it
// announces.
func (c *core) shut(reason error) {
	if !c.closed {
		c.stop(reason)
	}
	if reason != nil {
		c.drop(reason)
	}
}

// stop takes no more tasks.
func (c *core) stop(reason error) {
	c.closed, c.reason = true, reason
	if c.line.Waiting() > 0 {
		c.turned = c.closedError("scope: Spawn")
		c.line.RejectAll(c.turned)
	}
}

// closedError is what a spawner gets when the group is closed while it waits.
func (c *core) closedError(call string) *event.ClosedError {
	reason := c.reason
	if cancelled := c.inside.Cancelled(); reason == nil && cancelled != nil {
		reason = cancelled
	}
	// Whoever waits was not cancelled itself, and must not seem so to those who look for that (CANC-19).
	if cancelled, ok := reason.(*event.CancelledError); ok {
		reason = cancelled.Reason
	}
	return &event.ClosedError{Call: call, What: c.what(), Reason: reason, Fix: "the task was not added"}
}

func (c *core) what() string { return "the " + c.kind.String() }

// refusal is the answer to a spawner that comes when the group is closed.
func (c *core) refusal(call string) error {
	problem := "the " + c.kind.String() + " is closed"
	if cancelled := c.inside.Cancelled(); cancelled != nil {
		problem += ", and its scope was " + cancelled.Error()
	}
	return &refusedError{&event.UsageError{Call: call, Problem: problem, Fix: "spawn before it is closed, or make another one"}}
}

// refusedError is a [event.UsageError] that matches ErrClosed, as the error of those does who were waiting.
type refusedError struct{ usage *event.UsageError }

func (e *refusedError) Error() string        { return e.usage.Error() }
func (e *refusedError) Unwrap() error        { return e.usage }
func (e *refusedError) Is(target error) bool { return target == event.ErrClosed }

// collected runs on a goroutine of the runtime when a handle was collected.
func (c *core) collected() {
	// It fails when the run is over: then everything was reported.
	_ = c.s.Post(c.dropHandle)
}

// dropHandle says that one of those is gone that can take what is left, and keep it open.
func (c *core) dropHandle() {
	c.handles--
	if c.handles == 0 {
		c.shut(nil)
		c.announce()
	}
}

// leave takes the scope of the tasks out of the tree, as soon as nothing is left in it.
func (c *core) leave() {
	if c.leaving || c.inside.Sealed() {
		return
	}
	c.leaving = true
	_, _, total := c.inside.Counts()
	for range c.inside.Children() {
		total = 2
		break
	}
	if total == 0 || total == 1 && c.inside.Left().Completed() { // the task that ends now
		c.seal()
		return
	}
	// Coroutines that tasks have left behind may start others.
	_ = c.s.Microtask(c.leaveLater)
}

func (c *core) leaveLater() error {
	left := leftIn(c.inside)
	if left == nil {
		c.seal()
		return nil
	}
	return left.OnFinally(func(_, _ *scheduler.Coroutine) error { return c.leaveLater() })
}

func (c *core) seal() {
	if err := c.inside.Seal(); err != nil {
		panic("bug: scope: " + err.Error())
	}
}

// leftIn returns a coroutine in sc or below that has not ended, without those of finally handlers.
func leftIn(sc *scheduler.Scope) *scheduler.Coroutine {
	if _, _, total := sc.Counts(); total > 0 {
		return sc.Left()
	}
	for child := range sc.Children() {
		if co := leftIn(child); co != nil {
			return co
		}
	}
	return nil
}

// belonging is a group as a thing of the scope of its tasks.
type belonging core

var _ scheduler.Sealable = (*belonging)(nil)

// ScopeClosed is called when the scope is cancelled, with what is around it or alone.
func (o *belonging) ScopeClosed(reason error) {
	c := (*core)(o)
	c.shut(reason)
	c.announce()
}

// ScopeSealed is called when the scope is disposed safely, or with a time limit: what runs goes on, and nothing else can start.
func (o *belonging) ScopeSealed() { (*core)(o).sealed(scheduler.ErrScopeEnded) }

// ScopeDone returns nothing: failures wait for the scope around, see surfacing.
func (*belonging) ScopeDone() error { return nil }

// enders is a group as the owner of the line of those who wait for its end.
type enders core

func (*enders) Departed(*waitq.Waiter[struct{}], bool) {}

func (o *enders) WaitInfo() string { return (*core)(o).info() + ": its end" }
