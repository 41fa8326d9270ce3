package pool

import "time"

// State returns the state of the circuit breaker. It panics with a *event.UsageError on a foreign goroutine.
func (p *Pool[T]) State() State {
	p.core.must("pool: State")
	return p.core.breaker.state()
}

// Activate closes the circuit breaker: acquisitions go through (CB-01). Error: *event.UsageError on a foreign goroutine. Loop only,
// as the other two.
func (p *Pool[T]) Activate() error { return p.core.become("pool: Activate", Active) }

// Deactivate opens the circuit breaker: acquisitions fail at once with [ErrServiceUnavailable], those that wait included (CB-02).
func (p *Pool[T]) Deactivate() error { return p.core.become("pool: Deactivate", Inactive) }

// Recover lets acquisitions through to see whether things work again, as many at once as the strategy allows.
func (p *Pool[T]) Recover() error { return p.core.become("pool: Recover", Recovering) }

func (c *core[T]) become(call string, to State) error {
	if err := c.s.Check(call); err != nil {
		return err
	}
	c.breaker.become(to)
	return nil
}

// guarded is a pool as its breaker sees it.
type guarded[T any] core[T]

func (g *guarded[T]) call(fn func() error) error { return g.s.Call(fn) }
func (g *guarded[T]) told(err error)             { (*core[T])(g).told(err) }

// opened refuses everybody who waits. What is being made for them is there for later.
func (g *guarded[T]) opened() {
	c := (*core[T])(g)
	for w := c.line.First(); w != nil; w = c.line.First() {
		b := w.Data.build
		w.Data.build = nil
		c.line.Reject(w, ErrServiceUnavailable)
		if b != nil {
			c.unclaimed(b)
		}
	}
}

// source is the pool as the user has it; after the last *Pool was dropped, another one.
func (g *guarded[T]) source() Source {
	if p := g.self.Value(); p != nil {
		return p
	}
	return &Pool[T]{(*core[T])(g)}
}

func (g *guarded[T]) Name() string      { return g.source().Name() }
func (g *guarded[T]) State() State      { return g.source().State() }
func (g *guarded[T]) Now() time.Time    { return g.source().Now() }
func (g *guarded[T]) Activate() error   { return g.source().Activate() }
func (g *guarded[T]) Deactivate() error { return g.source().Deactivate() }
func (g *guarded[T]) Recover() error    { return g.source().Recover() }
func (g *guarded[T]) Stats() Stats      { return g.source().Stats() }
func (g *guarded[T]) Info() string      { return g.source().Info() }
