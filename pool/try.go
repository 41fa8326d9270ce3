package pool

import (
	"errors"
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// attempt is a TryAcquire that lets Create run, once, without waiting for what Create waits for. Loop goroutine only.
type attempt[T any] struct {
	entry *entry[T]
	err   error
}

// TryAcquire is Acquire without waiting for a resource: ok is false when none is idle that is not set aside for somebody, and
// none can be made at once, or when the pool is closed or its circuit breaker open (POOL-09, CB-02). When there is room for one
// more and nobody waits, Create is called: what it returns without suspending is taken, and what it returns later becomes idle
// (with uvtest.Shuffle, where the order is luck, what it returns at once may come too late, too).
// Only BeforeAcquire, and Destroy for what that does not accept, can make it suspend.
//
// Errors: that of Create, unless it is [ErrNoResource] (POOL-06); that of Destroy (POOL-21); the cancellation of co;
// *event.UsageError.
func (p *Pool[T]) TryAcquire(co *scheduler.Coroutine) (h Handle[T], ok bool, err error) {
	c, err := p.by(callTryAcquire, co)
	if err == nil {
		err = co.Enter(callTryAcquire)
	}
	if err != nil {
		return h, false, err
	}
	t, err := c.admit(callTryAcquire)
	if err != nil {
		return h, false, nil
	}
	defer func() {
		if !ok {
			c.breaker.nothing(t)
		}
		runtime.KeepAlive(p) // a hook may suspend
	}()
	for {
		e := c.popIdle()
		if e == nil {
			if e, err = c.tryToMake(co, &t); e == nil {
				return h, false, err
			}
		}
		if e.fresh || c.hooks.acquire == nil || c.accepted(co, e) {
			return c.out(co, e, t), true, nil
		}
		if err := c.destroy(co, e); err != nil {
			return h, false, err
		}
		if err := c.mayGoOn(callTryAcquire, co); err != nil {
			if errors.Is(err, event.ErrClosed) || errors.Is(err, ErrServiceUnavailable) {
				err = nil
			}
			return h, false, err
		}
	}
}

// tryToMake lets Create run on behalf of co, which is next after it.
func (c *core[T]) tryToMake(co *scheduler.Coroutine, t *ticket) (*entry[T], error) {
	if c.total >= c.max || c.line.First() != nil {
		return nil, nil
	}
	a := &attempt[T]{}
	b := c.build(nil, co)
	if b.over { // the run is ending
		return nil, nil
	}
	b.try = a
	taken := false
	defer func() {
		b.try = nil                   // what is made later is for anybody
		if a.entry != nil && !taken { // also when co is unwound
			c.put(a.entry)
		}
	}()
	err := co.YieldTo(b.co)
	switch {
	case a.entry != nil && err == nil:
		taken = true
		return a.entry, nil
	case a.err != nil:
		c.judge(*t, a.err)
		*t = 0
		if !errors.Is(a.err, ErrNoResource) {
			err = event.WithCause(a.err, err)
		}
	}
	return nil, err
}
