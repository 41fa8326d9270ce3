package scheduler

import "github.com/uvasync/uvasync/event"

// Await waits for ev to happen and returns its outcome. An event that has completed and stores its outcome gives it at
// once, without suspending, any number of times; one that is not started is started for as long as the wait takes.
//
// Errors: those that ev delivers; *event.CancelledError when co is cancelled, or, with its Token set, when the token of the
// options fires; ErrTimeout; ErrClosed when ev is closed, or is closed meanwhile; *event.UsageError (CORO-30);
// *event.InvalidArgumentError. Only the coroutine itself may call it.
func (co *Coroutine) Await(ev event.Event, opts ...WaitOption) (any, error) {
	// Nothing but the switch happens in this function, so that a parked stack stays small.
	if done, result, err := co.await("Await", ev, opts); done {
		return result, err
	}
	co.fiber.suspend()
	_, result, err := co.fiber.wait.outcome()
	return result, err
}

// AwaitAs is Await under another name, which its errors have: for packages that build waits of their own from it.
func (co *Coroutine) AwaitAs(call string, ev event.Event, opts ...WaitOption) (any, error) {
	if done, result, err := co.await(call, ev, opts); done {
		return result, err
	}
	co.fiber.suspend()
	_, result, err := co.fiber.wait.outcome()
	return result, err
}

// await does what comes before the suspension. done: there is none.
func (co *Coroutine) await(call string, ev event.Event, opts []WaitOption) (done bool, result any, err error) {
	if err := co.Enter(call); err != nil {
		return true, nil, err
	}
	if ev == nil {
		return true, nil, invalid(call, "event", nil, "pass the event to wait for")
	}
	if err := CheckOptions(call, opts); err != nil {
		return true, nil, err
	}
	base, err := co.Reachable(call, ev)
	if err != nil {
		return true, nil, err
	}
	if done, result, err := settled(call, ev, base); done {
		co.Lucky()
		return true, result, err
	}
	w := &co.fiber.wait
	w.begin(call)
	if err := w.subscribe(ev, base, 0, false); err != nil {
		w.drop()
		return true, nil, err
	}
	if done, err := w.ready(opts, base); done {
		result = w.result
		w.result = nil
		return true, result, err
	}
	return false, nil, nil
}

// AwaitFirst waits for one of several events and says which: its index in evs, and its outcome. Of those that have
// completed already, the first in the list. The others are left as they are. When the wait ends otherwise, fired is -1.
// Errors as for Await.
func (co *Coroutine) AwaitFirst(evs []event.Event, opts ...WaitOption) (fired int, result any, err error) {
	done, fired, result, err := co.awaitFirst(evs, opts)
	if done {
		return fired, result, err
	}
	co.fiber.suspend()
	return co.fiber.wait.outcome()
}

func (co *Coroutine) awaitFirst(evs []event.Event, opts []WaitOption) (done bool, fired int, result any, err error) {
	const call = "AwaitFirst"
	if err := co.Enter(call); err != nil {
		return true, -1, nil, err
	}
	if len(evs) == 0 {
		return true, -1, nil, invalid(call, "number of events", 0, "pass at least one")
	}
	if err := CheckOptions(call, opts); err != nil {
		return true, -1, nil, err
	}
	for i, ev := range evs {
		if ev == nil {
			return true, -1, nil, invalid(call, "event", nil, "pass only events")
		}
		base, err := co.Reachable(call, ev)
		if err != nil {
			return true, -1, nil, err
		}
		if done, result, err := settled(call, ev, base); done {
			co.Lucky()
			return true, i, result, err
		}
	}
	w := &co.fiber.wait
	w.begin(call)
	for i, ev := range evs {
		if err := w.subscribe(ev, ev.AsEvent(), i, false); err != nil {
			w.drop()
			return true, -1, nil, err
		}
	}
	if done, err := w.ready(opts, nil); done {
		fired, result = w.fired, w.result
		w.result = nil
		return true, fired, result, err
	}
	return false, 0, nil, nil
}

// settled answers for an event that needs no wait: it has completed, or never will.
func settled(call string, ev event.Event, base *event.Base) (done bool, result any, err error) {
	if result, ok, err := base.Outcome(); ok {
		return true, result, err
	}
	if ev.Flags()&event.FlagClosed != 0 {
		return true, nil, closedError(call, base.Info())
	}
	return false, nil, nil
}

// Reachable returns the event that ev leads to, unless co cannot wait for it: itself, and what belongs to other runs (GEN-11),
// which nothing is asked of. It is for packages that build waits of their own.
func (co *Coroutine) Reachable(call string, ev event.Event) (*event.Base, error) {
	if r, ok := ev.(Refusing); ok {
		if err := r.RefuseWait(prefixed(call), co); err != nil {
			return nil, err
		}
	}
	base := ev.AsEvent()
	if base == nil {
		return nil, usage(call, "the event is nil, or was not made", "get it from the constructor of its type, and look at the error of that")
	}
	if loop := base.LiveCount(); loop != nil && loop != co.scope.s.reactor.Count() {
		return nil, usage(call, base.Info()+" lives on another loop than "+co.scope.s.name,
			"await it in a run there, and send what it says with External or a remote future")
	}
	return base, nil
}

// Refusing is an event that not every coroutine may wait for.
type Refusing interface {
	event.Event
	// RefuseWait returns a *event.UsageError that names the call when co cannot wait for the event: it would wait for
	// itself, or the event belongs to another run (GEN-11).
	RefuseWait(call string, co *Coroutine) error
}

// RefuseWait is what makes a coroutine Refusing.
func (co *Coroutine) RefuseWait(call string, by *Coroutine) error {
	switch {
	case co == nil || co.scope == nil:
		return co.misuse(call)
	case by == nil || by.scope == nil:
		return by.misuse(call)
	case co == by:
		return usage(call, "the coroutine would wait for itself", "return from its body instead")
	}
	return sameRun(call, by, co.scope.s, co.Name())
}

// RefuseWait is for what makes a scope an event: a coroutine in it, or below it, would wait for itself (SCOPE-12).
func (sc *Scope) RefuseWait(call string, by *Coroutine) error {
	if by == nil || by.scope == nil {
		return by.misuse(call)
	}
	if err := sameRun(call, by, sc.s, "the scope"); err != nil {
		return err
	}
	for in := by.scope; in != nil; in = in.parent {
		if in == sc {
			return usage(call, by.title()+" would wait for itself: it belongs to the scope", "wait in a coroutine outside of it")
		}
	}
	return nil
}
