package scheduler

import (
	"context"
	"time"
)

var _ context.Context = (*Coroutine)(nil)

// Err returns the cancellation in effect: that of co, or of the block that it is in; nil otherwise. Any goroutine: those that
// are not on the loop see a cancellation of co itself in protected sections too, because they may have seen Done closed.
func (co *Coroutine) Err() error {
	if v := co.verdict(); v != nil {
		return v.err
	}
	if x := co.ext.Load(); x != nil && !co.scope.s.here() {
		if v := x.own.Load(); v != nil {
			return v.err
		}
	}
	if co.over.Load() != 0 {
		return errEnded
	}
	return nil
}

func (co *Coroutine) verdict() *verdict {
	if x := co.ext.Load(); x != nil {
		return x.verdict.Load()
	}
	return nil
}

// Done is closed when Err becomes other than nil, which it does at the latest when co has ended. Asked for by co in a block,
// it is that of the block, and closed with it, whatever the end. Other goroutines get that of the whole body, because a block may end
// between their look at Done and their look at Err; contexts that they make from co are cancelled with the block all the same.
// The channel is made when somebody asks. Any goroutine.
func (co *Coroutine) Done() <-chan struct{} {
	x := co.extra()
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.asked()
	if !co.scope.s.here() {
		f = f.whole()
	}
	if f.done == nil {
		f.done = make(chan struct{})
		if x.isClosed(co, f) {
			f.closed = true
			close(f.done)
		}
	}
	return f.done
}

// isClosed reports whether the time of f has come. The frame of the whole body may be younger than the cancellation. Guarded by
// mu.
func (x *extras) isClosed(co *Coroutine, f *frame) bool {
	return f.closed || f.outer == nil && x.own.Load() != nil || co.over.Load() != 0
}

// whole is the frame of the whole body.
func (f *frame) whole() *frame {
	for f.outer != nil {
		f = f.outer
	}
	return f
}

// asked is the frame that Done and AfterFunc are about: the innermost that is no protected section.
func (x *extras) asked() *frame {
	f := x.innermost()
	if f.shield {
		f = f.visible()
	}
	return f
}

// Deadline returns when the block that co is in runs out of time, the earliest of all that are in effect. Any goroutine.
func (co *Coroutine) Deadline() (deadline time.Time, ok bool) {
	for f := co.top(); f != nil && !f.shield; f = f.outer {
		if !f.deadline.IsZero() && (!ok || f.deadline.Before(deadline)) {
			deadline, ok = f.deadline, true
		}
	}
	return deadline, ok
}

// AfterFunc has fn called once Done is closed; stop makes it not be called and reports whether it did. It is what package
// context uses instead of a goroutine that waits for Done, so that contexts made from co cost nothing while they live. fn runs
// on the loop, while Err is what closed Done: it must be short, and start a goroutine for anything else, as
// [context.AfterFunc] does. When co is cancelled already, fn runs in a goroutine of its own. Any goroutine.
func (co *Coroutine) AfterFunc(fn func()) (stop func() bool) {
	if fn == nil {
		return func() bool { return false }
	}
	x := co.extra()
	a := &afterFunc{fn: fn}
	if !x.await(co, a) {
		go fn() // package context calls this with a lock held that fn needs
		return func() bool { return false }
	}
	return func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return a.list != nil && a.list.remove(a)
	}
}

// await makes a wait for the innermost frame, unless its time has come.
func (x *extras) await(co *Coroutine, a *afterFunc) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.asked()
	if f.closed && !co.scope.s.here() {
		f = f.whole()
	}
	if x.isClosed(co, f) {
		return false
	}
	f.after.push(a)
	return true
}

type coroutineKey struct{}

// FromContext returns the coroutine that ctx is, or was made from; nil: none.
func FromContext(ctx context.Context) *Coroutine {
	co, _ := ctx.Value(coroutineKey{}).(*Coroutine)
	return co
}

// Value finds what is stored under key: in co's own values, then in those of its scope and the scopes around it. Any
// goroutine.
func (co *Coroutine) Value(key any) any {
	if _, self := key.(coroutineKey); self {
		return co
	}
	v, _ := co.find(key)
	return v
}
