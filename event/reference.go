package event

// Reference is the handle that a user holds: embed it in the public object. The event can outlive it, because whoever
// else needs the event has a reference of its own; and the event can be closed before it, after which the Reference
// answers with [ClosedError], which matches [ErrClosed]. It leads to the event, so it can be given wherever an [Event] is
// taken. Do not copy it. Loop goroutine only.
type Reference struct {
	base     *Base // set by Init; kept after Dispose
	disposed bool  // loop goroutine only; the reference to base was dropped
}

var _ Event = (*Reference)(nil)

// Init makes r refer to b and takes over the reference that b was created with. It panics with an
// [InvalidArgumentError] when b is nil, and with a [UsageError] when r already refers to an event that it did not drop.
func (r *Reference) Init(b *Base) {
	if b == nil {
		panic(&InvalidArgumentError{"event: Reference.Init", "event", nil, "pass one that Base.Init made ready"})
	}
	if r.base != nil && !r.disposed {
		panic(&UsageError{"event: Reference.Init", "the reference already refers to " + r.base.Info(), "dispose it first"})
	}
	*r = Reference{base: b}
}

// Target returns the event that r refers to, also after Dispose; nil before Init. It is what a clean-up function that
// runs when r is collected must be given, because that function must not hold r itself.
func (r *Reference) Target() *Base { return r.base }

// AsEvent returns the event that r refers to, also after Dispose, when the event may live on; nil before Init.
func (r *Reference) AsEvent() *Base { return r.base }

// Flags returns the event's flags and [FlagReference]; and [FlagClosed] once r is disposed.
func (r *Reference) Flags() Flags {
	flags := FlagReference
	if r.base != nil {
		flags |= r.base.flags
	}
	if r.disposed {
		flags |= FlagClosed
	}
	return flags
}

// Closed reports whether the event is closed or r is disposed.
func (r *Reference) Closed() bool { return r.Flags()&FlagClosed != 0 }

// Info describes the event for people.
func (r *Reference) Info() string {
	if r.base == nil {
		return "a reference before Init"
	}
	return r.base.Info()
}

// AddCallback is [Base.AddCallback]; on a disposed Reference it returns a [ClosedError].
func (r *Reference) AddCallback(cb *Callback) error {
	const call = "event: AddCallback"
	if err := r.check(call); err != nil {
		return err
	}
	return r.base.addCallback(call, cb)
}

// DelCallback is [Base.DelCallback]. It works on a disposed Reference too, because whoever subscribed must be able to
// leave.
func (r *Reference) DelCallback(cb *Callback) bool { return r.base != nil && r.base.DelCallback(cb) }

// Subscribe is [Base.Subscribe]; on a disposed Reference it returns a [ClosedError].
func (r *Reference) Subscribe(fn Func) (*Callback, error) {
	const call = "event: Subscribe"
	if err := r.check(call); err != nil {
		return nil, err
	}
	return r.base.subscribe(call, fn)
}

// Start is [Base.Start], but returns a [ClosedError] when the event is closed or r is disposed, so that nobody waits for
// what cannot happen.
func (r *Reference) Start() error {
	const call = "event: Start"
	if err := r.check(call); err != nil {
		return err
	}
	if r.base.Has(FlagClosed) {
		return r.base.closedError(call)
	}
	return r.base.Start()
}

// Stop is [Base.Stop]. On a disposed Reference it does nothing, because what others started is not its to stop.
func (r *Reference) Stop() error {
	if r.base == nil || r.disposed {
		return nil
	}
	return r.base.Stop()
}

// Started reports whether the event is in the loop; false once r is disposed.
func (r *Reference) Started() bool { return r.base != nil && !r.disposed && r.base.Started() }

// SetHidden is [Base.SetHidden]; it does nothing once r is disposed.
func (r *Reference) SetHidden(hidden bool) {
	if r.base != nil && !r.disposed {
		r.base.SetHidden(hidden)
	}
}

// Replay is [Base.Replay]; on a disposed Reference it returns a [ClosedError].
func (r *Reference) Replay(cb *Callback) error {
	if err := r.check("event: Replay"); err != nil {
		return err
	}
	return r.base.Replay(cb)
}

// Outcome is [Base.Outcome]; on a disposed Reference ok is false and the error is a [ClosedError].
func (r *Reference) Outcome() (result any, ok bool, err error) {
	if err := r.check("event: Outcome"); err != nil {
		return nil, false, err
	}
	return r.base.Outcome()
}

// Close closes the event for everybody and drops r's reference to it. It always returns nil, and does nothing when r is
// disposed already.
func (r *Reference) Close() error {
	if r.base != nil && !r.disposed {
		r.base.MarkClosed()
		r.Dispose()
	}
	return nil
}

// Dispose drops r's reference to the event, once. The event lives on while others refer to it; r answers ErrClosed.
func (r *Reference) Dispose() {
	if r.base == nil || r.disposed {
		return
	}
	r.disposed = true
	r.base.Dispose()
}

// check answers whether r still stands for its event.
func (r *Reference) check(call string) error {
	if r.base == nil {
		return &UsageError{call, "the reference refers to no event", "get one from the constructor of its type"}
	}
	if r.disposed {
		return r.base.closedError(call)
	}
	return nil
}
