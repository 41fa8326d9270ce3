package cosync

import (
	"context"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Cond is where coroutines that hold a [Mutex] wait until something that it guards has changed. Make one with [NewCond].
// What they wait for may have changed again before they have the lock, so they wait in a loop:
//
//	for queue.empty() {
//		if err := cond.Wait(co); err != nil {
//			return err // with the mutex locked
//		}
//	}
//
// The loop only.
type Cond struct {
	mutex *Mutex            // immutable
	line  waitq.Queue[bool] // loop goroutine only; the data is true for who was sent a signal, which can be passed on
}

// NewCond makes a condition on what m guards. It panics with an *event.InvalidArgumentError for nil. Any goroutine.
func NewCond(m *Mutex) *Cond {
	if m == nil {
		panic(invalid("cosync: NewCond", "mutex", nil, "pass the one that guards what is waited for"))
	}
	return &Cond{mutex: m}
}

// Wait unlocks the mutex, which co must hold, waits for a Signal or Broadcast, and locks it again. However it ends, with
// whatever error, co holds the mutex when it returns, so that "defer m.Unlock()" is right; locking it again is not cut short
// by anything but the end of a shutdown's grace. A coroutine that is cancelled after a Signal and before it has the mutex
// leaves the signal to the next in line (GEN-01).
//
// Errors: the cancellation of co; ErrTimeout and *event.CancelledError of the options, which bound the wait for the signal;
// *event.UsageError when co does not hold the mutex; *event.InvalidArgumentError. Only the coroutine itself may call it.
func (c *Cond) Wait(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	const call = "cosync: Cond.Wait"
	m := c.mutex
	if m == nil {
		return noMutex(call)
	}
	if err := m.bound.enter(call, "condition", co); err != nil {
		return err
	}
	if m.holder != co {
		return usage(call, "the caller does not hold the mutex: "+m.Info(), "lock it first")
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	defer c.excuse(co)
	c.line.Init((*condLine)(c))
	w := c.line.Push(co, false)
	m.pass()
	err := w.Park(call, opts...)
	signalled := w.Data
	w.Free()
	return c.relock(call, co, signalled, err)
}

// relock gets the mutex back after a wait that ended with err.
func (c *Cond) relock(call string, co *scheduler.Coroutine, signalled bool, err error) error {
	m := c.mutex
	if m.holder == nil {
		m.holder = co
		return err
	}
	if err == nil {
		var from *Cond
		if signalled {
			from = c
		}
		if err = m.wait(call, co, from); err == nil {
			return nil
		}
	}
	// Once is not enough: a deadlock verdict ends protected waits, too (CANC-18).
	for m.holder != co {
		cancelled := co.Protect(func(context.Context) error {
			if m.holder == nil {
				m.holder = co
				return nil
			}
			if err := co.Enter(call); err != nil { // it does not return when co is unwound
				return err
			}
			return m.wait(call, co, nil)
		})
		err = event.WithCause(err, cancelled)
	}
	return err
}

// excuse runs at the end of Wait. When co is being unwound it does not have the mutex, and nobody waits for it any more.
func (c *Cond) excuse(co *scheduler.Coroutine) {
	switch m := c.mutex; m.holder {
	case co:
	case nil:
		m.holder = co
	default:
		m.excused = append(m.excused, co)
	}
}

// Signal wakes the coroutine that has waited longest, if there is one. The mutex need not be held. It panics with an
// *event.UsageError from another goroutine.
func (c *Cond) Signal() {
	c.check("cosync: Cond.Signal")
	c.signal()
}

func (c *Cond) signal() {
	if w := c.line.First(); w != nil {
		w.Data = true
		c.line.Reserve(w)
	}
}

// Broadcast wakes everybody who waits now. The mutex need not be held. It panics with an *event.UsageError from another
// goroutine.
func (c *Cond) Broadcast() {
	c.check("cosync: Cond.Broadcast")
	for w := c.line.First(); w != nil; w = c.line.First() {
		c.line.Release(w)
	}
}

func (c *Cond) check(call string) {
	if c.mutex == nil {
		panic(noMutex(call))
	}
	c.mutex.bound.check(call)
}

func noMutex(call string) error {
	return usage(call, "the condition has no mutex", "make it with NewCond")
}

// CondStats is what a condition is doing. Coroutines that wait for the mutex are in its Stats.
type CondStats struct {
	Waiting   int // for a signal
	Signalled int // were woken by a signal and have not run yet
}

// Stats returns what c is doing.
func (c *Cond) Stats() CondStats {
	c.check("cosync: Cond.Stats")
	return CondStats{Waiting: c.line.Waiting(), Signalled: c.line.Reserved()}
}

// Info describes c for people: "condition of a mutex, not locked".
func (c *Cond) Info() string {
	if c.mutex == nil {
		return "condition without a mutex"
	}
	return "signal of a condition, whose lock is a " + c.mutex.Info()
}

// condLine is the owner of a condition's line.
type condLine Cond

func (l *condLine) Departed(_ *waitq.Waiter[bool], reserved bool) {
	if reserved {
		(*Cond)(l).signal()
	}
}

func (l *condLine) WaitInfo() string { return (*Cond)(l).Info() }
