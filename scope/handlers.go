package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Handler gets the failure of a coroutine that nobody awaited; co is nil when it was something else that failed, such as a
// future that nobody looked at. It returns nil when the failure is dealt with; an error makes it go on to the scope around,
// joined with what the handler returned (SCOPE-20). It runs on the loop, outside of any coroutine: it may spawn, cancel and
// complete, and must not suspend.
type Handler func(s *Scope, co *scheduler.Coroutine, err error) error

// OnError makes h get the failures of the scope's coroutines, and those from below that nobody there dealt with: the scope is
// not cancelled then, the other coroutines go on (SCOPE-16); scopes below that the failure came through are, by then.
// Setting it again replaces it; nil removes it. An [event.UsageError] outside of the run's loop.
func (s *Scope) OnError(h Handler) error {
	if err := s.check("scope: Scope.OnError"); err != nil {
		return err
	}
	s.st.inner.OnError(adapt(h))
	return nil
}

// OnChildError makes h get the failures that come from scopes below, before the handler of [Scope.OnError] (SCOPE-17). Those
// scopes are cancelled by then (SCOPE-19). Otherwise as OnError.
func (s *Scope) OnChildError(h Handler) error {
	if err := s.check("scope: Scope.OnChildError"); err != nil {
		return err
	}
	s.st.inner.OnChildError(adapt(h))
	return nil
}

func adapt(h Handler) scheduler.FailureHandler {
	if h == nil {
		return nil
	}
	return func(inner *scheduler.Scope, co *scheduler.Coroutine, err error) error { return h(view(inner), co, err) }
}

// OnFinally has h called once, in the order of the calls, when the scope has been closed, be it by the end of the run, and
// nothing is left in it (SCOPE-22). The handlers run in a coroutine of their own, self, in the scope around, which may
// suspend and spawn. Their failures go where those of the scope's coroutines go (SCOPE-23). On a scope that is that far h
// runs at once, with self the coroutine that is running (nil in callbacks), and its error is returned. Errors:
// [event.InvalidArgumentError], [event.UsageError].
func (s *Scope) OnFinally(h func(self *scheduler.Coroutine, s *Scope) error) error {
	const call = "scope: Scope.OnFinally"
	if err := s.check(call); err != nil {
		return err
	}
	if h == nil {
		return &event.InvalidArgumentError{Call: call, Arg: "function", Got: nil, Legal: "pass what to call when the scope has ended"}
	}
	if s.st.inner.Drained() {
		return s.st.inner.Scheduler().Call(func() error { return h(s.st.inner.Scheduler().Current(), &s.st.view) })
	}
	x := s.st.extra()
	x.finally = append(x.finally, h)
	return nil
}

// runFinally starts the coroutine that calls the handlers.
func (st *state) runFinally() {
	handlers := st.ext.finally
	if len(handlers) == 0 {
		return
	}
	st.ext.finally = nil
	calls := make([]func(self *scheduler.Coroutine) error, len(handlers))
	for i, h := range handlers {
		calls[i] = func(self *scheduler.Coroutine) error { return h(self, &st.view) }
	}
	st.inner.FinallyAround("finally of a scope", handlers[0], calls, func(err error) { st.inner.Fail(nil, err) })
}
