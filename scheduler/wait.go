package scheduler

import (
	"strings"
	"time"

	"github.com/uvasync/uvasync/event"
)

// wait is the waker: what the coroutine of a fiber waits for, and how that ended. It is used again for every wait, and has
// room for what most waits need.
type wait struct {
	fiber   *fiber
	timed   bool // deadline is running
	hidden  bool // deadline is
	lent    bool // and counts as live all the same
	expects bool // the deadline is what is waited for: its end is no timeout
	fired   int  // which of the slots ended the wait
	result  any
	err     error          // what ended the wait, or what the event delivered
	barred  error          // the cancellation that reached it
	waiting Waiting        // a queue of somebody else's, told when the coroutine leaves; nil: events, or nothing more to tell
	limit   time.Duration  // of deadline
	ends    event.Deadline // nil until the fiber needs one
	call    string
	first   *slot // the subscriptions of this wait, in order
	last    *slot
}

type waitState uint8

const (
	waitNone waitState = iota
	waitOn             // parked: whatever comes first ends it
	waitOver           // ended: the coroutine is in the ready queue
)

func (w *wait) begin(call string) {
	w.call, w.fiber.state, w.fired = call, waitNone, -1
}

// ready completes what the coroutine waits for and starts it. done: the wait has ended already, or cannot begin.
func (w *wait) ready(opts []WaitOption, target *event.Base) (done bool, err error) {
	if len(opts) > 0 {
		if err := w.bound(opts, target); err != nil {
			w.depart()
			w.drop()
			return true, err
		}
	}
	co := w.fiber.co
	w.fiber.state = waitOn
	for sl := w.first; sl != nil; sl = sl.next {
		if err := sl.start(); err != nil && w.fiber.state == waitOn {
			w.depart()
			w.drop()
			return true, err
		}
	}
	// Starting an event may make it happen, and may cancel co.
	if co.barred && w.barred == nil {
		w.interrupt(co.verdict().err)
	}
	if w.fiber.state == waitOn || !w.fiber.takeBack() {
		return false, nil
	}
	co.Lucky()
	return true, w.end()
}

// outcome is how a wait ended that suspended.
func (w *wait) outcome() (fired int, result any, err error) {
	err = w.end()
	fired, result = w.fired, w.result
	w.result = nil
	return fired, result, err
}

// bound adds the time limit and the token of a wait.
func (w *wait) bound(opts []WaitOption, target *event.Base) error {
	for i := range opts {
		o := &opts[i]
		switch {
		case o.limited:
			if err := w.arm(o.limit, false); err != nil {
				return err
			}
		default:
			base, err := w.fiber.co.Reachable(w.call, o.token)
			if err != nil {
				return err
			}
			if base == target { // AWAIT-04
				continue
			}
			if done, _, err := settled(w.call, o.token, base); done { // CANC-24
				return &event.CancelledError{Reason: err, Token: true}
			}
			if err := w.subscribe(o.token, base, -1, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *wait) arm(d time.Duration, expects bool) error {
	if w.ends == nil {
		w.ends = w.fiber.s.reactor.NewDeadline(w.expired)
	}
	// A helper's waiting hides no deadlock. In a shutdown nobody looks for one before the grace is over.
	if hidden := w.fiber.co.marks.helpsNobody() && w.fiber.s.stage == stageNone; hidden != w.hidden {
		w.hidden = hidden
		w.ends.SetHidden(hidden)
	}
	w.timed, w.expects, w.limit = true, expects, d
	return w.ends.Start(d)
}

// lend makes a hidden deadline that is running count as live.
func (w *wait) lend() {
	if w.timed && w.hidden && !w.lent {
		w.lent = true
		w.fiber.s.reactor.Count().Add(+1)
	}
}

// untimed is the end of the deadline.
func (w *wait) untimed() {
	w.timed = false
	if w.lent {
		w.lent = false
		w.fiber.s.reactor.Count().Add(-1)
	}
}

func (w *wait) expired() {
	w.untimed()
	if w.fiber.state != waitOn {
		return
	}
	if !w.expects {
		w.err = &event.TimeoutError{Call: prefixed(w.call), Limit: w.limit}
		w.depart()
	}
	w.overOnce()
}

// over ends the wait: the coroutine goes on when its turn has come.
func (w *wait) over() {
	w.fiber.state = waitOver
	w.fiber.s.ready.Push(w.fiber.co)
}

// overOnce is over, unless who was told that the coroutine leaves has cancelled it, and so ended the wait.
func (w *wait) overOnce() {
	if w.fiber.state == waitOn {
		w.over()
	}
}

// depart tells the owner of a queue that the coroutine has left it.
func (w *wait) depart() {
	if w.waiting != nil {
		waiting := w.waiting
		w.waiting = nil
		w.fiber.s.call(func() error { waiting.Leave(w.fiber.co); return nil })
	}
}

// interrupt ends the wait with a cancellation, which also wins over a success that the coroutine has not seen (GEN-02).
func (w *wait) interrupt(err error) {
	if w.barred != nil {
		return
	}
	w.barred, w.fiber.struck = err, true
	if w.fiber.state == waitOn {
		w.over()
	}
	w.depart()
}

// end undoes the wait and says how it ended.
func (w *wait) end() error {
	err, barred := w.err, w.barred
	w.drop()
	if barred == nil {
		return err
	}
	w.result, w.fired = nil, -1
	w.fiber.co.tell(barred)
	// EVT-13: an error and a cancellation for the same wait are both kept.
	return event.WithCause(err, barred)
}

// drop removes everything that the wait has set up.
func (w *wait) drop() {
	for sl := w.first; sl != nil; {
		next := sl.next
		sl.drop()
		w.fiber.s.freeSlot(sl)
		sl = next
	}
	if w.first != nil {
		w.first, w.last = nil, nil
	}
	if w.timed {
		w.untimed()
		w.ends.Stop()
	}
	// What is nil already is not written, for the sake of the collector's write barrier.
	if w.err != nil {
		w.err = nil
	}
	if w.barred != nil {
		w.barred = nil
	}
	if w.waiting != nil {
		w.waiting = nil
	}
	w.fiber.state, w.fiber.struck = waitNone, false
}

// info describes what is waited for. The descriptions are somebody else's.
func (w *wait) info() (text string) {
	w.fiber.s.call(func() error { text = w.describe(); return nil })
	return text
}

func (w *wait) describe() string {
	if w.waiting != nil {
		return w.waiting.Info()
	}
	var parts []string
	for sl := w.first; sl != nil; sl = sl.next {
		if !sl.token && sl.base != nil {
			parts = append(parts, sl.base.Info())
		}
	}
	if len(parts) == 0 && w.timed {
		return w.call + " " + w.limit.String()
	}
	return strings.Join(parts, ", ")
}
