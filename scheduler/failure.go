package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/uvasync/uvasync/event"
)

// FailureError is the failure of a coroutine that nobody dealt with, as Run returns it.
type FailureError struct {
	Coroutine string // its name
	Started   string // where: the spawning line, or the function that it ran
	Err       error
}

func (e *FailureError) Error() string {
	return fmt.Sprintf("%s (%s) failed: %v", e.Coroutine, e.Started, e.Err)
}

// Unwrap returns the failure.
func (e *FailureError) Unwrap() error { return e.Err }

// Report is Error over several lines, with the stack of a panic.
func (e *FailureError) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed\n  started  %s\n  error    %v\n", e.Coroutine, e.Started, e.Err)
	var p *event.PanicError
	if errors.As(e.Err, &p) {
		b.WriteString("\n" + p.Trace())
	}
	return b.String()
}

// Fail takes a failure that nobody awaited to the first scope that deals with it, as it does with those of coroutines: one in
// which somebody waits for failures, or that has a handler. Every scope on the way that does not is cancelled (SCOPE-18). co is
// whose failure it is; nil: of something else. The loop only.
func (sc *Scope) Fail(co *Coroutine, err error) { sc.fail(co, err) }

func (sc *Scope) fail(co *Coroutine, err error) {
	s, below := sc.s, false
	for ; sc != nil; sc, below = sc.parent, true {
		if w := sc.watcher; w != nil {
			taken := false
			s.call(func() error { taken = w.Failed(co, err); return nil })
			if taken {
				return
			}
		}
		var handled bool
		if below {
			if handled, err = sc.handle(sc.onChildError, co, err); handled {
				return
			}
		}
		if handled, err = sc.handle(sc.onError, co, err); handled {
			return
		}
		// All fail together, safe or not: who does not want that has a handler. Zombies of a scope that has ended are left
		// alone (SCOPE-06).
		if sc.parent != nil && !sc.cleans() && !sc.Ending() {
			sc.end(forcibly, &event.CancelledError{Reason: err})
		}
	}
	s.failed(co, err)
}

// handle offers a failure to a handler, which may be nil.
func (sc *Scope) handle(h FailureHandler, co *Coroutine, err error) (handled bool, left error) {
	if h == nil {
		return false, err
	}
	failed := sc.s.recovered(func() error { return h(sc, co, err) })
	if failed == nil {
		return true, nil
	}
	return false, event.WithCause(failed, err) // SCOPE-20
}

// handled reports whether there is a handler that a failure in sc would meet.
func (sc *Scope) handled() bool {
	for below := false; sc != nil; sc, below = sc.parent, true {
		if sc.onError != nil || below && sc.onChildError != nil {
			return true
		}
	}
	return false
}

// failed is the failure of co at the root: the run ends.
func (s *Scheduler) failed(co *Coroutine, err error) {
	if co != nil && (co != s.mainCo || isPanic(err)) {
		failure := &FailureError{Coroutine: co.title(), Started: co.SpawnLocation(), Err: err}
		s.log(slog.LevelError, failure.Report)
		err = failure
	}
	s.Fail(err)
}

// log tells the logger, which is somebody else's code.
func (s *Scheduler) log(level slog.Level, text func() string, args ...any) {
	s.call(func() error {
		if s.opts.Logger.Enabled(context.Background(), level) {
			s.opts.Logger.Log(context.Background(), level, text(), append([]any{"run", s.name}, args...)...)
		}
		return nil
	})
}

func isPanic(err error) bool {
	_, ok := err.(*event.PanicError)
	return ok
}

// Fail makes the run fail with err: everything is shut down in order, and Run returns an error from which err, and earlier
// ones, can be retrieved (SHUT-01, SHUT-02). The loop only.
func (s *Scheduler) Fail(err error) {
	s.failure = event.WithCause(err, s.failure)
	s.shutdown(err)
}

// call runs a function of somebody else's outside of any coroutine: its failure or panic is one of the run.
func (s *Scheduler) call(fn func() error) {
	if err := s.recovered(fn); err != nil {
		s.Fail(err)
	}
}

// Call runs fn, a function of somebody else's, outside of the body that is running: a panic there is its error, a Goexit
// ends the run. It is for packages that call back. The loop only.
func (s *Scheduler) Call(fn func() error) error { return s.recovered(fn) }

// recovered runs fn and turns a panic into an error.
func (s *Scheduler) recovered(fn func() error) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if r := recover(); r != nil {
			err = &event.PanicError{Value: r, Stack: debug.Stack()}
			return
		}
		s.goexit()
	}()
	err = fn()
	returned = true
	return err
}

// guard is deferred around what runs on the stack of whoever has the loop without being its coroutine: a panic there is a
// failure of the run.
func (s *Scheduler) guard(returned *bool) {
	if *returned {
		return
	}
	if r := recover(); r != nil {
		s.Fail(&event.PanicError{Value: r, Stack: debug.Stack()})
		return
	}
	s.goexit()
}

// goexit is what follows when a function of somebody else's has called runtime.Goexit, as t.FailNow does. Nothing stops that:
// a coroutine that is suspended on the stack is unwound with it. The run ends in order, and then Run's goroutine exits.
func (s *Scheduler) goexit() {
	if co := s.Current(); co != nil && co.doomed {
		return // it was unwound
	}
	s.exited = true
	s.Fail(errGoexit)
	if f := s.fiber; f.co != nil && f.co.state == suspended {
		f.co.state = running // without its switch handlers, which may be what exits
	}
}
