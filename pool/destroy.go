package pool

import "github.com/uvasync/uvasync/scheduler"

// destroy ends e, which nobody has, on co, protected from its cancellation, and returns the failure of Destroy. The resource
// counts until then, and is gone after it in any case.
func (c *core[T]) destroy(co *scheduler.Coroutine, e *entry[T]) error {
	c.condemn(e)
	defer func() {
		c.stats.Destroyed++
		c.drop(e)
	}()
	if c.hooks.destroy == nil {
		return nil
	}
	e.guard.Raise(co)
	defer e.guard.Lower()
	return c.failure("Destroy", c.hooks.unmake(co, e.value))
}

// destroyLater ends them in this order, on a coroutine of its own, which the run waits for and a shutdown lets begin in any case;
// then what Config.Min lacks is made.
func (c *core[T]) destroyLater(entries []*entry[T]) {
	if len(entries) == 0 {
		return
	}
	if c.hooks.destroy == nil {
		for _, e := range entries {
			c.stats.Destroyed++
			c.drop(e)
		}
		c.refill()
		return
	}
	for _, e := range entries {
		c.condemn(e)
	}
	calls := make([]func(*scheduler.Coroutine) error, len(entries))
	for i, e := range entries {
		calls[i] = func(self *scheduler.Coroutine) error { return c.destroy(self, e) }
	}
	calls = append(calls, func(*scheduler.Coroutine) error { c.refill(); return nil })
	c.cleaner().Finally(named(c.name)+": destroy", c.hooks.destroyEntry, calls, c.failed)
}

// cleaner is where resources are destroyed in the background.
func (c *core[T]) cleaner() *scheduler.Scope {
	if c.own.Drained() { // by the end of the run
		if root, err := c.s.NewRoot(); err == nil {
			return root
		}
	}
	return c.own
}

// takeIdle takes all idle resources, longest idle first.
func (c *core[T]) takeIdle() []*entry[T] {
	taken := make([]*entry[T], 0, c.idle.Len())
	for c.idle.Len() > 0 {
		taken = append(taken, c.idle.Pop())
	}
	return taken
}

// destroyAll ends them in this order on co, whatever becomes of each, and returns the failures. Should Destroy exit the
// goroutine, the rest is ended elsewhere.
func (c *core[T]) destroyAll(co *scheduler.Coroutine, entries []*entry[T]) []error {
	defer func() { c.destroyLater(entries) }()
	var failures []error
	for len(entries) > 0 {
		e := entries[0]
		entries = entries[1:]
		failures = append(failures, c.destroy(co, e))
	}
	return failures
}
