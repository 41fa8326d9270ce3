package scope

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// AwaitCompletion waits until no active coroutine is left in the scope and below it, those included that are spawned meanwhile
// (SCOPE-09). Zombies are not waited for. After a cancellation it waits for those that are still unwinding (SCOPE-10). It never
// returns the failure of a coroutine. Errors: [event.CancelledError] when co is cancelled, or, with its Token set, when the
// token of the options fires; [event.ErrTimeout]; the scope runs on (SCOPE-11). [event.UsageError] when co belongs to the
// scope or to one below, and would wait for itself (SCOPE-12).
func (s *Scope) AwaitCompletion(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	const call = "scope: Scope.AwaitCompletion"
	if err := s.mayWait(call, co); err != nil {
		return err
	}
	_, err := co.AwaitAs(call, s, opts...)
	return err
}

// AwaitAfterCancellation waits until nothing is left in a scope that was cancelled, disposed or closed, zombies included
// (SCOPE-14). While it waits, failures that reach the scope come here, and not to the scope's handlers: without onError, the
// first is returned at once; otherwise onError is called with each, in co, and may suspend; when it returns an error, that is
// returned, with the failure in its chain (SCOPE-15). Of several that wait each gets them all. What was not handled when it
// returns early is joined to the error.
//
// Errors: those; [event.CancelledError], [event.ErrTimeout] as for [Scope.AwaitCompletion]; [event.UsageError] when the
// scope was not cancelled or disposed before, or the time limit of DisposeAfterTimeout is not over (SCOPE-13), and when co
// belongs to the scope (SCOPE-12).
func (s *Scope) AwaitAfterCancellation(co *scheduler.Coroutine, onError func(err error, s *Scope) error, opts ...scheduler.WaitOption) error {
	const call = "scope: Scope.AwaitAfterCancellation"
	if err := s.mayWait(call, co); err != nil {
		return err
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	if !s.st.inner.Ending() && !s.st.inner.Drained() {
		if s.st.inner.Sealed() {
			return &event.UsageError{Call: call, Problem: "the time limit of DisposeAfterTimeout is not over", Fix: "use AwaitCompletion, or Dispose first"}
		}
		return &event.UsageError{Call: call, Problem: "the scope was not cancelled, disposed or closed", Fix: "call one of these before, or use AwaitCompletion"}
	}
	defer runtime.KeepAlive(s)
	w := &afterWait{call: call, s: s, co: co, onError: onError, opts: opts}
	if w.limit = scheduler.TimeoutOf(opts); w.limit > 0 {
		w.until = co.Scheduler().Reactor().Now().Add(w.limit)
	}
	return w.wait()
}

func (s *Scope) mayWait(call string, co *scheduler.Coroutine) error {
	if s == nil || s.st == nil {
		return s.check(call)
	}
	if err := co.Enter(call); err != nil {
		return err
	}
	return s.RefuseWait(call, co)
}

// afterWait is an AwaitAfterCancellation under way.
type afterWait struct {
	call     string
	s        *Scope
	co       *scheduler.Coroutine
	onError  func(err error, s *Scope) error
	opts     []scheduler.WaitOption
	limit    time.Duration // 0: none
	until    time.Time
	failures []failure // that were not handled yet
	parked   bool
}

type failure struct {
	co  *scheduler.Coroutine // whose; nil: of something else
	err error
}

var _ scheduler.Waiting = (*afterWait)(nil)

func (w *afterWait) wait() error {
	st := w.s.st
	if st.inner.Drained() {
		w.co.Lucky()
		return nil
	}
	x := st.extra()
	x.waiters = append(x.waiters, w)
	defer w.leave()
	for {
		if err := w.handle(); err != nil {
			return w.with(err)
		}
		if st.inner.Drained() {
			return nil
		}
		if err := w.park(); err != nil {
			return w.with(err)
		}
	}
}

// park suspends the coroutine until there is news. The time limit is for all of it.
func (w *afterWait) park() error {
	if err := w.co.Enter(w.call); err != nil {
		return err
	}
	w.parked = true
	if w.limit == 0 {
		return w.co.Park(w.call, w, w.opts...)
	}
	left := max(w.until.Sub(w.co.Scheduler().Reactor().Now()), time.Nanosecond)
	err := w.co.Park(w.call, w, append(slices.Clone(w.opts), scheduler.Timeout(left))...)
	var over *event.TimeoutError
	if errors.As(err, &over) && over.Call == w.call {
		over.Limit = w.limit
	}
	return err
}

// handle calls onError with the failures that have come.
func (w *afterWait) handle() error {
	for len(w.failures) > 0 {
		err := w.failures[0].err
		var failed error
		if w.onError == nil {
			failed = err
		} else {
			failed = w.onError(err, &w.s.st.view)
		}
		w.failures = w.failures[1:]
		if failed != nil {
			return event.WithCause(failed, err)
		}
	}
	return nil
}

// with is err together with the failures that nobody else will see.
func (w *afterWait) with(err error) error {
	var left []error
	for _, f := range w.failures {
		left = append(left, f.err)
	}
	w.failures = nil
	return event.WithCause(err, errors.Join(left...))
}

// leave takes w out of the list of the scope. When it unwinds, there are failures left, for others.
func (w *afterWait) leave() {
	st := w.s.st
	if i := slices.Index(st.ext.waiters, w); i >= 0 {
		st.ext.waiters = slices.Delete(st.ext.waiters, i, i+1)
	}
	for _, f := range w.failures {
		st.inner.Fail(f.co, f.err)
	}
}

// Failed is called by the scheduler with a failure that reaches the scope.
func (st *state) Failed(co *scheduler.Coroutine, err error) (taken bool) {
	if st.ext == nil {
		return false
	}
	for _, w := range st.ext.waiters {
		w.failures = append(w.failures, failure{co, err})
		w.wake()
		taken = true
	}
	return taken
}

func (w *afterWait) wake() {
	if !w.parked {
		return
	}
	w.parked = false
	if err := w.co.Unpark(); err != nil {
		panic("bug: scope: " + err.Error())
	}
}

// Leave is called when the wait ends otherwise.
func (w *afterWait) Leave(*scheduler.Coroutine) { w.parked = false }

// Info describes the wait for reports.
func (w *afterWait) Info() string { return "the end of a " + w.s.st.info() }
