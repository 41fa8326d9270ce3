package future

import "github.com/uvasync/uvasync/event"

// outside is a future as others see it: a [event.Base] with the kind that reads the future. Only futures that somebody
// subscribes to, combines with other kinds of events, or uses as a token have one; what this package does itself goes the
// short way.
type outside struct {
	base  event.Base
	core  *core
	typed typed
}

// typed is the part of a future that knows the type of its value.
type typed interface {
	event.Event
	inner() *core
	boxed() any
	Info() string
}

// AsEvent returns the future as an event, and counts as a use of it (FUT-11, FUT-13). It panics with an
// [event.UsageError] when it is called for the first time outside of the run's loop.
func (f *Future[T]) AsEvent() *event.Base {
	if f == nil || f.core.scope == nil {
		return nil
	}
	x := f.core.more()
	if x.outside == nil {
		f.core.checked("future: AsEvent")
		x.outside = &outside{core: &f.core, typed: f}
		// It lives in the loop so that it is told who waits, and is hidden because a wait counts only when another goroutine
		// completes the future: see core.gain.
		live := f.core.scope.Scheduler().Reactor().Count()
		x.outside.base.Init((*outsideKind)(x.outside), live, event.FlagHidden)
		if f.core.has(isSettled) {
			x.outside.base.MarkClosed()
		}
	}
	f.core.use()
	return &x.outside.base
}

// Flags returns the flags of the event: closed once it has settled, and whether its outcome was used.
func (f *Future[T]) Flags() event.Flags {
	var flags event.Flags
	if f == nil {
		return flags
	}
	if x := f.core.extra; x != nil && x.outside != nil {
		flags = x.outside.base.Flags() &^ event.FlagHidden
	}
	if f.core.has(isSettled) {
		flags |= event.FlagClosed
	}
	if f.core.has(isUsed) {
		flags |= event.FlagResultUsed
	}
	if f.core.has(isFailed) && f.core.has(isObserved) {
		flags |= event.FlagErrorHandled
	}
	return flags
}

// base returns the event of the future if it has one yet.
func (c *core) base() *event.Base {
	if c.extra == nil || c.extra.outside == nil {
		return nil
	}
	return &c.extra.outside.base
}

func (f *Future[T]) inner() *core {
	if f == nil || f.core.scope == nil {
		return nil
	}
	return &f.core
}
func (f *Future[T]) boxed() any { return f.value }

// notify tells the subscribers.
func (o *outside) notify() {
	if o.base.Callbacks() > 0 {
		o.core.take()
	}
	// The value is boxed for subscribers only; a hook may be there without any.
	_ = o.base.Notify(o.result(), o.core.failure())
}

// result returns nil with an error, as everywhere.
func (o *outside) result() any {
	if o.core.has(isFailed) {
		return nil
	}
	return o.typed.boxed()
}

// outsideKind is what a future adds to its Base.
type outsideKind outside

var _ event.Kind = (*outsideKind)(nil)

// StartEvent says that somebody waits for the event.
func (k *outsideKind) StartEvent() error {
	k.core.gain()
	return nil
}

// StopEvent says that nobody waits for the event any more.
func (k *outsideKind) StopEvent() { k.core.lose() }

// DisposeEvent does nothing: the future outlives its event.
func (k *outsideKind) DisposeEvent() {}

// Outcome returns the outcome (EVT-07). Whoever asks has taken it.
func (k *outsideKind) Outcome() (result any, ok bool, err error) {
	if !k.core.has(isSettled) {
		return nil, false, nil
	}
	return (*outside)(k).result(), true, k.core.take()
}

// Info describes the future.
func (k *outsideKind) Info() string { return k.typed.Info() }
