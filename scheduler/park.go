package scheduler

import "github.com/uvasync/uvasync/event"

// Waiting is what a coroutine waits in when that is not an event: a line in front of a lock, a channel, a pool.
type Waiting interface {
	// Leave takes the coroutine out of the line, or passes on what was set aside for it: its wait ended otherwise than by
	// being served. It is called once, in the step in which that happens, and must not suspend (GEN-01, CANC-22).
	Leave(co *Coroutine)
	// Info says what is waited for: "channel 3/10: receive".
	Info() string
}

// Park suspends co, which is the caller and has called Enter, until Unpark. It returns nil after Unpark only, the error
// after UnparkWith; the cancellation of co, also one that comes after Unpark and before co runs (GEN-02); ErrTimeout; an
// *event.CancelledError with Token set when the token fires, or has fired. In all cases but Unpark and UnparkWith w.Leave is
// called first. A timeout or a token after Unpark has no effect. Packages build waits of their own from it.
func (co *Coroutine) Park(call string, w Waiting, opts ...WaitOption) error {
	if over, err := co.Parking(call, w, opts); over {
		return err
	}
	co.Switch()
	return co.Parked()
}

// Parking, Switch and Parked are Park in three parts, for calls that are made often: between the user's function and the switch
// every function costs, on the stack of everybody who waits and a mispredicted return. Enter must have been called. With over, Park
// would have returned err without suspending; otherwise Switch and Parked must follow.
func (co *Coroutine) Parking(call string, w Waiting, opts []WaitOption) (over bool, err error) {
	if err := co.Check(call); err != nil {
		return true, err
	}
	wait := &co.fiber.wait
	wait.begin(call)
	wait.waiting = w
	if len(opts) > 0 {
		if err := CheckOptions(call, opts); err != nil {
			wait.depart()
			return true, err
		}
	}
	return wait.ready(opts, nil)
}

// Switch is the second part of Park, in the same function as a Parking that was not over. It panics with a *event.UsageError
// without one.
func (co *Coroutine) Switch() {
	if co.fiber == nil || co.fiber.state == waitNone {
		panic(usage("Coroutine.Switch", "there was no Parking before it", "use Park"))
	}
	co.fiber.suspend()
}

// Parked is the third part of Park: how the wait ended. It panics with a *event.UsageError without the first two.
func (co *Coroutine) Parked() error {
	if co.fiber == nil || co.fiber.state == waitNone {
		panic(usage("Coroutine.Parked", "there was no Parking before it", "use Park"))
	}
	return co.fiber.wait.end()
}

// Unpark puts a coroutine that is in Park into the ready queue. Once a wait: a *event.UsageError for a coroutine that is not
// parked, or was woken already (CORO-29). The loop only.
func (co *Coroutine) Unpark() error { return co.UnparkWith(nil) }

// UnparkWith is Unpark, and Park returns err: the line is closed. Leave is not called for it.
func (co *Coroutine) UnparkWith(err error) error {
	const call = "Coroutine.Unpark"
	if co == nil || co.scope == nil || !co.scope.s.here() || co.fiber == nil || co.fiber.state != waitOn || co.fiber.wait.waiting == nil {
		return co.notParked(call)
	}
	w := &co.fiber.wait
	if err != nil {
		w.err, w.waiting = err, nil
	}
	w.over()
	return nil
}

func (co *Coroutine) notParked(call string) error {
	if co == nil || co.scope == nil {
		return invalid(call, "coroutine", nil, "pass the one to wake")
	}
	if err := co.scope.s.Check(call); err != nil {
		return err
	}
	return usage(call, co.Info()+", is not parked", "wake only who is in Park, once a wait")
}

// takeBack takes f's coroutine out of the ready queue, its wait having ended before it suspended. It was pushed last, unless
// what it started made others ready after it; then, false, it has to wait for its turn.
func (f *fiber) takeBack() bool {
	q := &f.s.ready
	if q.Len() == 0 || q.At(q.Len()-1) != f.co {
		return false
	}
	q.PopBack()
	return true
}

var _ event.Event = (*Coroutine)(nil)
