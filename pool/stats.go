package pool

import (
	"time"
)

// Stats is what a pool is doing, and has done. Total = Idle + Active.
type Stats struct {
	Total        int // resources that exist, or are being made or destroyed
	Idle         int // of these, those that nobody has, with the reserved ones (POOL-19)
	Active       int // the others: out, looked at by a hook, being made, being destroyed
	Reserved     int // set aside for somebody who was woken and has not run yet
	Constructing int // being made
	Waiting      int // coroutines that wait, and nothing is set aside for them
	Min, Max     int // as configured

	Acquired       uint64        // resources handed out
	EmptyAcquired  uint64        // calls of Acquire that found none idle and waited, with success or not
	Cancelled      uint64        // waits that ended with a cancellation, or a token
	TimedOut       uint64        // waits that ended with a timeout
	Refused        uint64        // acquisitions that the circuit breaker has turned away, TryAcquire included
	Waited         time.Duration // by the waits of all acquisitions together, to within a slice of the scheduler
	Created        uint64        // resources made
	CreateFailures uint64        // and not made
	Destroyed      uint64
	Hijacked       uint64

	State  State // of the circuit breaker
	Probes int   // acquisitions that it has admitted to see whether things work again, and that are not over
	Closed bool  // resources may be left
}

// Stats returns the figures of the moment. It panics with a *event.UsageError on a foreign goroutine.
func (p *Pool[T]) Stats() Stats {
	c := must(p.onLoop("pool: Stats"))
	s := c.stats
	s.Total, s.Min, s.Max = c.total, c.min, c.max
	s.Reserved = c.line.Reserved()
	s.Idle = c.idle.Len() + s.Reserved
	s.Active = s.Total - s.Idle
	s.Constructing = c.builds
	s.Waiting = c.line.Waiting()
	s.State, s.Probes = c.breaker.state(), c.breaker.probes()
	s.Closed = c.reason != nil
	return s
}
