package scheduler

import (
	"time"

	"github.com/uvasync/uvasync/event"
)

// Reactor is what a scheduler needs of an event loop. It has one Reactor for itself: nobody else turns it.
type Reactor interface {
	// Tick is one turn: what has happened is dispatched to its subscribers. With block it waits until something happens or
	// is posted.
	Tick(block bool) (int, error)
	// Post has fn run within a later Tick. Any goroutine may call it.
	Post(fn func()) error
	// Pending reports whether something was posted that has not run.
	Pending() bool
	// Live is how many visible events are started.
	Live() int
	// Count is what Live reads: visible things without a handle on the loop add themselves to it.
	Count() *event.Count
	// NewDeadline makes a time limit that calls fn within a Tick.
	NewDeadline(fn func()) event.Deadline
	// Now is the time of day, with a monotonic reading where there is one; virtual in a simulation.
	Now() time.Time
	// Elapsed is monotonic time from any beginning, for the cheapest look at the clock.
	Elapsed() time.Duration
}
