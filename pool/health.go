package pool

import (
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// checks are the health checks of a pool: a hidden clock, and one pass at a time, on a hidden coroutine (POOL-37). Loop goroutine
// only.
type checks struct {
	every time.Duration
	clock event.Deadline // nil: there are none
	pass  uint32         // how many have begun
	busy  bool           // one is under way
}

// schedule starts the clock, for a pool that has checks.
func (c *core[T]) schedule(every time.Duration) {
	if every == 0 || c.hooks.health == nil {
		return
	}
	c.checks.every = every
	c.checks.clock = c.s.Reactor().NewDeadline(c.checkDue)
	c.checks.clock.SetHidden(true)
	c.start(c.checks.clock, every)
}

// checkDue begins a pass, unless the last one has not ended.
func (c *core[T]) checkDue() {
	if c.reason != nil {
		return
	}
	c.start(c.checks.clock, c.checks.every)
	if c.checks.busy {
		return
	}
	c.checks.busy = true
	_, err := c.helpers.Spawn(c.checkAll, scheduler.Serving(), scheduler.SettledBy((*checking[T])(c)),
		scheduler.Named(named(c.name)+": health check"), scheduler.EntryOf(c.hooks.healthEntry))
	if err != nil { // the run is ending
		c.checks.busy = false
	}
}

// checkAll looks at each idle resource once, the longest idle first, one at a time: the others can be acquired meanwhile.
func (c *core[T]) checkAll(co *scheduler.Coroutine) error {
	c.checks.pass++
	for co.Enter(callHealth) == nil {
		e := c.unchecked()
		if e == nil {
			break
		}
		e.pass = c.checks.pass
		c.checkOne(co, e)
	}
	c.refill()
	return nil
}

// unchecked takes the idle resource that comes first of those that the pass has not come to; nil: there is none. It looks at few:
// those that were checked are at the end, and behind them at most what was out meanwhile.
func (c *core[T]) unchecked() *entry[T] {
	for i := range c.idle.Len() {
		if c.idle.At(i).pass != c.checks.pass {
			return c.idle.Remove(i)
		}
	}
	return nil
}

// checkOne looks at one resource and puts it back, or destroys it. One whose check exits is destroyed.
func (c *core[T]) checkOne(co *scheduler.Coroutine, e *entry[T]) {
	healthy := false
	defer func() {
		if healthy && !c.stale(e) {
			c.put(e)
		} else if err := c.destroy(co, e); err != nil {
			c.unseen(err)
		}
	}()
	e.shield.Raise(co)
	defer e.shield.Lower()
	ok, failure := c.hooks.healthy(co, e.value)
	healthy = c.verdict("HealthCheck", ok, failure)
}

// checking is told of the end of a pass.
type checking[T any] core[T]

func (o *checking[T]) Settle(_ *scheduler.Coroutine, err error) {
	c := (*core[T])(o)
	c.checks.busy = false
	if err != nil && !event.IsCancellation(err) {
		c.unseen(c.failure("HealthCheck", err))
	}
}
