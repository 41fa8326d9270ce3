package simreactor

import (
	"fmt"
	"time"

	"github.com/uvasync/uvasync/event"
)

// Timer is an event that happens once, when a virtual time has passed since its Start; the result given to callbacks is
// nil.
type Timer struct{ event.Reference }

type timer struct {
	event.NopKind
	entry
	base  event.Base
	loop  *Reactor
	delay time.Duration
}

// NewTimer makes a timer that fires once, d after its Start; it is closed when its callbacks run (REACT-01). Delays between
// 0 and 1 ms count as 1 ms, 0 means the next turn. Errors: *event.InvalidArgumentError when d is negative, ErrClosed on a
// closed loop.
func (r *Reactor) NewTimer(d time.Duration) (*Timer, error) {
	const call = "Reactor.NewTimer"
	if r.closed {
		return nil, closedError(call)
	}
	if d < 0 {
		return nil, invalid(call, "delay", d, "it must not be negative")
	}
	t := &timer{loop: r, delay: d}
	t.owner = t
	t.base.Init(t, &r.live, 0)
	ref := &Timer{}
	ref.Init(&t.base)
	return ref, nil
}

// StartEvent takes a reference of the loop's own, which goes when the timer has fired or is stopped.
func (t *timer) StartEvent() error {
	if t.loop.closed {
		return closedError("Timer.Start")
	}
	t.loop.schedule(&t.entry, roundUp(t.delay))
	t.base.AddRef()
	return nil
}

func (t *timer) StopEvent() {
	t.loop.cancel(&t.entry)
	t.base.Dispose()
}

func (t *timer) happen() {
	t.base.Deactivate()
	t.base.MarkClosed()
	defer t.base.Dispose()
	_ = t.base.Notify(nil, nil)
}

func (t *timer) loopClosing() { t.base.MarkClosed() }

func (t *timer) Info() string { return fmt.Sprintf("timer of %v%s", t.delay, state(&t.base)) }

func state(b *event.Base) string {
	switch {
	case b.Has(event.FlagClosed):
		return ", closed"
	case b.Started():
		return ", started"
	}
	return ", not started"
}
