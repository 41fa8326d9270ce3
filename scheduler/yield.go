package scheduler

import (
	"time"
)

// Yield lets the other ready coroutines run first: co goes to the tail of the ready queue (CORO-02). With nobody else ready
// it returns at once (CORO-03). Errors: the cancellation of co, *event.UsageError.
func (co *Coroutine) Yield() error {
	if err := co.Enter("Yield"); err != nil {
		return err
	}
	if co.scope.s.ready.Len() == 0 && co.scope.s.micro.Len() == 0 {
		co.Lucky()
		return nil
	}
	f := co.fiber
	f.state = waitOver
	f.s.ready.Push(co)
	f.suspend()
	f.state = waitNone
	if f.struck {
		return f.wait.end()
	}
	return nil
}

// YieldTo lets other, which became ready last, such as one that was just spawned, go first, and comes right after it, before all
// others that are ready: it returns when other waits for something or has ended. Errors: the cancellation of co,
// *event.UsageError. With [Options].Rand, where order is luck, it is a Yield.
func (co *Coroutine) YieldTo(other *Coroutine) error {
	const call = "YieldTo"
	if err := co.Enter(call); err != nil {
		return err
	}
	f := co.fiber
	q := &f.s.ready
	if n := q.Len(); other == nil || n == 0 || q.At(n-1) != other {
		return usage(call, "the other coroutine is not the last that became ready", "call it right after Spawn")
	}
	q.PopBack()
	q.PushFront(co)
	q.PushFront(other)
	f.state = waitOver
	f.suspend()
	f.state = waitNone
	if f.struck {
		return f.wait.end()
	}
	return nil
}

// Delay suspends co for d, never for less (REACT-09); 0 is [Coroutine.Yield] (REACT-04), and anything up to 1 ms counts as
// 1 ms. Errors: the cancellation of co, *event.InvalidArgumentError for a negative d, *event.UsageError.
func (co *Coroutine) Delay(d time.Duration) error {
	if d == 0 { // REACT-04
		if err := co.Enter("Delay"); err != nil {
			return err
		}
		return co.Yield()
	}
	if err := co.delay(d); err != nil {
		return err
	}
	co.fiber.suspend()
	return co.fiber.wait.end()
}

func (co *Coroutine) delay(d time.Duration) error {
	const call = "Delay"
	if err := co.Enter(call); err != nil {
		return err
	}
	if d < 0 {
		return invalid(call, "delay", d, "it must not be negative")
	}
	w := &co.fiber.wait
	w.begin(call)
	if err := w.arm(d, true); err != nil {
		w.drop()
		return err
	}
	w.fiber.state = waitOn
	return nil
}

// Now is the time on the clock that Delay goes by: virtual in a simulation. Any goroutine.
func (co *Coroutine) Now() time.Time { return co.scope.s.reactor.Now() }

// Lucky is called by every operation that completed without suspending. After Options.Luck of them in a row, and when it is time
// to look at the event loop, co yields, so that nobody runs for ever while the others wait (REACT-20). It does not touch the
// operation's success. Packages that build waits of their own call it.
func (co *Coroutine) Lucky() {
	f, s := co.fiber, co.scope.s
	f.luck++
	switch n := int(f.luck); {
	case n >= s.opts.Luck:
		f.rest()
	case n == 8, n == 32: // the clock costs more than most of these operations
		if s.sliceSpent() {
			s.clockAt = s.left
			f.rest()
		}
	}
}

// rest yields, keeping a cancellation that comes meanwhile for the next suspension point. Without others that are ready the
// event loop is looked at.
func (f *fiber) rest() {
	f.luck = 0
	if f.s.ready.Len() == 0 {
		f.s.left, f.s.clockAt = 0, 0
	}
	state := f.state
	f.state = waitOver
	f.s.ready.Push(f.co)
	f.suspend()
	f.state = state
	if state == waitNone {
		f.wait.barred, f.struck = nil, false
	}
}

// refuse is what a suspension point answers while something in effect is cancelled. Stage 2 of a shutdown unwinds co here.
func (co *Coroutine) refuse() error {
	if co.doomed {
		co.unwind()
	}
	f := co.fiber
	if f.refused++; f.refused > refusals {
		f.rest()
		if co.doomed {
			co.unwind()
		}
	}
	err := co.verdict().err
	co.tell(err)
	return err
}

// refusals is how many suspension points in a row fail at once before one lets the others run (CANC-00).
const refusals = 16
