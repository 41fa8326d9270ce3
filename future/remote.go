package future

import (
	"runtime"
	"sync/atomic"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// RemoteCompleter is the right to settle a future from any goroutine, once. The outcome travels to the loop by Post. When
// the completer is dropped without settling the future, the future fails with [ErrAbandoned], as soon as the garbage
// collector has found out.
type RemoteCompleter[T any] struct {
	link    *link[T]
	cleanup runtime.Cleanup
}

// link is what remains when the completer was collected.
type link[T any] struct {
	spent     atomic.Bool // any goroutine; the right was used
	scheduler *scheduler.Scheduler
	future    *Future[T] // loop goroutine only
}

// NewRemote returns a future that is pending, and a completer for any goroutine (FUT-16). The future counts as a visible
// event of the loop only while somebody waits for it. Loop goroutine only: it panics with an [event.UsageError] elsewhere,
// and with an [event.InvalidArgumentError] when owner is nil.
//
//go:noinline
func NewRemote[T any](owner scheduler.Scoped) (*RemoteCompleter[T], *Future[T]) {
	const call = "future: NewRemote"
	f := &Future[T]{}
	f.core.init(scopeOf(call, owner), callerpc.Get())
	f.core.checked(call)
	return f.remote(), f
}

// Move hands the right to complete the future over to another goroutine: what it returns may be used on any, and c refuses
// from now on (FUT-15). Errors: [event.UsageError] when the right was moved before or used, and outside of the run's loop.
func (c *Completer[T]) Move() (*RemoteCompleter[T], error) {
	const call = "future: Move"
	core := &c.future.core
	if err := core.check(call); err != nil {
		return nil, err
	}
	if core.has(isSettled | isMoved) {
		return nil, core.refuse(call)
	}
	return c.future.remote(), nil
}

// remote makes f one that another goroutine completes.
func (f *Future[T]) remote() *RemoteCompleter[T] {
	f.core.state |= isMoved
	s := f.core.scope.Scheduler()
	x := f.core.more()
	x.count = s.Reactor().Count()
	if f.core.interest > 0 {
		x.count.Add(+1)
	}
	r := &RemoteCompleter[T]{link: &link[T]{scheduler: s, future: f}}
	r.cleanup = runtime.AddCleanup(r, (*link[T]).abandon, r.link)
	return r
}

// Complete settles the future with value, in one of the next turns of its loop. Any goroutine may call it. Errors:
// [event.UsageError] when the completer was used already; [event.ErrClosed] when the run is over. A future that was
// cancelled or disposed meanwhile stays as it is, which is no error.
func (r *RemoteCompleter[T]) Complete(value T) error {
	return r.finish("future: Complete", value, nil)
}

// Fail settles the future with err, as Complete does with a value. Errors: [event.InvalidArgumentError] when err is nil.
func (r *RemoteCompleter[T]) Fail(err error) error {
	const call = "future: Fail"
	if err == nil {
		return nilArgument(call, "error", "pass the error, or use Complete")
	}
	var zero T
	return r.finish(call, zero, err)
}

func (r *RemoteCompleter[T]) finish(call string, value T, err error) error {
	if r == nil || r.link == nil {
		return nilArgument(call, "completer", "get it from NewRemote or Completer.Move")
	}
	// The collector may find r unused while it is in here; the right must be spent before the clean-up can look.
	defer runtime.KeepAlive(r)
	if !r.link.spent.CompareAndSwap(false, true) {
		return &event.UsageError{Call: call, Problem: "the future is already completed", Fix: "complete it once"}
	}
	r.cleanup.Stop()
	return r.link.scheduler.Post(func() { r.link.future.set(value, err) })
}

// abandon runs on a goroutine of the runtime when the completer was collected.
func (l *link[T]) abandon() {
	if !l.spent.CompareAndSwap(false, true) {
		return
	}
	// It fails when the run is over: then nobody waits any more.
	_ = l.scheduler.Post(func() {
		// For those who wait only: whether it is found out before the scope completes is the collector's whim (CORO-16).
		l.future.core.observe()
		var zero T
		l.future.set(zero, ErrAbandoned)
	})
}
