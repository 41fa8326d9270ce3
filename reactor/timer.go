package reactor

import (
	"fmt"
	"math"
	"time"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// Timer is an event that happens after a time; each started one is a uv_timer_t. It is never early: it fires when at
// least its delay has passed, on the monotonic clock, since the turn that followed its Start. Delays between 0 and 1 ms
// count as 1 ms, 0 means the next turn; the largest possible delay is as good as never. The result given to callbacks is
// nil.
type Timer struct {
	reference
	timer *timer
}

type timerKind uint8

const (
	oneShot timerKind = iota
	periodic
	rearming
)

func (k timerKind) String() string {
	return [...]string{"timer", "periodic timer", "rearming timer"}[k]
}

// timer is two cache lines long.
type timer struct {
	event.NopKind
	base   event.Base
	loop   *Loop
	delay  time.Duration
	handle cuv.Timer
	kind   timerKind
}

// NewTimer makes a timer that fires once, d after its Start; it is closed when its callbacks run (REACT-01). Errors:
// *event.InvalidArgumentError when d is negative, ErrClosed on a closed loop.
func (l *Loop) NewTimer(d time.Duration) (*Timer, error) {
	return l.newTimer("Loop.NewTimer", oneShot, d, 0)
}

// NewPeriodicTimer makes a timer that fires every d until it is stopped (REACT-02): the k-th time not before k times d
// have passed; firings that were missed merge into one. A started one lives until Stop or the loop's end, even if its
// reference is dropped; Stats counts those. Errors: *event.InvalidArgumentError when d is not positive, ErrClosed on a
// closed loop.
func (l *Loop) NewPeriodicTimer(d time.Duration) (*Timer, error) {
	const call = "Loop.NewPeriodicTimer"
	if d == 0 {
		return nil, invalid(call, "period", d, "it must be positive")
	}
	t, err := l.newTimer(call, periodic, d, event.FlagPeriodic)
	if err == nil {
		t.watch(l, nil)
	}
	return t, err
}

// NewRearmingTimer makes a timer that fires once, d after its Start, and can be armed again any number of times with
// Rearm, from its own callback too (REACT-06). Errors as for NewTimer.
func (l *Loop) NewRearmingTimer(d time.Duration) (*Timer, error) {
	return l.newTimer("Loop.NewRearmingTimer", rearming, d, 0)
}

func (l *Loop) newTimer(call string, kind timerKind, d time.Duration, flags event.Flags) (*Timer, error) {
	if l.closed {
		return nil, l.closedError(call)
	}
	if d < 0 {
		return nil, invalid(call, "delay", d, "it must not be negative")
	}
	t := &timer{loop: l, delay: d, kind: kind}
	t.base.Init(t, &l.live, flags)
	ref := &Timer{timer: t}
	ref.Init(&t.base)
	return ref, nil
}

// OnFire has fn called whenever t fires. Errors as for AddCallback; *event.InvalidArgumentError when fn is nil.
func (t *Timer) OnFire(fn func()) (*event.Callback, error) {
	if fn == nil {
		return nil, nilFunction("Timer.OnFire")
	}
	return t.Subscribe(func(*event.Base, *event.Callback, any, error) { fn() })
}

// Rearm makes a rearming timer fire d from now, whether it is running, has fired or was stopped; a running one forgets
// when it was due before. Errors: *event.UsageError for other kinds of timers, *event.InvalidArgumentError when d is
// negative, ErrClosed when the timer or its loop is closed.
func (t *Timer) Rearm(d time.Duration) error {
	if t.timer == nil {
		return unmade("Timer.Rearm")
	}
	if t.Closed() || t.timer.loop.closed {
		return &event.ClosedError{Call: "reactor: Timer.Rearm", What: t.Info()}
	}
	if t.timer.kind != rearming {
		return usage("Timer.Rearm", "it is a "+t.timer.kind.String(), "make it with NewRearmingTimer")
	}
	if d < 0 {
		return invalid("Timer.Rearm", "delay", d, "it must not be negative")
	}
	timer := t.timer
	timer.delay = d
	if !timer.handle.IsOpen() {
		return timer.base.Start()
	}
	// One that is armed again and again from its own callback comes this way.
	timer.base.Activate()
	return timer.handle.Start(timer.loop.binding, timer, nanoseconds(d), timer.base.Has(event.FlagHidden))
}

func (t *timer) arm() error {
	hidden := t.base.Has(event.FlagHidden)
	if t.kind == periodic {
		return t.handle.StartPeriodic(t.loop.binding, t, nanoseconds(t.delay), hidden)
	}
	return t.handle.Start(t.loop.binding, t, nanoseconds(t.delay), hidden)
}

// nanoseconds rounds what is below a millisecond up to one, never down to none (REACT-07).
func nanoseconds(d time.Duration) uint64 {
	if 0 < d && d < time.Millisecond {
		d = time.Millisecond
	}
	return uint64(d)
}

// StartEvent opens the handle if the timer has none. With the handle goes a reference of the loop's own.
func (t *timer) StartEvent() error {
	if t.loop.closed {
		return t.loop.closedError("Timer.Start")
	}
	opens := !t.handle.IsOpen()
	if err := t.arm(); err != nil {
		return err
	}
	if opens {
		t.base.AddRef()
	}
	return nil
}

func (t *timer) StopEvent() { t.release() }

// release closes the handle and gives the loop's reference back.
func (t *timer) release() {
	if t.handle.IsOpen() {
		t.handle.Close(t.loop.binding)
		t.base.Dispose()
	}
}

func (t *timer) HideEvent(hidden bool) { t.handle.Hide(t.loop.binding, hidden) }

func (t *timer) DisposeEvent() { delete(t.loop.orphans, &t.base) }

// Complete is called when libuv's timer fired. A rearming timer keeps its handle while its callbacks run, and gives it
// back when none of them has armed it again.
func (t *timer) Complete(int, uint64) {
	switch t.kind {
	case periodic:
		_ = t.base.Notify(nil, nil)
	case rearming:
		t.base.Deactivate()
		_ = t.base.Notify(nil, nil)
		t.Interrupted()
	default:
		t.base.Deactivate()
		t.base.MarkClosed()
		_ = t.base.Notify(nil, nil)
		t.Interrupted()
	}
}

// Interrupted gives the handle back when the timer was not armed again; also after a callback that panicked.
func (t *timer) Interrupted() {
	if !t.base.Started() {
		t.release()
	}
}

func (t *timer) LoopClosing() { t.base.MarkClosed() }

func (t *timer) Info() string {
	d := t.delay.String()
	if t.delay == math.MaxInt64 {
		d = "never"
	}
	return fmt.Sprintf("%s of %s%s", t.kind, d, state(&t.base))
}

func state(b *event.Base) string {
	switch {
	case b.Has(event.FlagClosed):
		return ", closed"
	case b.Started():
		return ", started"
	}
	return ", not started"
}
