package future

import (
	"runtime/debug"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// Map returns a future of what fn makes of f's value. fn runs in a coroutine of its own in f's scope, in the order of
// derivation; its error or panic becomes the outcome. When f fails, fn is not called and the error passes through (FUT-04).
// What has to suspend is written with [Go] and Await instead.
// Deriving counts as a use of f, and f's error is then the derived future's to report. Panics with an
// [event.InvalidArgumentError] when f or fn is nil, and with an [event.UsageError] outside of the run's loop.
//
//go:noinline
func Map[T, U any](f *Future[T], fn func(value T) (U, error)) *Future[U] {
	const call = "future: Map"
	mustDerive(call, f == nil, fn == nil)
	d := &derivation[U]{
		applies: onValue,
		fn:      fn,
		run:     func() (U, error) { return fn(f.value) },
		pass:    func() (value U) { return value },
	}
	return d.from(call, &f.core, callerpc.Get())
}

// Catch returns a future that has f's value or, when f fails, what fn makes of the error: its value, or its own error
// instead (FUT-05). fn runs as that of [Map] does; cancellations are errors too. The error of f counts as taken.
//
//go:noinline
func (f *Future[T]) Catch(fn func(err error) (T, error)) *Future[T] {
	const call = "future: Catch"
	mustDerive(call, f == nil, fn == nil)
	d := &derivation[T]{
		applies: onError,
		fn:      fn,
		run:     func() (T, error) { return fn(f.core.failure()) },
		pass:    func() T { return f.value },
	}
	d.result.core.state = isQuiet
	return d.from(call, &f.core, callerpc.Get())
}

// Finally returns a future with f's own outcome, which it gets when fn has run, whatever that outcome is; an error of fn
// overrides it, with f's error as its cause (FUT-06). fn runs as that of [Map] does, but also when the scope takes no more
// coroutines. Finally alone does not take f's error: it is the derived future's to report (FUT-12).
//
//go:noinline
func (f *Future[T]) Finally(fn func() error) *Future[T] {
	const call = "future: Finally"
	mustDerive(call, f == nil, fn == nil)
	d := &derivation[T]{
		applies: onBoth,
		fn:      fn,
		run: func() (T, error) {
			if err := fn(); err != nil {
				var zero T
				return zero, event.WithCause(err, f.core.failure())
			}
			return f.value, f.core.failure()
		},
	}
	d.result.core.state = isQuiet
	return d.from(call, &f.core, callerpc.Get())
}

func mustDerive(call string, noFuture, noFunction bool) {
	if noFuture {
		panic(nilArgument(call, "future", "make it before deriving from it"))
	}
	if noFunction {
		panic(nilArgument(call, "function", "pass what to make of the outcome"))
	}
}

func onValue(err error) bool { return err == nil }
func onError(err error) bool { return err != nil }
func onBoth(error) bool      { return true }

// derivation is a future that comes of another one, which it listens to until that has settled. Then it is the outcome of
// a coroutine.
type derivation[U any] struct {
	node
	result  Future[U]
	extra   extra                // of result
	source  *core                // nil once the outcome is there
	called  bool                 // run was
	applies func(err error) bool // whether run is to be called for such an outcome
	run     func() (U, error)
	fn      any      // the user's function, for reports
	pass    func() U // the value when it is not, and the source has not failed
	value   U        // of run, until settle knows that it counts
}

func (d *derivation[U]) from(call string, source *core, at uintptr) *Future[U] {
	source.checked(call)
	source.use()
	f := &d.result
	f.core.init(source.scope, at)
	f.core.extra = &d.extra
	d.source = source
	if source.has(isSettled) {
		d.settled(source)
		return f
	}
	source.add(&d.node, d, false)
	d.extra.source, d.extra.stop = source, d.leave
	return f
}

// settled is called when the source has.
func (d *derivation[U]) settled(source *core) {
	f := &d.result
	if f.core.interest > 0 && d.extra.source != nil {
		source.lose()
	}
	d.extra.source, d.extra.stop = nil, nil
	if d.applies(source.failure()) {
		d.start()
		return
	}
	d.source = nil
	if err := source.take(); err != nil { // from now on it is the derived future's to report
		f.core.settle(err)
		return
	}
	f.set(d.pass(), nil)
}

// start runs the function in a coroutine, or, in a scope that takes no more of them, as a microtask: clean-up must happen
// then too.
func (d *derivation[U]) start() {
	scope := d.result.core.scope
	co, err := scope.Spawn(func(*scheduler.Coroutine) error { return d.call() }, scheduler.SettledBy(d), scheduler.EntryOf(d.fn))
	if err == nil {
		d.extra.co = co
		return
	}
	if err := scope.Scheduler().Microtask(d.callAlone); err != nil {
		d.result.core.settle(event.WithCause(err, d.source.take()))
	}
}

// call runs the function, which is then bound to do something about the source's error.
func (d *derivation[U]) call() (err error) {
	d.called = true
	_ = d.source.take()
	d.value, err = d.run()
	return err
}

// callAlone runs the function outside of any coroutine.
func (d *derivation[U]) callAlone() error {
	d.finish(d.guarded())
	return nil
}

func (d *derivation[U]) guarded() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &event.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return d.call()
}

// Settle is called by the scheduler with what became of the coroutine. One that was cancelled before it started has not
// called the function; that of Finally must run all the same.
func (d *derivation[U]) Settle(_ *scheduler.Coroutine, err error) {
	if !d.called && d.pass == nil {
		err = d.guarded()
	}
	d.finish(err)
}

func (d *derivation[U]) finish(err error) {
	if _, panicked := err.(*event.PanicError); panicked {
		err = event.WithCause(err, d.source.failure()) // which nobody else has (GEN-08)
	}
	d.result.set(d.value, err)
	d.source, d.run, d.pass, d.fn = nil, nil, nil, nil // the future may live on for long
}
