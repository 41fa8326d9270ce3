package pool

import "strconv"

// State is what the circuit breaker of a pool lets through. By hand any state may become any other (CB-01).
type State uint8

const (
	// Active: acquisitions go through; the circuit is closed, as the field says. A pool begins so.
	Active State = iota
	// Inactive: the circuit is open: acquisitions fail at once with [ErrServiceUnavailable], and so do those that wait
	// (CB-02). With a [Strategy] each acquisition asks first whether it is time for the pool to recover (CB-07).
	Inactive
	// Recovering: the circuit is half-open: acquisitions go through as probes, with a [Prober] only some at a time.
	Recovering
)

// String returns "active", "inactive" or "recovering".
func (s State) String() string {
	switch s {
	case Active:
		return "active"
	case Inactive:
		return "inactive"
	case Recovering:
		return "recovering"
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}
