package scheduler

import (
	"errors"
	"unsafe"

	"github.com/uvasync/uvasync/event"
)

var (
	errGoexit = errors.New("scheduler: runtime.Goexit ended the coroutine (t.FailNow does so)")
	// ErrEnded is the reason of the cancellation that Err of a coroutine tells once it has ended.
	ErrEnded = errors.New("scheduler: the coroutine has ended")
)

var errEnded = &event.CancelledError{Reason: ErrEnded}

// finish is the end of co, whose body has ended with err, or never began. No coroutine is current.
func (s *Scheduler) finish(co *Coroutine, err error) {
	err = co.conclude(err)
	if err != nil {
		co.extra().err = err
	}
	co.state, co.fiber = completed, nil
	if !co.begun {
		co.fn = nil
	}
	co.over.Store(1)
	switch x := co.ext.Load(); {
	case s.opts.Switch != nil || x != nil && !x.unwatched(co, err):
		s.finishWatched(co, x, err)
	case co.marks.owned():
		s.finishSettled(co, err)
	default:
		co.scope.remove(co)
	}
}

// unwatched reports whether nobody is to be told of the end of co, with err, but perhaps its settler.
func (x *extras) unwatched(co *Coroutine, err error) bool {
	return x.rare == nil && (x.base == nil || x.base.Callbacks() == 0) && x.top.Load() == nil &&
		(err == nil || co.marks.owned() || event.IsCancellation(err))
}

// finishSettled is the end of a coroutine in which nobody but its settler is interested.
func (s *Scheduler) finishSettled(co *Coroutine, err error) {
	defer co.scope.remove(co)
	s.settle(co, err)
}

// settle tells the settler of co, if there is one.
func (s *Scheduler) settle(co *Coroutine, err error) {
	if !co.marks.owned() {
		return
	}
	returned := false
	defer s.guard(&returned)
	if co.marks.has(markTask) {
		co.task().Settle(co, err)
	} else {
		(*settledCoroutine)(unsafe.Pointer(co)).settler.Settle(co, err)
	}
	returned = true
}

// finishWatched is the end of a coroutine in which somebody is interested, or that has failed. All of it happens, whoever of
// those that are told exits the goroutine.
func (s *Scheduler) finishWatched(co *Coroutine, x *extras, err error) {
	if h := s.handlers(); h != nil && h.Finish != nil {
		defer s.call(func() error { h.Finish(co); return nil })
	}
	defer co.scope.remove(co)
	if x == nil {
		s.settle(co, err)
		return
	}
	if r := x.rare; r != nil && r.zombie != nil {
		defer r.zombie.ended(err)
	}
	s.finishExtras(co, x, err)
}

// finishExtras tells, in this order: who waits for Done, the settler, the awaiters, the scope, the finally handlers.
func (s *Scheduler) finishExtras(co *Coroutine, x *extras, err error) {
	awaited := false
	defer func() {
		if r := x.rare; r != nil && len(r.finally) > 0 {
			s.spawnFinally(co, r)
		}
	}()
	defer func() {
		if err != nil && !awaited && !co.marks.owned() && !event.IsCancellation(err) {
			co.scope.fail(co, err)
		}
	}()
	defer func() { awaited = s.tellAwaiters(co, x) }()
	co.publish(nil)
	s.settle(co, err)
}

// conclude is the outcome of a body that ended with err, given that it may have been cancelled.
func (co *Coroutine) conclude(err error) error {
	switch {
	case !co.asked || err != nil && event.IsCancellation(err):
		return err
	case err == nil && co.told: // CANC-05
		return nil
	case err == nil: // CANC-07
		return co.requested()
	}
	return event.WithCause(err, co.requested()) // CANC-09
}

// tellAwaiters notifies those who await co, and reports whether anybody has taken the outcome. A wait that has ended otherwise,
// and whose coroutine has not had its turn yet, takes nothing.
func (s *Scheduler) tellAwaiters(co *Coroutine, x *extras) (taken bool) {
	if x.base == nil || x.base.Callbacks() == 0 {
		return false
	}
	awaiters, before := x.base.Callbacks(), s.missed
	s.missed = 0
	s.call(func() error { return x.base.Notify(co.Result(), x.err) })
	taken = s.missed < awaiters
	s.missed = before
	return taken
}

// OnFinally has fn called when co's body has ended, whatever the outcome; several in the order of the calls (CORO-17). They
// run one after the other in a coroutine of their own, self, which may suspend and spawn; it comes before what is ready, and
// its scope outlives cancellation (CORO-22). Their failures go to the scope of co (CORO-19, CORO-23). On a coroutine that has
// ended fn runs at once, with self the coroutine that is running (nil in callbacks), and its error is returned (CORO-20).
// Errors: *event.InvalidArgumentError, *event.UsageError.
func (co *Coroutine) OnFinally(fn func(self, ended *Coroutine) error) error {
	const call = "Coroutine.OnFinally"
	if co == nil || co.scope == nil {
		return co.misuse(call)
	}
	s := co.scope.s
	if err := s.Check(call); err != nil {
		return err
	}
	if fn == nil {
		return invalid(call, "function", nil, "pass what to call when the coroutine has ended")
	}
	if co.state == completed {
		return s.recovered(func() error { return fn(s.Current(), co) })
	}
	r := co.rarely()
	r.finally = append(r.finally, fn)
	return nil
}

// spawnFinally starts the coroutine that calls the handlers.
func (s *Scheduler) spawnFinally(co *Coroutine, r *rare) {
	handlers := r.finally
	r.finally = nil
	calls := make([]func(self *Coroutine) error, len(handlers))
	for i, h := range handlers {
		calls[i] = func(self *Coroutine) error { return h(self, co) }
	}
	cleaner := s.finally(co.scope, "finally of "+co.Name(), handlers[0], calls, func(err error) {
		if bodyErr := co.Error(); bodyErr != nil && !event.IsCancellation(bodyErr) && !co.scope.handled() {
			err = event.WithCause(err, bodyErr) // CORO-23
		}
		co.scope.fail(co, err)
	})
	s.ready.PushFront(cleaner)
}

// Finally starts a coroutine that makes the calls, one after the other whatever they return. It belongs to a scope of its
// own below sc, which outlives cancellation, and may suspend and spawn. Their failures, one or an *event.CompositeError, go
// to failed. name and entry, a function, are for reports.
func (sc *Scope) Finally(name string, entry any, calls []func(self *Coroutine) error, failed func(err error)) {
	sc.s.ready.Push(sc.s.finally(sc, name, entry, calls, failed))
}

// FinallyAround is Finally in the scope around sc; for a root, beside it.
func (sc *Scope) FinallyAround(name string, entry any, calls []func(self *Coroutine) error, failed func(err error)) {
	sc.s.ready.Push(sc.s.finally(sc.parent, name, entry, calls, failed))
}

// finally makes that coroutine.
func (s *Scheduler) finally(sc *Scope, name string, entry any, calls []func(self *Coroutine) error, failed func(err error)) *Coroutine {
	below := newScope(s, sc)
	below.clean, below.serving = below, false
	cleaner := s.newCoroutine(below, func(self *Coroutine) error {
		var failures []error
		for _, call := range calls {
			failures = append(failures, s.recovered(func() error { return call(self) }))
		}
		return event.Join(failures...)
	}, finallySettler(failed))
	cleaner.entry = entryOf(entry)
	cleaner.labelled(name)
	return cleaner
}

// finallySettler gets the failures of finally handlers.
type finallySettler func(err error)

func (f finallySettler) Settle(_ *Coroutine, err error) {
	if err != nil && !event.IsCancellation(err) {
		f(err)
	}
}
