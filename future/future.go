package future

import (
	"reflect"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// Future is a value that comes later, or the error that came instead. It is an [event.Event] whose outcome is kept: it can
// be awaited any number of times by any number of coroutines of its run, combined with other events, derived from, and
// used as a token that bounds a wait. Get one from [Go], [New], [NewRemote], [Completed], [Failed], [FromEvent], or by
// deriving from another. Do not copy it. Loop goroutine only.
type Future[T any] struct {
	core  core
	value T // set before core.settle(nil); zero otherwise
}

var _ event.Event = (*Future[int])(nil)

// New returns a future that is pending, and the [Completer] that settles it. It belongs to the scope of owner: when nobody
// takes its outcome, that scope is told (CORO-16). It panics with an [event.InvalidArgumentError] when owner is nil.
//
//go:noinline
func New[T any](owner scheduler.Scoped) (*Completer[T], *Future[T]) {
	c := &Completer[T]{}
	c.future.core.init(scopeOf("future: New", owner), callerpc.Get())
	return c, &c.future
}

// Completed returns a future that has settled with value. Loop goroutine only: it panics with an [event.UsageError]
// elsewhere, and with an [event.InvalidArgumentError] when owner is nil.
//
//go:noinline
func Completed[T any](owner scheduler.Scoped, value T) *Future[T] {
	const call = "future: Completed"
	f := &Future[T]{value: value}
	f.core.init(scopeOf(call, owner), callerpc.Get())
	f.core.checked(call)
	f.core.completed = f.core.created
	f.core.settle(nil)
	return f
}

// Failed returns a future that has settled with err, as [Completed] does with a value. It panics with an
// [event.InvalidArgumentError] when err is nil.
//
//go:noinline
func Failed[T any](owner scheduler.Scoped, err error) *Future[T] {
	const call = "future: Failed"
	if err == nil {
		panic(nilArgument(call, "error", "pass the error, or use Completed"))
	}
	f := &Future[T]{}
	f.core.init(scopeOf(call, owner), callerpc.Get())
	f.core.checked(call)
	f.core.completed = f.core.created
	f.core.settle(err)
	return f
}

// At makes f one that was made at pc, a return address, and returns it: for packages that make futures on behalf of their
// callers. It is called before anybody else has f.
func (f *Future[T]) At(pc uintptr) *Future[T] {
	f.core.created = pc
	if f.core.has(isSettled) {
		f.core.completed = pc
	}
	return f
}

func scopeOf(call string, owner scheduler.Scoped) *scheduler.Scope {
	if owner != nil {
		if s := owner.Scope(); s != nil {
			return s
		}
	}
	panic(nilArgument(call, "owner", "pass the coroutine that makes the future, or a scope"))
}

// Cancel settles a pending future with an [event.CancelledError] that carries reason, which may be nil (FUT-02). The
// future of a coroutine ([Go], or a derivation whose function runs) passes it on: the coroutine is cancelled, and the
// future settles with what becomes of it. Cancelling one that has settled does nothing. It returns an [event.UsageError]
// outside of the run's loop.
//
//go:noinline
func (f *Future[T]) Cancel(reason error) error {
	if err := f.check("future: Cancel"); err != nil {
		return err
	}
	f.core.cancel(reason, callerpc.Get())
	return nil
}

// check answers whether there is a future, and the caller is on the loop.
func (f *Future[T]) check(call string) error {
	if f == nil {
		return nilArgument(call, "future", "make it with Go or New")
	}
	return f.core.check(call)
}

// Ignore says that nobody needs to take the outcome: neither a value that is never used (FUT-11) nor an error that nobody
// takes (FUT-12) is reported. It returns an [event.UsageError] outside of the run's loop.
func (f *Future[T]) Ignore() error {
	if err := f.check("future: Ignore"); err != nil {
		return err
	}
	f.core.ignore()
	return nil
}

// Dispose is for who has no more use for the future: it ignores the outcome, and cancels what is still pending with
// [ErrDisposed]. When another goroutine completes it at the same time, that completion does nothing (FUT-16). It returns
// an [event.UsageError] outside of the run's loop.
//
//go:noinline
func (f *Future[T]) Dispose() error {
	if err := f.check("future: Dispose"); err != nil {
		return err
	}
	f.core.ignore()
	f.core.cancel(ErrDisposed, callerpc.Get())
	return nil
}

// Completed reports whether the future has settled: with a value, with an error, or by being cancelled.
func (f *Future[T]) Completed() bool { return f.core.has(isSettled) }

// Cancelled reports whether the future has settled with an [event.CancelledError] (FUT-03).
func (f *Future[T]) Cancelled() bool { return f.core.cancelled() }

// Err returns the error that the future has settled with; nil while it is pending. Whoever asks has taken the error: it is
// not reported as unhandled any more.
func (f *Future[T]) Err() error { return f.core.take() }

// Result returns the outcome without waiting; ok is false while the future is pending. Whoever asks after it has settled
// has taken it.
func (f *Future[T]) Result() (value T, ok bool, err error) {
	if !f.core.has(isSettled) {
		return value, false, nil
	}
	f.core.use()
	return f.value, true, f.core.take()
}

// CreatedAt returns where the future was made: "file:line".
func (f *Future[T]) CreatedAt() string { return location(f.core.created) }

// CompletedAt returns where the future was settled: "file:line"; "" while it is pending, and when no line of the program
// settled it but the end of a coroutine or another goroutine (FUT-14).
func (f *Future[T]) CompletedAt() string {
	if !f.core.has(isSettled) {
		return ""
	}
	return location(f.core.completed)
}

// Info describes the future for people: "future[string] created at main.go:12, pending" (EVT-16).
func (f *Future[T]) Info() string { return f.core.info(f.kind()) }

func (f *Future[T]) kind() string { return "future[" + reflect.TypeFor[T]().String() + "]" }

// set settles the future unless it is settled.
func (f *Future[T]) set(value T, err error) {
	if f.core.has(isSettled) {
		return
	}
	if err == nil {
		f.value = value
	}
	f.core.settle(err)
}
