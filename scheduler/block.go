package scheduler

import (
	"context"
	"time"

	"github.com/uvasync/uvasync/event"
)

// frame is a stretch of a coroutine's body with a cancellation of its own: a block, a protected section, or, outermost, the
// whole body. It is what [Coroutine.Done] is closed by.
type frame struct {
	outer    *frame        // immutable
	shield   bool          // immutable; a protected section: what is outside of it has no effect
	deadline time.Time     // immutable; zero: none of its own
	err      error         // loop goroutine only; it was cancelled
	closed   bool          // guarded by extras.mu; its cancellation has taken effect, or it is over
	done     chan struct{} // guarded by extras.mu; nil until somebody asks
	after    afterList     // guarded by extras.mu
}

// top is the innermost frame, nil when none was needed so far. Any goroutine.
func (co *Coroutine) top() *frame {
	if x := co.ext.Load(); x != nil {
		return x.top.Load()
	}
	return nil
}

// push makes f the innermost frame.
func (co *Coroutine) push(f *frame) {
	x := co.extra()
	f.outer = x.innermost()
	x.top.Store(f)
	if f.shield {
		co.judge()
	}
}

// pop removes f, which is the innermost one, and with it what it had in effect. Done of a block is closed with it; contexts
// that were made from co in a block that was not cancelled live on, and wait for what is around it.
func (co *Coroutine) pop(f *frame) {
	x := co.ext.Load()
	x.mu.Lock()
	if !f.closed && !f.shield {
		f.visible().after.take(&f.after)
		f.close(nil)
	}
	x.top.Store(f.outer)
	x.mu.Unlock()
	co.judge()
}

// visible is the next frame around f that is no protected section.
func (f *frame) visible() *frame {
	for f = f.outer; f.shield; f = f.outer {
	}
	return f
}

// innermost returns the innermost frame, which is that of the whole body outside of blocks. Any goroutine.
func (x *extras) innermost() *frame {
	if f := x.top.Load(); f != nil {
		return f
	}
	x.top.CompareAndSwap(nil, &frame{})
	return x.top.Load()
}

// publish closes the innermost frame and what is around it, up to the block from: its cancellation has taken effect in all
// of them. nil: in the whole body.
func (co *Coroutine) publish(from *frame) {
	x := co.ext.Load()
	if x.top.Load() == nil { // nobody has asked: who does so now sees for himself what has happened
		return
	}
	for _, fn := range x.closeUpTo(from) {
		co.scope.s.call(func() error { fn(); return nil })
	}
}

// closeUpTo closes them and returns the functions that wait for it.
func (x *extras) closeUpTo(from *frame) (after []func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for f := x.top.Load(); f != nil; f = f.outer {
		if !f.closed {
			after = f.close(after)
		}
		if f == from {
			break
		}
	}
	return after
}

// close closes Done of f and adds the functions that wait for it to after. Guarded by extras.mu.
func (f *frame) close(after []func()) []func() {
	f.closed = true
	if f.done != nil {
		close(f.done)
	}
	for a := f.after.first; a != nil; a = f.after.first {
		f.after.remove(a)
		after = append(after, a.fn)
	}
	return after
}

// cancelBlock fires a block: everything in it is cancelled with err. It may be called when the block is over.
func (co *Coroutine) cancelBlock(f *frame, err error) {
	if f.err != nil || co.state == completed {
		return
	}
	f.err = err
	for in := co.top(); in != nil; in = in.outer {
		if in == f {
			co.judge()
			return
		}
	}
}

// WithTimeout runs fn, whose suspension points fail once d is over, with an error that matches ErrTimeout; after it, co is
// as before (CANC-28). It returns what fn returns. Within fn, Err, Done and Deadline tell of the limit. Errors of its own:
// *event.InvalidArgumentError for a d that is not positive, *event.UsageError, the cancellation of co. Only the coroutine
// itself may call it. Coroutines that fn spawns do not belong to the block: give them a scope (scope.New) to end them with it.
func (co *Coroutine) WithTimeout(d time.Duration, fn func(co *Coroutine) error) error {
	const call = "WithTimeout"
	if err := co.Enter(call); err != nil {
		return err
	}
	if d <= 0 {
		return invalid(call, "timeout", d, "it must be positive")
	}
	return co.limited(call, d, co.scope.s.reactor.Now().Add(d), fn)
}

// WithDeadline is WithTimeout until t, on the clock of the run. One that has passed cancels the block at once.
func (co *Coroutine) WithDeadline(t time.Time, fn func(co *Coroutine) error) error {
	const call = "WithDeadline"
	if err := co.Enter(call); err != nil {
		return err
	}
	return co.limited(call, t.Sub(co.scope.s.reactor.Now()), t, fn)
}

func (co *Coroutine) limited(call string, d time.Duration, until time.Time, fn func(co *Coroutine) error) error {
	if fn == nil {
		return invalid(call, "function", nil, "pass the block to run")
	}
	f := &frame{deadline: until}
	over := func() { co.cancelBlock(f, &event.TimeoutError{Call: prefixed(call), Limit: d}) }
	co.push(f)
	defer co.pop(f)
	if d <= 0 {
		over()
		return fn(co)
	}
	ends := co.scope.s.reactor.NewDeadline(over)
	if err := ends.Start(d); err != nil {
		return err
	}
	defer ends.Stop()
	return fn(co)
}

// WithCancel runs fn with a function that cancels the rest of it: suspension points in fn then fail with the reason. After it,
// co is as before (CANC-28), and WithCancel returns nil if that cancellation is all that fn returned. The function may be
// called by anybody on the loop, also when the block is over. Errors as for WithTimeout.
func (co *Coroutine) WithCancel(fn func(co *Coroutine, cancel func(reason error)) error) error {
	const call = "WithCancel"
	if err := co.Enter(call); err != nil {
		return err
	}
	if fn == nil {
		return invalid(call, "function", nil, "pass the block to run")
	}
	f := &frame{}
	co.push(f)
	defer co.pop(f)
	err := fn(co, func(reason error) { co.cancelBlock(f, &event.CancelledError{Reason: reason}) })
	if err == f.err {
		return nil
	}
	return err
}

// WithContext runs fn, whose suspension points fail once ctx, which is somebody else's, is done: with an *event.CancelledError
// whose Reason is the cause of ctx. After it, co is as before (CANC-28). It returns what fn returns. What ctx cancels comes by
// Post, so that a context that waits for nothing else than this run does not keep it alive (DEAD-12). Errors of its own as for
// WithTimeout. Only the coroutine itself may call it.
func (co *Coroutine) WithContext(ctx context.Context, fn func(co *Coroutine) error) error {
	const call = "WithContext"
	if err := co.Enter(call); err != nil {
		return err
	}
	if ctx == nil {
		return invalid(call, "context", nil, "pass the one that bounds the block")
	}
	if fn == nil {
		return invalid(call, "function", nil, "pass the block to run")
	}
	f := &frame{}
	f.deadline, _ = ctx.Deadline()
	co.push(f)
	defer co.pop(f)
	over := func() { co.cancelBlock(f, &event.CancelledError{Reason: context.Cause(ctx)}) }
	if ctx.Err() != nil {
		over()
		return fn(co)
	}
	stop := context.AfterFunc(ctx, func() {
		// It fails when the loop is closed, after the block.
		_ = co.scope.s.reactor.Post(over)
	})
	defer stop()
	return fn(co)
}

// Protect runs fn, in which co is not cancelled: suspension points work, whatever was or is cancelled meanwhile. It is for
// clean-up that has to wait. ctx has co's values and is never cancelled. When a cancellation came meanwhile, the outermost
// Protect returns it, together with what fn returned (CANC-13, CANC-17); otherwise what fn returned. Stage 2 of a shutdown
// takes no notice of it (CANC-18). A *event.UsageError from any other goroutine than co's.
func (co *Coroutine) Protect(fn func(ctx context.Context) error) error {
	const call = "Protect"
	if err := co.Check(call); err != nil {
		return err
	}
	if fn == nil {
		return invalid(call, "function", nil, "pass the section to run")
	}
	before := co.verdict()
	var section Shield
	section.Raise(co)
	defer section.Lower() // also when fn panics
	err := fn(protected{co})
	section.Lower()
	v := co.verdict()
	if v == nil || before != nil && before.err == v.err {
		return err
	}
	co.tell(v.err)
	return event.WithCause(v.err, err)
}

// Shield is what makes a section protected: [Coroutine.Protect] without a function and an answer, for packages that protect
// often. It can be raised again when it was lowered, by whomever; several of a coroutine are lowered in the opposite order. Embed
// it: raising it allocates nothing but what a coroutine needs to know of blocks at all. Do not copy it.
type Shield struct {
	frame frame
	co    *Coroutine // nil: lowered
}

// Raise begins the section in co, which must be the caller: see [Coroutine.Check]. What cancels co meanwhile has its effect
// after Lower.
func (sh *Shield) Raise(co *Coroutine) {
	if !sh.frame.shield { // once: other goroutines may still look at the frame
		sh.frame.shield = true
	}
	sh.co = co
	co.push(&sh.frame)
}

// Lower ends the section. Idempotent.
func (sh *Shield) Lower() {
	if co := sh.co; co != nil {
		sh.co = nil
		co.pop(&sh.frame)
	}
}

// protected is the context of a protected section.
type protected struct{ co *Coroutine }

func (protected) Deadline() (time.Time, bool) { return time.Time{}, false }
func (protected) Done() <-chan struct{}       { return nil }
func (protected) Err() error                  { return nil }
func (p protected) Value(key any) any         { return p.co.Value(key) }
