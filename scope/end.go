package scope

import (
	"errors"
	"fmt"
	"time"

	"github.com/uvasync/uvasync/event"
)

// Reasons with which scopes end: those of the cancellations, and what the zombie log is told.
var (
	// ErrDisposed is that of [Scope.Dispose] and [Scope.DisposeSafely].
	ErrDisposed = errors.New("scope: the scope was disposed")
	// ErrScopeClosed is that of [Scope.Close].
	ErrScopeClosed = errors.New("scope: the scope was destroyed by Close")
	// ErrDropped is that of a handle that was collected.
	ErrDropped = errors.New("scope: the scope was destroyed because its handle was collected without Close")
	// ErrTimeLimit is that of [Scope.DisposeAfterTimeout]. It matches [event.ErrTimeout].
	ErrTimeLimit = fmt.Errorf("scope: the time limit for the disposal of the scope is over: %w", event.ErrTimeout)
)

// Cancel cancels the scope and those below it, children first (SCOPE-05). Coroutines that have not started never run; those
// that have become zombies where a scope is safe (SCOPE-04), and are cancelled with the reason, which may be nil, where it is
// not (SCOPE-03). What the scopes own is closed. No more coroutines are taken. It does nothing when the scope was cancelled or
// disposed before (SCOPE-06). An [event.UsageError] outside of the run's loop.
func (s *Scope) Cancel(reason error) error {
	if err := s.check("scope: Scope.Cancel"); err != nil {
		return err
	}
	s.st.release()
	return s.st.inner.Cancel(reason)
}

// Dispose cancels all coroutines of the scope and of those below it, whether they are safe or not, zombies included, with
// [ErrDisposed], and closes it at once (SCOPE-04). Otherwise as [Scope.Cancel].
func (s *Scope) Dispose() error {
	if err := s.check("scope: Scope.Dispose"); err != nil {
		return err
	}
	s.st.release()
	return s.st.inner.Dispose(ErrDisposed)
}

// DisposeSafely closes the scope and those below it. Nothing is cancelled: all coroutines run to their end as zombies
// (SCOPE-25). What the scopes own is closed when the last of them has ended. Idempotent. An [event.UsageError] outside of the
// run's loop.
func (s *Scope) DisposeSafely() error {
	if err := s.check("scope: Scope.DisposeSafely"); err != nil {
		return err
	}
	s.st.release()
	return s.st.inner.DisposeSafely(ErrDisposed)
}

// DisposeAfterTimeout closes the scope and those below it for new coroutines, and gives those that are there the time d to
// end. What is left then is disposed as by [Scope.Dispose], with [ErrTimeLimit] (SCOPE-24). The limit is a visible event
// until the last coroutine has ended. Called again, the later call counts; without coroutines, and for a d of 0, the scope
// is disposed at once. Errors: [event.InvalidArgumentError] when d is negative; [event.UsageError] outside of the run's
// loop.
func (s *Scope) DisposeAfterTimeout(d time.Duration) error {
	const call = "scope: Scope.DisposeAfterTimeout"
	if err := s.check(call); err != nil {
		return err
	}
	if d < 0 {
		return &event.InvalidArgumentError{Call: call, Arg: "timeout", Got: d, Legal: "0 or more"}
	}
	s.st.release()
	st, inner := s.st, s.st.inner
	if inner.Drained() {
		return inner.Seal()
	}
	x := st.extra()
	if x.limit != nil {
		x.limit.Stop()
	}
	if err := inner.Seal(); err != nil || inner.Drained() {
		return err
	}
	if d == 0 || inner.Forced() {
		return inner.Dispose(ErrTimeLimit)
	}
	if x.limit == nil {
		x.limit = inner.Scheduler().Reactor().NewDeadline(func() {
			_ = inner.Dispose(ErrTimeLimit) // it can only refuse other goroutines
		})
	}
	return x.limit.Start(d)
}

// Close ends the scope: as [Scope.DisposeSafely] when it is safe, otherwise as [Scope.Dispose], with [ErrScopeClosed]
// (SCOPE-26). It does nothing when the scope was ended before, or has a time limit to end by. It is meant for defer. An
// [event.UsageError] outside of the run's loop.
func (s *Scope) Close() error {
	if err := s.check("scope: Scope.Close"); err != nil {
		return err
	}
	s.st.release()
	s.st.destroy(ErrScopeClosed)
	return nil
}

func (st *state) destroy(reason error) {
	inner := st.inner
	switch {
	case inner.Closed() || inner.Ending():
	case inner.Safe():
		_ = inner.DisposeSafely(reason) // it can only refuse other goroutines
	default:
		_ = inner.Dispose(reason)
	}
}

// Forced is called by the scheduler when the coroutines are cancelled by force: there is nothing left to limit.
func (st *state) Forced() {
	if st.ext != nil && st.ext.limit != nil {
		st.ext.limit.Stop()
	}
}

// Drained is called by the scheduler when the scope has ended and nothing is left in it.
func (st *state) Drained() {
	st.release()
	x := st.ext
	if x == nil {
		return
	}
	if x.limit != nil {
		x.limit.Stop()
	}
	for _, w := range x.waiters {
		w.wake()
	}
	st.runFinally()
}

// IsClosed reports whether the scope was disposed or closed, DisposeAfterTimeout included; or was cancelled, or the run has
// ended, and nothing is left in it.
func (s *Scope) IsClosed() bool {
	s.checked("scope: Scope.IsClosed")
	return s.st.inner.Closed()
}

// IsCancelled reports whether the scope was cancelled: by [Scope.Cancel], safe or not, [Scope.Dispose], [Scope.Close] when
// it is not safe, a time limit that is over, the failure of one of its coroutines, or together with one around it or the
// run.
func (s *Scope) IsCancelled() bool {
	s.checked("scope: Scope.IsCancelled")
	return s.st.inner.Cancelled() != nil
}

// IsFinished reports whether no active coroutine is left in the scope and below it (SCOPE-27). That may be for the time being.
func (s *Scope) IsFinished() bool {
	s.checked("scope: Scope.IsFinished")
	return s.st.inner.Finished()
}

// ChildScopes lists the scopes that are directly below (SCOPE-28) and have not ended, oldest first.
func (s *Scope) ChildScopes() []*Scope {
	s.checked("scope: Scope.ChildScopes")
	var list []*Scope
	for c := range s.st.inner.Children() {
		list = append(list, view(c))
	}
	return list
}

// Stats are figures about a scope at one moment, without those below it.
type Stats struct {
	Active  int // coroutines that AwaitCompletion waits for
	Zombies int // coroutines that run on though the scope has ended
	Total   int // coroutines that have not ended: these, and hidden ones
}

// Stats returns the figures of the moment.
func (s *Scope) Stats() (st Stats) {
	s.checked("scope: Scope.Stats")
	st.Active, st.Zombies, st.Total = s.st.inner.Counts()
	return st
}
