package future

import (
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

var (
	// ErrAbandoned is the outcome of a future whose [RemoteCompleter] was dropped without completing it.
	ErrAbandoned = errors.New("future: abandoned: its completer was dropped without completing it")
	// ErrDisposed is the reason of the cancellation of a future that was disposed.
	ErrDisposed = errors.New("future: disposed")
	// ErrStop ends a [ForEach] without an error, when its function returns it.
	ErrStop = errors.New("future: stop")
)

// UnhandledError is the error of a future that nobody took: nobody awaited it, caught it or ignored it before the scope
// completed that owns it. It is reported once, to the handler of that scope or as the run's failure (CORO-16, FUT-12).
type UnhandledError struct {
	CreatedAt string // file:line of the call that made the future
	Err       error  // the outcome
	GivenUp   bool   // somebody awaited it, and left before it came: a timeout, a token, a cancellation
}

func (e *UnhandledError) Error() string {
	fix := "; await it, Catch it, or Ignore it: "
	if e.GivenUp {
		fix = " (who awaited it gave up before); Ignore or Dispose it then: "
	}
	return "future: nobody took the error of the future created at " + e.CreatedAt + fix + fmt.Sprint(e.Err)
}

// Unwrap returns the outcome.
func (e *UnhandledError) Unwrap() error { return e.Err }

// sameRun answers whether co may wait for an object of the run s (GEN-11).
func sameRun(call string, s *scheduler.Scheduler, co *scheduler.Coroutine) error {
	if own := co.Scheduler(); own != s {
		return &event.UsageError{
			Call:    call,
			Problem: "what is awaited belongs to the run " + s.Name() + ", the coroutine to the run " + own.Name(),
			Fix:     "await it in its own run, and complete a future of the other run there (NewRemote)",
		}
	}
	return nil
}

func nilArgument(call, arg, legal string) error {
	return &event.InvalidArgumentError{Call: call, Arg: arg, Legal: legal}
}
