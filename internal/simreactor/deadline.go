package simreactor

import (
	"time"

	"github.com/uvasync/uvasync/event"
)

type deadline struct {
	entry
	loop   *Reactor
	fn     func()
	hidden bool
}

var _ event.Deadline = (*deadline)(nil)

// NewDeadline makes a deadline that calls fn. It panics with an *event.InvalidArgumentError when fn is nil. On a closed
// loop its Start answers ErrClosed.
func (r *Reactor) NewDeadline(fn func()) event.Deadline {
	if fn == nil {
		panic(nilFunction("Reactor.NewDeadline"))
	}
	d := &deadline{loop: r, fn: fn}
	d.owner = d
	return d
}

// Start has fn called when the delay has passed in virtual time.
func (d *deadline) Start(delay time.Duration) error {
	const call = "Deadline.Start"
	if delay < 0 {
		return invalid(call, "delay", delay, "it must not be negative")
	}
	if d.loop.closed {
		return closedError(call)
	}
	d.Stop()
	d.count(+1)
	d.loop.schedule(&d.entry, max(delay, time.Millisecond))
	return nil
}

func (d *deadline) Stop() bool {
	if !d.Running() {
		return false
	}
	d.loop.cancel(&d.entry)
	d.count(-1)
	return true
}

func (d *deadline) SetHidden(hidden bool) {
	if !d.Running() {
		d.hidden = hidden
	}
}

func (d *deadline) Running() bool { return d.state != entryIdle }

func (d *deadline) happen() {
	d.count(-1)
	d.fn()
}

func (d *deadline) loopClosing() { d.Stop() }

// count moves the live count with the deadline's start (+1) and end (-1).
func (d *deadline) count(delta int) {
	if !d.hidden {
		d.loop.live.Add(delta)
	}
}
