package pool

import (
	"slices"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// build is a resource that is being made, on a coroutine of the pool. It counts from the beginning (POOL-04). Loop goroutine only.
type build[T any] struct {
	pool   *core[T]
	co     *scheduler.Coroutine
	waiter *waitq.Waiter[ask[T]] // whom its error concerns; nil: nobody
	try    *attempt[T]           // the TryAcquire that began it, and is still there
	reset  uint32                // of the pool when it began
	ticket ticket                // what its failure counts as for the breaker when nobody waits for it; none is given back
	begun  bool
	over   bool
}

// build starts to make a resource for w, which is in the line, or nil. There must be room. values is the coroutine whose values
// Create finds; nil: those of the scope.
func (c *core[T]) build(w *waitq.Waiter[ask[T]], values *scheduler.Coroutine) *build[T] {
	b := &build[T]{pool: c, reset: c.reset, ticket: c.breaker.witness()}
	c.total++
	c.builds++
	opts := []scheduler.SpawnOption{
		scheduler.Serving(), scheduler.SettledBy(b), scheduler.ValuesOf(values),
		scheduler.Named(named(c.name) + ": create"), scheduler.EntryOf(c.hooks.createEntry),
	}
	if w != nil {
		c.claim(b, w)
	} else {
		c.spare = append(c.spare, b)
	}
	co, err := c.helpers.Spawn(b.run, opts...)
	if err != nil {
		b.end(nil, err)
		return b
	}
	b.co = co
	return b
}

func (b *build[T]) run(co *scheduler.Coroutine) error {
	b.begun = true
	v, err := b.pool.hooks.produce(co)
	if err != nil {
		b.end(nil, b.pool.failure("Create", err))
		return nil
	}
	return b.end(&v, nil)
}

// Settle is told when the coroutine has ended: here is what has not gone as run has it. What was given up by a Reset is gone now, and
// makes room for what Config.Min lacks.
func (b *build[T]) Settle(_ *scheduler.Coroutine, err error) {
	switch {
	case !b.over && b.begun: // Create exits
		b.end(nil, b.pool.failure("Create", err))
	case !b.over:
		b.end(nil, err)
	case err != nil:
		b.pool.unseen(err)
	}
	b.co = nil // it knows who wanted the resource
	if b.stale() {
		b.pool.refill()
	}
}

// forgo ends it, as nobody shall have what is made.
func (b *build[T]) forgo() {
	if b.co != nil && !b.over {
		_ = b.co.Cancel(b.pool.reason)
	}
}

// end is called once, with what was made, or why not. It returns the failure of a destructor.
func (b *build[T]) end(v *T, err error) error {
	c := b.pool
	b.over = true
	c.builds--
	w, try := b.waiter, b.try
	if w != nil {
		c.uncover(w)
	} else {
		c.unspare(b)
	}
	if v == nil {
		c.total--
		c.stats.CreateFailures++
		c.unmade(b, w, try, err)
		c.vacated()
		return nil
	}
	e := c.add(*v, b.reset)
	switch {
	case w != nil: // also when the pool was closed or reset meanwhile (POOL-32)
		first := c.line.First()
		if first != w { // it came before: the two change over
			if other := c.uncover(first); other != nil {
				c.claim(other, w)
			}
		}
		c.reserve(first, e)
	case try != nil && c.line.First() == nil:
		try.entry = e
	case c.stale(e):
		return c.destroy(b.co, e)
	default:
		c.put(e)
	}
	return nil
}

// unmade tells whoever is concerned that a resource could not be made.
func (c *core[T]) unmade(b *build[T], w *waitq.Waiter[ask[T]], try *attempt[T], err error) {
	switch {
	case w != nil:
		if c.reason != nil && event.IsCancellation(err) {
			err = event.WithCause(c.closedError(callAcquire), err)
		}
		t := w.Data.ticket
		w.Data.ticket = 0
		c.line.Reject(w, err)
		c.judge(t, err)
	case b.stale() && event.IsCancellation(err): // nobody shall have it
	case try != nil:
		try.err = err
	default:
		c.tolerated(err)
		c.judge(b.ticket, err)
	}
}

// stale reports whether what is made is only for those who waited when it began.
func (b *build[T]) stale() bool { return b.pool.reason != nil || b.reset != b.pool.reset }

// judge tells the breaker what became of an attempt to make a resource: nothing, when it was cancelled.
func (c *core[T]) judge(t ticket, err error) {
	if event.IsCancellation(err) {
		c.breaker.nothing(t)
		return
	}
	c.reportFailure(t, err)
}

func (c *core[T]) unspare(b *build[T]) {
	for i, s := range c.spare {
		if s == b {
			c.spare = slices.Delete(c.spare, i, i+1)
			return
		}
	}
}

// refill makes what is missing to the least number of resources, as far as there is room.
func (c *core[T]) refill() {
	for c.reason == nil && c.total < c.max && c.total-c.dying < c.min {
		if c.build(nil, nil).over { // the pool is about to be closed
			return
		}
	}
}
