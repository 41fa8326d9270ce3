package pool

// whileRecovering lets probes through, as many at a time as the strategy has places for.
type whileRecovering struct{}

func (whileRecovering) admit(b *breaker) bool {
	asked := b.ticket
	places := b.places()
	if b.ticket != asked || places > 0 && b.out >= places {
		return false
	}
	b.out++
	return true
}

// The place is free before the strategy is told, so that one which looks at the pool, or acquires from it, finds it so.

func (whileRecovering) success(b *breaker) {
	b.freePlace()
	b.reportSuccess()
}

func (whileRecovering) failure(b *breaker, err error) {
	b.freePlace()
	b.reportFailure(err)
}

func (whileRecovering) nothing(b *breaker) { b.freePlace() }

func (b *breaker) freePlace() {
	if b.out == 0 {
		panic("bug: pool: a ticket of the breaker was given back twice")
	}
	b.out--
}

// places asks the strategy how many probes may be out; 0 or less means any number.
func (b *breaker) places() (n int) {
	if b.prober != nil {
		b.run(strategyHook, func() error {
			n = b.prober.Probes()
			return nil
		})
	}
	return n
}
