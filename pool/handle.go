package pool

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Handle is a resource that was acquired. It is a small value, and copies of it are the same handle: what one gives back, all
// have given back. The zero value is no resource's.
type Handle[T any] struct {
	e    *entry[T]
	turn uint64
}

// Value returns the resource, also when it was given back: it is somebody else's then (POOL-38). The zero value of a Handle has
// the zero value of T.
func (h Handle[T]) Value() (v T) {
	if h.e == nil {
		return v
	}
	return h.e.value
}

// Release gives the resource back: to who has waited longest, or to be idle (POOL-10). It is destroyed instead when BeforeRelease
// does not accept it (POOL-22), when it is too old, was there before a Reset, or the pool is closed (POOL-31). co is the coroutine
// that calls, which need not be the one that has acquired it; when co is cancelled, everything is done all the same (POOL-41).
//
// Errors: that of Destroy; *event.UsageError when it was given back already, which harms nobody, when the handle is none, or for
// any misuse of co.
func (h Handle[T]) Release(co *scheduler.Coroutine) error {
	e := h.e
	// back, written out, because most calls are good and it is not inlined.
	if e == nil || co.Check(callRelease) != nil || co.Scheduler() != e.pool.s || e.turn != h.turn {
		return h.back(callRelease, co)
	}
	e.turn++
	e.holder = nil
	c := e.pool
	if c.plain && c.breaker.asksNobody() && !c.stale(e) {
		c.put(e)
		return nil
	}
	return c.release(co, e)
}

// back is the beginning of what ends the holding of the resource: with this call, or not at all.
func (h Handle[T]) back(call string, co *scheduler.Coroutine) error {
	e := h.e
	if e == nil {
		return noHandle(call)
	}
	if err := e.pool.by(call, co); err != nil {
		return err
	}
	return h.end(call)
}

// end notes that the resource is out no more. The ticket stays until the breaker was told.
func (h Handle[T]) end(call string) error {
	e := h.e
	if e.turn != h.turn {
		return e.pool.ended(call)
	}
	e.turn++
	e.holder = nil
	return nil
}

func (c *core[T]) ended(call string) error {
	return &event.UsageError{
		Call: call, Problem: "the resource of " + c.brief() + " was given back already",
		Fix: "end each handle once: by Release, Discard, Destroy or Hijack",
	}
}

func noHandle(call string) error {
	return &event.UsageError{Call: call, Problem: "the handle is the zero value: it has no resource", Fix: "look at the error of Acquire first"}
}

// release is Release with everything there is to ask.
func (c *core[T]) release(co *scheduler.Coroutine, e *entry[T]) (err error) {
	ok, kept := false, false
	defer func() {
		if kept {
			return
		}
		err = c.destroy(co, e)
		if ok { // it was only old: another one takes its place
			c.refill()
		}
	}()
	ok = c.accepts(co, e)
	t := e.ticket
	e.ticket = 0
	if ok {
		c.breaker.success(t)
	} else {
		c.reportFailure(t, ErrRejected)
	}
	if kept = ok && !c.stale(e) && !e.span.outlived(c.now()); kept {
		c.put(e)
	}
	return nil
}

// accepts asks BeforeRelease.
func (c *core[T]) accepts(co *scheduler.Coroutine, e *entry[T]) bool {
	if c.hooks.release == nil {
		return true
	}
	e.shield.Raise(co)
	defer e.shield.Lower()
	ok, err := c.hooks.mayRelease(co, e.value)
	return c.verdict("BeforeRelease", ok, err)
}

// Destroy is Discard without a reason: the breaker is told [ErrDestroyed].
func (h Handle[T]) Destroy(co *scheduler.Coroutine) error {
	return h.destroy(callDestroy, co, ErrDestroyed)
}

// Discard takes the resource out of the pool and destroys it, for those who know that it is no good: the breaker counts a failure,
// for that reason, which must not be nil. A Release that follows, in a defer, is an error that harms nobody. Errors:
// *event.InvalidArgumentError, and as for Release. It works when co is cancelled.
func (h Handle[T]) Discard(co *scheduler.Coroutine, reason error) error {
	if reason == nil {
		return &event.InvalidArgumentError{Call: callDiscard, Arg: "reason", Got: nil, Legal: "say why, or use Destroy"}
	}
	return h.destroy(callDiscard, co, reason)
}

func (h Handle[T]) destroy(call string, co *scheduler.Coroutine, reason error) (err error) {
	if err := h.back(call, co); err != nil {
		return err
	}
	e, c := h.e, h.e.pool
	defer func() { err = c.destroy(co, e) }()
	t := e.ticket
	e.ticket = 0
	c.reportFailure(t, reason)
	return nil
}

// Hijack takes the resource out of the pool, which may make another one in its place, and returns it: it is the caller's own,
// and nothing destroys it. The breaker counts nothing. Error: *event.UsageError as for Release, or from a foreign goroutine.
func (h Handle[T]) Hijack() (T, error) {
	var none T
	e := h.e
	if e == nil {
		return none, noHandle(callHijack)
	}
	c := e.pool
	if err := c.s.Check(callHijack); err != nil {
		return none, err
	}
	if err := h.end(callHijack); err != nil {
		return none, err
	}
	t := e.ticket
	e.ticket = 0
	c.stats.Hijacked++
	c.breaker.nothing(t)
	c.drop(e)
	return e.value, nil
}
