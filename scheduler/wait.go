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

// slot is one subscription. Those that are not in use are kept by the scheduler.
type slot struct {
	next    *slot
	cb      event.Callback
	wait    *wait
	target  event.Event // kept as it was given: a reference that is collected would close its event
	base    *event.Base
	index   int
	token   bool
	started bool // Start was called and has to be undone
	active  bool
}

// Await waits for ev to happen and returns its outcome. An event that has completed and stores its outcome gives it at
// once, without suspending, any number of times; one that is not started is started for as long as the wait takes.
//
// Errors: those that ev delivers; *event.CancelledError when co is cancelled, or, with its Token set, when the token of the
// options fires; ErrTimeout; ErrClosed when ev is closed, or is closed meanwhile; *event.UsageError (CORO-30);
// *event.InvalidArgumentError. Only the coroutine itself may call it.
func (co *Coroutine) Await(ev event.Event, opts ...WaitOption) (any, error) {
	// Nothing but the switch happens in this function, so that a parked stack stays small.
	if done, result, err := co.await(ev, opts); done {
		return result, err
	}
	co.fiber.suspend()
	_, result, err := co.fiber.wait.outcome()
	return result, err
}

// await does what comes before the suspension. done: there is none.
func (co *Coroutine) await(ev event.Event, opts []WaitOption) (done bool, result any, err error) {
	const call = "Await"
	if err := co.Enter(call); err != nil {
		return true, nil, err
	}
	if ev == nil {
		return true, nil, invalid(call, "event", nil, "pass the event to wait for")
	}
	if err := CheckOptions(call, opts); err != nil {
		return true, nil, err
	}
	base := ev.AsEvent()
	if err := co.reachable(call, ev, base); err != nil {
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
		if err := co.reachable(call, ev, ev.AsEvent()); err != nil {
			return true, -1, nil, err
		}
		if done, result, err := settled(call, ev, ev.AsEvent()); done {
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

// reachable refuses what co cannot wait for: itself, and what belongs to other runs (GEN-11).
func (co *Coroutine) reachable(call string, ev event.Event, base *event.Base) error {
	if base == nil {
		return usage(call, "the event is not made", "get it from the constructor of its type")
	}
	if loop := base.LiveCount(); loop != nil && loop != co.scope.s.reactor.Count() {
		return usage(call, base.Info()+" lives on another loop than "+co.scope.s.name,
			"await it in a run there, and send what it says with External or a remote future")
	}
	other, ok := ev.(*Coroutine)
	if !ok {
		return nil
	}
	if other == co {
		return usage(call, "the coroutine would wait for itself", "return from its body instead")
	}
	return sameRun(call, co, other.scope.s, other.Name())
}

func (w *wait) begin(call string) {
	w.call, w.fiber.state, w.fired = call, waitNone, -1
}

// subscribe adds ev to what is waited for. The event is started when the coroutine really suspends.
func (w *wait) subscribe(ev event.Event, base *event.Base, index int, token bool) error {
	sl := w.fiber.s.newSlot()
	sl.cb.Init(onFire, onDispose, sl)
	sl.wait, sl.target, sl.base, sl.index, sl.token, sl.started, sl.active = w, ev, base, index, token, false, true
	if w.last == nil {
		w.first = sl
	} else {
		w.last.next = sl
	}
	w.last = sl
	if err := base.AddCallback(&sl.cb); err != nil {
		sl.active = false
		return err
	}
	sl.cb.Release() // the event's is the only one now: when it drops it, the event is gone
	return nil
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
		case o.base == target: // AWAIT-04
		default:
			if err := w.fiber.co.reachable(w.call, o.token, o.base); err != nil {
				return err
			}
			if done, _, err := settled(w.call, o.token, o.base); done { // CANC-24
				return &event.CancelledError{Reason: err, Token: true}
			}
			if err := w.subscribe(o.token, o.base, -1, true); err != nil {
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
	if hidden := w.fiber.co.hidden; hidden != w.hidden { // a helper's waiting hides no deadlock
		w.hidden = hidden
		w.ends.SetHidden(hidden)
	}
	w.timed, w.expects, w.limit = true, expects, d
	return w.ends.Start(d)
}

func (w *wait) expired() {
	w.timed = false
	if w.fiber.state != waitOn {
		return
	}
	if !w.expects {
		w.err = &event.TimeoutError{Call: prefixed(w.call), Limit: w.limit}
		w.depart()
	}
	w.over()
}

// over ends the wait: the coroutine goes on when its turn has come.
func (w *wait) over() {
	w.fiber.state = waitOver
	w.fiber.s.ready.Push(w.fiber.co)
}

// depart tells the owner of a queue that the coroutine has left it.
func (w *wait) depart() {
	if w.waiting != nil {
		waiting := w.waiting
		w.waiting = nil
		waiting.Leave(w.fiber.co)
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
		w.timed = false
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

// newSlot returns one that is not in use.
func (s *Scheduler) newSlot() *slot {
	sl := s.slots
	if sl == nil {
		return &slot{}
	}
	s.slots, sl.next = sl.next, nil
	return sl
}

func (s *Scheduler) freeSlot(sl *slot) { s.slots, sl.next = sl, s.slots }

// start starts the event, for as long as the wait takes.
func (sl *slot) start() error {
	if !sl.active {
		return nil
	}
	sl.started = true
	err := sl.base.Start()
	if err != nil {
		sl.started = false
	}
	return err
}

func (sl *slot) drop() {
	if sl.active {
		sl.active = false
		sl.base.DelCallback(&sl.cb)
	}
	if sl.started {
		sl.started = false
		_ = sl.base.Stop()
	}
	sl.target, sl.base = nil, nil
}

// onFire is the callback of every slot.
func onFire(base *event.Base, cb *event.Callback, result any, err error) {
	sl := cb.Owner.(*slot)
	w := sl.wait
	if base.Flags()&event.FlagPeriodic == 0 {
		sl.started = false // a one-shot has stopped by itself, and may have been started again by somebody else
	}
	switch {
	case w.fiber.state == waitOn && sl.token:
		w.err = &event.CancelledError{Reason: err, Token: true}
		w.depart()
		w.over()
	case w.fiber.state == waitOn:
		w.result, w.err, w.fired = result, err, sl.index
		w.over()
	case w.fiber.state == waitOver && w.barred != nil && w.err == nil && !sl.token:
		w.err = err // EVT-13
	}
}

// onDispose is called when the event has dropped the callback: because it is gone, if the slot is still active.
func onDispose(cb *event.Callback) {
	sl := cb.Owner.(*slot)
	if !sl.active {
		return
	}
	sl.active, sl.started = false, false
	if w := sl.wait; w.fiber.state == waitOn {
		w.err = closedError(w.call, sl.base.Info())
		w.fired = sl.index
		if sl.token {
			w.err = &event.CancelledError{Reason: w.err, Token: true}
			w.depart()
		}
		w.over()
	}
}

// info describes what is waited for.
func (w *wait) info() string {
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
