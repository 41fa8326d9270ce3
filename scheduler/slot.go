package scheduler

import "github.com/uvasync/uvasync/event"

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
		w.overOnce()
	case w.fiber.state == waitOn:
		w.result, w.err, w.fired = result, err, sl.index
		w.over()
	case w.fiber.state == waitOver && w.barred != nil && w.err == nil && !sl.token:
		w.err = err // EVT-13
	default:
		w.fiber.s.missed++
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
		w.overOnce()
	}
}
