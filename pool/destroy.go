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
	e.shield.Raise(co)
	defer e.shield.Lower()
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
	calls := []func(*scheduler.Coroutine) error{func(self *scheduler.Coroutine) error {
		c.destroyEach(self, entries, c.unseen)
		c.refill()
		return nil
	}}
	c.cleaner().Finally(named(c.name)+": destroy", c.hooks.destroyEntry, calls, func(err error) { c.unseen(c.failure("Destroy", err)) })
}

// cleaner is where resources are destroyed in the background.
func (c *core[T]) cleaner() *scheduler.Scope {
	if c.helpers.Drained() { // by the end of the run
		if root, err := c.s.NewRoot(); err == nil {
			return root
		}
	}
	return c.helpers
}

// takeIdle takes all idle resources, longest idle first.
func (c *core[T]) takeIdle() []*entry[T] {
	taken := make([]*entry[T], 0, c.idle.Len())
	for c.idle.Len() > 0 {
		taken = append(taken, c.idle.Pop())
	}
	return taken
}

// destroyAll ends them in this order on co, whatever becomes of each, and returns the failures.
func (c *core[T]) destroyAll(co *scheduler.Coroutine, entries []*entry[T]) (failures []error) {
	c.destroyEach(co, entries, func(err error) { failures = append(failures, err) })
	return failures
}

// destroyEach ends them in this order on co. Should Destroy exit the goroutine, the rest is ended elsewhere.
func (c *core[T]) destroyEach(co *scheduler.Coroutine, entries []*entry[T], failed func(err error)) {
	defer func() { c.destroyLater(entries) }()
	for len(entries) > 0 {
		e := entries[0]
		entries = entries[1:]
		if err := c.destroy(co, e); err != nil {
			failed(err)
		}
	}
}
