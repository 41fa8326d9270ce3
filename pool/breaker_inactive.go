package pool

// whileInactive lets nothing through, unless the strategy says that it is time to recover (CB-07). Nobody has a ticket of
// this state.
type whileInactive struct{}

func (whileInactive) admit(b *breaker) bool {
	asked := b.ticket
	if b.shouldRecover() && b.ticket == asked {
		b.become(Recovering)
	}
	// The strategy and the hooks may have changed it to anything. Nobody is asked twice for one acquisition.
	return b.phase != Inactive && b.in.admit(b)
}

func (whileInactive) success(*breaker)        {}
func (whileInactive) failure(*breaker, error) {}
func (whileInactive) nothing(*breaker)        {}

// shouldRecover asks the strategy. Those that come while it is being asked are not let through, and do not ask again: a
// strategy that tries the pool for its answer would never come to an end.
func (b *breaker) shouldRecover() (yes bool) {
	if b.strategy == nil || b.asking {
		return false
	}
	b.asking = true
	defer func() { b.asking = false }()
	b.run(strategyHook, func() error {
		yes = b.strategy.ShouldRecover(b.host.source())
		return nil
	})
	return yes
}
