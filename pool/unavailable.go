package pool

import (
	"fmt"
	"time"
)

// UnavailableError says that a pool hands out nothing because of its circuit breaker. It matches [ErrServiceUnavailable].
type UnavailableError struct {
	Pool  string    // its name
	State State     // [Inactive]; [Recovering] when all probes are out; another one when a [Prober] has just changed it
	Since time.Time // about when it began to refuse, on the clock of the run
	Cause error     // the failure at which its strategy has turned it off; nil: somebody did so by hand
}

func (e *UnavailableError) Error() string {
	text := named(e.Pool) + " is changing its state; try again"
	switch e.State {
	case Inactive:
		text = named(e.Pool) + " is inactive: its circuit breaker is open; try again later"
	case Recovering:
		text = named(e.Pool) + " is recovering, and all probes of its circuit breaker are out; try again later"
	}
	switch cause := e.Cause.(type) {
	case nil:
		return text
	case *HookError:
		return text + fmt.Sprintf(" (%s: %v)", cause.Hook, cause.Err)
	default:
		return text + fmt.Sprintf(" (%v)", cause)
	}
}

// Is reports whether target is ErrServiceUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrServiceUnavailable }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// unavailable counts a refusal and returns its error, which is made once for each state.
func (c *core[T]) unavailable() error {
	c.stats.Refused++
	if state := c.breaker.state(); c.refusal == nil || c.refusal.State != state {
		c.refusal = &UnavailableError{c.name, state, c.s.Reactor().Now(), c.cause}
	}
	return c.refusal
}

// reportFailure tells the breaker of a failure, which is the cause if it opens now.
func (c *core[T]) reportFailure(t ticket, err error) {
	before := c.failing
	c.failing = err
	defer func() { c.failing = before }()
	c.breaker.failure(t, err)
}
