package scheduler

import (
	"runtime"

	"github.com/uvasync/uvasync/event"
)

// Cancel asks co to end (CANC-00): from now on its suspension points return an *event.CancelledError with the reason, the one
// that it waits in included; one that has not started never does (CANC-02); a protected section defers it (CANC-13). The
// first reason stays. It does nothing to a coroutine that has ended (CANC-01), and nothing at once to the one that calls it
// for itself (CANC-07). The reason may be nil. It returns a *event.UsageError from another goroutine than that of the loop.
func (co *Coroutine) Cancel(reason error) error {
	const call = "Coroutine.Cancel"
	if co == nil || co.scope == nil {
		return co.misuse(call)
	}
	if err := co.scope.s.Check(call); err != nil {
		return err
	}
	co.cancel(&event.CancelledError{Reason: reason})
	return nil
}

// cancel is Cancel with the error that the coroutine shall see.
func (co *Coroutine) cancel(err *event.CancelledError) {
	if co.state == completed || co.asked {
		return
	}
	co.extra().requested = err
	co.asked = true
	co.judge()
}

// judge finds out what cancellation is in effect, and tells whom it concerns: the reader of Done, and the wait that co is
// in. The outermost cancellation is the one that counts; nothing reaches through a protected section.
func (co *Coroutine) judge() {
	from, effective := co.effective()
	x := co.ext.Load()
	co.barred = effective != nil || co.doomed
	if effective == nil {
		x.verdict.Store(nil)
		return
	}
	if old := x.verdict.Load(); old == nil || old.err != effective {
		v := &x.box
		if from != nil || x.own.Load() != nil {
			v = &verdict{effective}
		} else {
			v.err = effective
			x.own.Store(v)
		}
		x.verdict.Store(v)
	}
	if co.state == suspended {
		co.fiber.wait.interrupt(effective)
	}
	co.publish(from) // last: who is told may exit the goroutine
}

// effective returns the cancellation in effect, and the block that it is of, nil for that of the coroutine itself.
func (co *Coroutine) effective() (from *frame, err error) {
	for f := co.top(); f != nil; f = f.outer {
		if f.shield && !co.doomed {
			return from, err
		}
		if f.err != nil {
			err, from = f.err, f
		}
	}
	if co.asked {
		return nil, co.requested()
	}
	return from, err
}

// tell notes that a suspension point returns a cancellation.
func (co *Coroutine) tell(err error) {
	if co.asked && err == error(co.requested()) {
		co.told = true
	}
}

// unwind ends co at its suspension point: its deferred functions run, and nothing else of it (CANC-18).
func (co *Coroutine) unwind() {
	co.fiber.wait.drop()
	runtime.Goexit()
}
