package pool

import (
	"fmt"
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Close closes the pool, with [ErrCloseCalled]: who waits gets an *event.ClosedError, except those for whom a resource is being
// made or set aside, who still get it (POOL-27, POOL-32). Idle resources are destroyed, longest idle first, before it returns; those
// that are out when they are released (POOL-31): see [Pool.AwaitClosed]. It returns the failures of Destroy, or a *event.UsageError.
// It works when co is cancelled. Further calls do nothing.
func (p *Pool[T]) Close(co *scheduler.Coroutine) error {
	c, err := p.by(callClose, co)
	if err != nil {
		return err
	}
	if !c.shut(ErrCloseCalled) {
		return nil
	}
	failures := c.destroyAll(co, c.takeIdle())
	c.ifDrained()
	return event.Join(failures...)
}

// AwaitClosed waits until the pool is closed and its last resource is gone: everything was released and destroyed. It closes
// nothing itself. Errors: the cancellation of co; those of the options; *event.UsageError.
func (p *Pool[T]) AwaitClosed(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	c, err := p.by(callAwaitClosed, co)
	if err == nil {
		err = co.Enter(callAwaitClosed)
	}
	if err == nil {
		err = scheduler.CheckOptions(callAwaitClosed, opts)
	}
	if err != nil || c.drained {
		return err
	}
	w := c.closers.Push(co, struct{}{})
	err = w.Park(callAwaitClosed, opts...)
	w.Free()
	runtime.KeepAlive(p)
	if late, ok := err.(*event.TimeoutError); ok {
		err = c.late(late)
	}
	return err
}

// waitingForEnd is a pool as the owner of the line of those who await its end.
type waitingForEnd[T any] core[T]

func (o *waitingForEnd[T]) Departed(*waitq.Waiter[struct{}], bool) {}

func (o *waitingForEnd[T]) WaitInfo() string {
	c := (*core[T])(o)
	return c.info() + ": its end"
}

// forgoSpare ends the making of what nobody waits for.
func (c *core[T]) forgoSpare() {
	spare := c.spare
	c.spare = nil
	for _, b := range spare {
		b.forgo()
	}
}

// close is Close without a coroutine to destroy anything on.
func (c *core[T]) close(reason error) {
	if c.shut(reason) {
		c.destroyLater(c.takeIdle())
		c.ifDrained()
	}
}

// shut marks the pool closed and turns away whom it must. It reports whether this call did.
func (c *core[T]) shut(reason error) bool {
	if c.reason != nil {
		return false
	}
	c.reason = reason
	c.quick = false
	c.cleanup.Stop()
	for _, clock := range []event.Deadline{c.age.clock, c.checks.clock} {
		if clock != nil {
			clock.Stop()
		}
	}
	leave(c.breaker.strategy)
	c.breaker.use(nil)
	err := c.closedError(callAcquire)
	for w := c.line.First(); w != nil; {
		next := w.Behind()
		if w.Data.build == nil {
			c.uncover(w)
			c.line.Reject(w, err)
		}
		w = next
	}
	c.forgoSpare()
	return true
}

// ifDrained is called when the last resource may be gone.
func (c *core[T]) ifDrained() {
	if c.reason == nil || c.total > 0 || c.drained {
		return
	}
	c.drained = true
	c.inScope.Release()
	c.inHelpers.Release()
	c.base.MarkClosed()
	defer func() { _ = c.helpers.Dispose(c.reason) }()
	for w := c.closers.First(); w != nil; w = c.closers.First() {
		c.closers.Release(w)
	}
	if err := c.base.Notify(nil, nil); err != nil {
		panic("bug: pool: " + err.Error())
	}
}

// dropped is called on some goroutine when the *Pool was collected. It fails when the run is over.
func dropped[T any](c *core[T]) {
	_ = c.s.Post(func() { c.close(ErrDropped) })
}

// closing is a pool as an event.
type closing[T any] core[T]

func (k *closing[T]) StartEvent() error { return nil }
func (k *closing[T]) StopEvent()        {}
func (k *closing[T]) DisposeEvent()     { (*core[T])(k).close(ErrCloseCalled) }
func (k *closing[T]) Info() string      { return (*core[T])(k).info() }

func (k *closing[T]) Outcome() (result any, ok bool, err error) {
	return nil, k.drained, nil
}

// belonging is a pool as a thing of its scope.
type belonging[T any] core[T]

func (o *belonging[T]) ScopeClosed(error) { (*core[T])(o).close(ErrScopeDisposed) }

// ScopeDone takes back what nobody can give back any more, if nothing runs now that might; otherwise the scope around asks again.
func (o *belonging[T]) ScopeDone() error {
	c := (*core[T])(o)
	if c.total == 0 {
		return nil
	}
	if c.s.Stats().Total > 0 {
		c.close(ErrScopeDisposed)
		if !c.drained {
			c.scope.Own(&c.inScope, o)
		}
		return nil
	}
	return event.Join(c.takeBack()...)
}

// takeBack ends the resources that are out, and says who has not released them.
func (c *core[T]) takeBack() []error {
	var left []*entry[T]
	var failures []error
	for _, e := range c.entries {
		if e.isOut() {
			left = append(left, e)
			failures = append(failures, &HookError{c.name, "Release", fmt.Errorf("%w by %s", ErrNotReleased, e.culprit())})
			e.turn++
			e.holder = nil
		}
	}
	c.destroyLater(left)
	if c.onError == nil {
		return failures
	}
	for _, err := range failures {
		c.tolerated(err)
	}
	return nil
}
