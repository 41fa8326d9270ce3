package scheduler

import (
	"errors"

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
	if x := co.ext.Load(); x != nil || s.opts.Switch != nil {
		s.finishWatched(co, x, err)
		return
	}
	co.scope.remove(co)
}

// finishWatched is the end of a coroutine in which somebody is interested, or that has failed. All of it happens, whoever of
// those that are told exits the goroutine.
func (s *Scheduler) finishWatched(co *Coroutine, x *extras, err error) {
	if h := s.handlers(); h != nil && h.Finish != nil {
		defer s.call(func() error { h.Finish(co); return nil })
	}
	defer co.scope.remove(co)
	if x != nil {
		s.finishExtras(co, x, err)
	}
}

// finishExtras tells, in this order: who waits for Done, the settler, the awaiters, the scope, the finally handlers.
func (s *Scheduler) finishExtras(co *Coroutine, x *extras, err error) {
	awaited := false
	defer func() {
		if len(x.finally) > 0 {
			s.spawnFinally(co, x)
		}
	}()
	defer func() {
		if err != nil && !awaited && x.settler == nil && !event.IsCancellation(err) {
			co.scope.fail(co, err)
		}
	}()
	defer func() { awaited = s.tellAwaiters(co, x) }()
	co.publish(nil)
	if x.settler != nil {
		s.call(func() error { x.settler.Settle(co, err); return nil })
	}
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

// tellAwaiters notifies those who await co, and reports whether there were any.
func (s *Scheduler) tellAwaiters(co *Coroutine, x *extras) (any bool) {
	if x.base == nil || x.base.Callbacks() == 0 {
		return false
	}
	s.call(func() error { return x.base.Notify(co.Result(), x.err) })
	return true
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
	x := co.extra()
	x.finally = append(x.finally, fn)
	return nil
}

// spawnFinally starts the coroutine that calls the handlers.
func (s *Scheduler) spawnFinally(co *Coroutine, x *extras) {
	handlers := x.finally
	x.finally = nil
	sc := newScope(s, co.scope)
	sc.cleanup = true
	cleaner := s.newCoroutine(sc, func(self *Coroutine) error {
		var failures []error
		for _, h := range handlers {
			failures = append(failures, s.recovered(func() error { return h(self, co) }))
		}
		return event.Join(failures...)
	})
	cleaner.clean = true
	cleaner.entry = entryOf(handlers[0])
	cleaner.extra().name = "finally of " + co.Name()
	cleaner.extra().settler = finallySettler{co}
	s.ready.PushFront(cleaner)
}

// finallySettler passes the failure of finally handlers to the scope of the coroutine that they belong to.
type finallySettler struct{ of *Coroutine }

func (f finallySettler) Settle(_ *Coroutine, err error) {
	if err == nil || event.IsCancellation(err) {
		return
	}
	if bodyErr := f.of.Error(); bodyErr != nil && !event.IsCancellation(bodyErr) && f.of.scope.handler() == nil {
		err = event.WithCause(err, bodyErr) // CORO-23
	}
	f.of.scope.fail(f.of, err)
}
