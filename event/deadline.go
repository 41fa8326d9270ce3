package event

import "time"

// Deadline is a time limit of a loop: it calls the function that it was made with when its time has come, unless it is
// stopped before. Reactors make them, schedulers use them. Loop goroutine only.
type Deadline interface {
	// Start has the function called after d, never early; one that runs starts anew. Delays up to 1 ms count as 1 ms.
	// Errors: [InvalidArgumentError] for a negative d, ErrClosed once the loop is closed.
	Start(d time.Duration) error
	// Stop makes the function not be called; it reports whether the deadline was running.
	Stop() bool
	// SetHidden makes it not count as a live event, from the next Start on.
	SetHidden(hidden bool)
	// Running reports whether it is started and the function has not been called yet.
	Running() bool
}
