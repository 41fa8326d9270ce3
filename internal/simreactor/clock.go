package simreactor

import (
	"math"
	"time"
)

// Epoch is when the clock of every Reactor begins: midnight UTC 2000-01-01, as in testing/synctest.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// never is a time that the clock does not reach: some 292 years after Epoch.
const never = math.MaxInt64

// clock is the virtual time, in ns since Epoch; less than never.
type clock struct{ now int64 }

// after is the time when d has passed, never if that is beyond the clock's range, so that nothing enormous is early.
func (c *clock) after(d time.Duration) int64 {
	if int64(d) >= never-c.now {
		return never
	}
	return c.now + int64(d)
}

// roundUp makes what is below a millisecond one, never none (REACT-07).
func roundUp(d time.Duration) time.Duration {
	if 0 < d && d < time.Millisecond {
		return time.Millisecond
	}
	return d
}

// Now is the virtual time. It has no monotonic reading and needs none.
func (r *Reactor) Now() time.Time { return Epoch.Add(time.Duration(r.clock.now)) }

// Elapsed is the virtual time since Epoch.
func (r *Reactor) Elapsed() time.Duration { return time.Duration(r.clock.now) }

// Advance moves the clock on by d, as if the code that runs had taken so long. What has become due happens in the next
// turn. Errors: *event.InvalidArgumentError when d is negative or leads further than 292 years from Epoch, ErrClosed on a
// closed loop.
func (r *Reactor) Advance(d time.Duration) error {
	const call = "Reactor.Advance"
	if r.closed {
		return closedError(call)
	}
	now := r.clock.after(d)
	if d < 0 || now == never {
		return invalid(call, "duration", d, "it must not be negative, nor lead out of the clock's range of 292 years")
	}
	r.clock.now = now
	return nil
}
