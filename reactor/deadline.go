package reactor

import (
	"time"

	"github.com/uvasync/uvasync/event"
)

// Deadline calls a function when a time has passed, unless it is stopped before; for the many time limits of a program
// that nobody else subscribes to. All of a loop share one uv_timer_t, and starting or stopping one costs the same with
// ten running or a million. Embed it in what it belongs to: it allocates nothing. Never early, like a [Timer], and in the
// order of the delays among those that were started in one turn.
//
// The zero value is to be made ready with Init. Do not copy it. Loop goroutine only.
type Deadline struct {
	next, prev *Deadline
	loop       *Loop
	fn         func(*Deadline)
	due        uint64 // ns: while waiting for its first flush the delay, then the time
	at         uint64 // ms: due, rounded up
	state      deadlineState
	hidden     bool
	level      uint8
	slot       uint8
}

var _ event.Deadline = (*Deadline)(nil)

type deadlineState uint8

const (
	deadlineIdle    deadlineState = iota
	deadlineStarted               // since the last turn: in wheel.started
	deadlinePlaced                // in a slot of the wheel
	deadlineDue                   // in wheel.due, about to be called
)

// Init makes d ready: fn is called with d when the time has come. It panics with a *event.UsageError when d is running.
func (d *Deadline) Init(l *Loop, fn func(*Deadline)) {
	if d.state != deadlineIdle {
		panic(usage("Deadline.Init", "the deadline is running", "stop it first"))
	}
	*d = Deadline{loop: l, fn: fn}
}

// NewDeadline makes a deadline of its own, for those who know the loop only as an interface; fn is called on the loop's
// goroutine when the time has come. Who can name the type embeds a [Deadline] instead, which allocates nothing. It panics
// with an *event.InvalidArgumentError when fn is nil. On a closed loop its Start answers ErrClosed.
func (l *Loop) NewDeadline(fn func()) event.Deadline {
	if fn == nil {
		panic(nilFunction("Loop.NewDeadline"))
	}
	d := &Deadline{}
	d.Init(l, func(*Deadline) { fn() })
	return d
}

// SetHidden makes it not count as a live event, from the next Start on.
func (d *Deadline) SetHidden(hidden bool) {
	if d.state == deadlineIdle {
		d.hidden = hidden
	}
}

// Start has fn called after the delay; one that runs starts anew. Delays up to 1 ms count as 1 ms, the largest is as good
// as never. Errors: *event.InvalidArgumentError for a negative delay, *event.UsageError before Init, ErrClosed when the
// loop is closed.
func (d *Deadline) Start(delay time.Duration) error {
	if d.loop == nil || d.fn == nil {
		return usage("Deadline.Start", "the deadline has no loop or no function", "give Init both, first")
	}
	if delay < 0 {
		return invalid("Deadline.Start", "delay", delay, "it must not be negative")
	}
	if d.loop.closed {
		return d.loop.closedError("Deadline.Start")
	}
	d.Stop()
	d.loop.deadlines.start(d, nanoseconds(delay))
	return nil
}

// Stop makes fn not be called; it reports whether d was running. It is always safe to call.
func (d *Deadline) Stop() bool {
	if d.state == deadlineIdle {
		return false
	}
	d.loop.deadlines.stop(d)
	return true
}

// Running reports whether d is started and its function has not been called yet.
func (d *Deadline) Running() bool { return d.state != deadlineIdle }

func (d *Deadline) visible(l *event.Count, delta int) {
	if !d.hidden {
		l.Add(delta)
	}
}
