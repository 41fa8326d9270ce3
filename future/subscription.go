package future

import "github.com/uvasync/uvasync/event"

// subscription waits for one event of any kind, once. Do not copy it. Loop goroutine only.
type subscription struct {
	cb      event.Callback
	target  event.Event // as it was given: a reference that is collected would close its event
	base    *event.Base // nil once it has fired or left
	started bool        // the event was started for us
	fire    func(result any, err error)
}

// subscribe waits for ev without starting it. fire is called once, with the outcome; from within subscribe when ev has one
// stored; and with the reason when ev cannot happen, or is closed later.
func (s *subscription) subscribe(call string, ev event.Event, fire func(result any, err error)) {
	s.target, s.fire = ev, fire
	b := ev.AsEvent()
	if b == nil {
		s.done(nil, &event.UsageError{Call: call, Problem: "the event is not made", Fix: "get it from the constructor of its type"})
		return
	}
	if _, ok, _ := b.Outcome(); !ok && ev.Flags()&event.FlagClosed != 0 {
		s.done(nil, &event.ClosedError{Call: call, What: b.Info()})
		return
	}
	s.base = b
	s.cb.Init(subscriptionFired, subscriptionDropped, s)
	if err := b.AddCallback(&s.cb); err != nil {
		s.done(nil, err)
		return
	}
	if s.base != nil {
		s.cb.Release() // the event's is the only reference now: when it drops it, the event is gone
	}
}

// start starts the event, unless it has fired or was started.
func (s *subscription) start() {
	if s.base == nil || s.started {
		return
	}
	s.started = true
	if err := s.base.Start(); err != nil {
		s.started = false
		s.leave()
		s.done(nil, err)
	}
}

func subscriptionFired(b *event.Base, cb *event.Callback, result any, err error) {
	s := cb.Owner.(*subscription)
	if !b.Has(event.FlagPeriodic) {
		s.started = false // it has stopped by itself, and may have been started again by somebody else
	}
	s.leave()
	s.done(result, err)
}

// subscriptionDropped is called when the event has dropped the callback: because it is gone, unless we left.
func subscriptionDropped(cb *event.Callback) {
	s := cb.Owner.(*subscription)
	if b := s.base; b != nil {
		s.started = false
		s.done(nil, &event.ClosedError{Call: "future", What: b.Info()})
	}
}

func (s *subscription) done(result any, err error) {
	s.base, s.target = nil, nil
	s.fire(result, err)
}

// leave ends the subscription.
func (s *subscription) leave() {
	b := s.base
	if b == nil {
		return
	}
	s.base, s.target = nil, nil
	b.DelCallback(&s.cb)
	if s.started {
		s.started = false
		_ = b.Stop()
	}
}
