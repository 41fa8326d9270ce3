package pool

import "github.com/uvasync/uvasync/event"

// State returns the state of the circuit breaker. It panics with a *event.UsageError on a foreign goroutine.
func (p *Pool[T]) State() State {
	return must(p.onLoop("pool: State")).breaker.state()
}

// Activate closes the circuit breaker: acquisitions go through (CB-01). Error: *event.UsageError on a foreign goroutine. Loop
// only, as the other two.
func (p *Pool[T]) Activate() error { return p.become("pool: Activate", Active) }

// Deactivate opens the circuit breaker: acquisitions fail at once with [ErrServiceUnavailable], those that wait included (CB-02).
func (p *Pool[T]) Deactivate() error { return p.become("pool: Deactivate", Inactive) }

// Recover lets acquisitions through to see whether things work again, as many at once as the strategy allows.
func (p *Pool[T]) Recover() error { return p.become("pool: Recover", Recovering) }

// SetStrategy makes s the strategy of the circuit breaker in place of the one before; nil removes it, and only the calls above
// change the state (CB-07). One that is set while the pool is not active begins as if the pool had just become so. A closed
// pool has none. Errors: *event.InvalidArgumentError, as for [New]; *event.UsageError on a foreign goroutine.
func (p *Pool[T]) SetStrategy(s Strategy) error {
	c, err := p.onLoop(callSetStrategy)
	if err != nil {
		return err
	}
	if err := checkStrategy(callSetStrategy, s); err != nil {
		return err
	}
	if c.reason != nil {
		return nil
	}
	before := c.breaker.strategy
	leave(before) // it may be the same
	if err := take(s, named(c.name)); err != nil {
		return event.Join(inCall(callSetStrategy, err), take(before, named(c.name)))
	}
	c.breaker.use(s)
	return nil
}

func (p *Pool[T]) become(call string, to State) error {
	c, err := p.onLoop(call)
	if err != nil {
		return err
	}
	c.breaker.become(to)
	return nil
}

// hosting is a pool as its breaker sees it.
type hosting[T any] core[T]

func (g *hosting[T]) call(fn func() error) error { return g.s.Call(fn) }

func (g *hosting[T]) told(hook string, err error) {
	c := (*core[T])(g)
	c.tolerated(c.failure(hook, err))
}

// changed refuses everybody who waits when the pool has become inactive. What is being made for them is there for later.
func (g *hosting[T]) changed(from, to State) {
	c := (*core[T])(g)
	c.refusal = nil
	if from != Inactive || to != Recovering { // otherwise it is what the pool recovers from
		c.cause = nil
	}
	if to != Inactive {
		return
	}
	c.cause = c.failing
	var builds []*build[T]
	for w := c.line.First(); w != nil; w = c.line.First() {
		if b := c.uncover(w); b != nil {
			builds = append(builds, b)
		}
		c.line.Reject(w, c.unavailable())
	}
	for _, b := range builds {
		c.unclaimed(b)
	}
}

// source is the pool as the user has it; after the last *Pool was dropped, another one.
func (g *hosting[T]) source() Source {
	if p := g.self.Value(); p != nil {
		return p
	}
	return &Pool[T]{(*core[T])(g)}
}
