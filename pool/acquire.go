package pool

import (
	"errors"
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Acquire takes the resource that has been idle longest; makes one, when there is none and fewer than Config.Max exist; or else
// waits for one, in the order of arrival (POOL-03, POOL-10). Release it when you are done, in a defer. An Acquire that gives up
// leaves what is being made for it to the others (POOL-41).
//
// Errors: *event.ClosedError when the pool is closed, before or meanwhile (POOL-09, POOL-27); [ErrServiceUnavailable] when the
// circuit breaker is open, before or meanwhile; the error of Create, or [ErrNoResource]; that of Destroy, when it fails for a
// resource that BeforeAcquire did not accept (POOL-21); the cancellation of co; ErrTimeout and *event.CancelledError of the
// options, or ErrTimeout of Config.AcquireTimeout (POOL-08); *event.UsageError for a coroutine of another run, or any misuse of
// co; *event.InvalidArgumentError. A Timeout bounds BeforeAcquire, too.
func (p *Pool[T]) Acquire(co *scheduler.Coroutine, opts ...scheduler.WaitOption) (Handle[T], error) {
	c, err := p.made(callAcquire)
	if err != nil {
		return Handle[T]{}, err
	}
	if err := co.Enter(callAcquire); err != nil {
		return Handle[T]{}, err
	}
	if co.Scheduler() != c.s || len(opts) > 0 {
		if err := c.check(callAcquire, co, opts); err != nil {
			return Handle[T]{}, err
		}
	}
	if !c.quick || c.breaker.state() != Active {
		h, err := c.acquire(co, opts)
		runtime.KeepAlive(p)
		return h, err
	}
	t, _ := c.breaker.admit()
	if c.idle.Len() > 0 {
		h := c.out(co, c.idle.Pop(), t)
		co.Lucky()
		return h, nil
	}
	c.stats.EmptyAcquired++
	w, over, err := c.beginWait(co, ask[T]{ticket: t}, opts)
	if !over {
		began := c.s.Clock()
		// Here and not further down: see scheduler's Parking.
		co.Switch()
		err = w.Parked()
		c.stats.Waited += c.s.Clock() - began
	}
	e, t, err := c.endWait(co, w, err)
	runtime.KeepAlive(p)
	if err != nil {
		return Handle[T]{}, err
	}
	return c.out(co, e, t), nil
}

// check is what is left of the beginning of a call, when Enter has found nothing and there is something to look at.
func (c *core[T]) check(call string, co *scheduler.Coroutine, opts []scheduler.WaitOption) error {
	if err := c.by(call, co); err != nil {
		return err
	}
	return scheduler.CheckOptions(call, opts)
}

// admit asks whether anything is handed out: first the pool, then the breaker (POOL-09). Asking that one may close the pool.
func (c *core[T]) admit(call string) (ticket, error) {
	if c.reason != nil {
		return 0, c.closedError(call)
	}
	t, ok := c.breaker.admit()
	switch {
	case c.reason != nil:
		c.breaker.nothing(t)
		return 0, c.closedError(call)
	case !ok:
		return 0, c.unavailable()
	}
	return t, nil
}

// acquire is Acquire for a pool that has questions.
func (c *core[T]) acquire(co *scheduler.Coroutine, opts []scheduler.WaitOption) (Handle[T], error) {
	t, err := c.admit(callAcquire)
	if err != nil {
		return Handle[T]{}, err
	}
	limit := scheduler.TimeoutOf(opts)
	if limit == 0 {
		limit = c.timeout
	}
	if c.hooks.acquire == nil || limit == 0 {
		return c.obtain(co, t, opts)
	}
	var h Handle[T]
	late, begun := false, false
	err = co.WithTimeout(limit, func(co *scheduler.Coroutine) (err error) {
		begun = true
		h, err = c.obtain(co, t, opts)
		late = err != nil && err == co.Err() && errors.Is(err, event.ErrTimeout)
		return err
	})
	if !begun { // co was cancelled by a strategy
		c.breaker.nothing(t)
	}
	if late {
		err = c.late(&event.TimeoutError{Call: callAcquire, Limit: limit})
	}
	return h, err
}

// obtain gets a resource for co that was admitted with t.
func (c *core[T]) obtain(co *scheduler.Coroutine, t ticket, opts []scheduler.WaitOption) (_ Handle[T], err error) {
	admitted := true
	defer func() {
		if admitted { // also when a hook exits
			c.breaker.nothing(t)
		}
	}()
	c.arrivals = max(1, c.arrivals+1)
	for came, empty := c.arrivals, false; ; {
		e := c.popIdle()
		if e == nil {
			if !empty {
				empty = true
				c.stats.EmptyAcquired++
			}
			admitted = false // the ticket is that of the waiter
			w, over, err := c.beginWait(co, ask[T]{ticket: t, came: came}, opts)
			if !over {
				began := c.s.Clock()
				co.Switch()
				err = w.Parked()
				c.stats.Waited += c.s.Clock() - began
			}
			if e, t, err = c.endWait(co, w, err); err != nil {
				return Handle[T]{}, err
			}
			admitted = true
		}
		if e.fresh || c.hooks.acquire == nil || c.accepted(co, e) {
			admitted = false
			h := c.out(co, e, t)
			if !empty {
				co.Lucky()
			}
			return h, nil
		}
		if err := c.destroy(co, e); err != nil { // POOL-21
			return Handle[T]{}, err
		}
		if err := c.mayGoOn(callAcquire, co); err != nil {
			return Handle[T]{}, err
		}
	}
}

// mayGoOn is asked when what was there was no good, and hooks have run.
func (c *core[T]) mayGoOn(call string, co *scheduler.Coroutine) error {
	if err := co.Enter(call); err != nil {
		return err
	}
	if c.reason != nil {
		return c.closedError(call)
	}
	if c.breaker.state() == Inactive {
		return c.unavailable()
	}
	return nil
}

// accepted asks BeforeAcquire (POOL-20). A resource whose hook exits is destroyed.
func (c *core[T]) accepted(co *scheduler.Coroutine, e *entry[T]) bool {
	returned := false
	defer func() {
		if !returned {
			c.destroyLater([]*entry[T]{e})
		}
	}()
	ok, err := c.hooks.mayAcquire(co, e.value)
	ok = c.verdict("BeforeAcquire", ok, err)
	returned = true // and not before: OnError may exit, too
	return ok
}

// popIdle takes the resource that has been idle longest and is not too old; nil: there is none.
func (c *core[T]) popIdle() *entry[T] {
	now := c.now()
	for c.idle.Len() > 0 {
		e := c.idle.Pop()
		if !c.tooOld(e, now, 0) {
			return e
		}
		c.destroyLater([]*entry[T]{e})
	}
	return nil
}

// AcquireAllIdle takes all resources that are idle and not set aside for anybody, longest idle first; it asks no hook and does
// not wait. It is for upkeep: the circuit breaker neither stands in its way nor counts what becomes of them. A closed pool has
// none. Error: *event.UsageError from a foreign goroutine.
func (p *Pool[T]) AcquireAllIdle() ([]Handle[T], error) {
	c, err := p.onLoop(callAcquireAllIdle)
	if err != nil {
		return nil, err
	}
	var all []Handle[T]
	for _, e := range c.takeIdle() {
		all = append(all, c.out(c.s.Current(), e, 0))
	}
	return all, nil
}
