package event

// AddCallback subscribes cb: every Notify from now on calls it. An event that has completed and stores its outcome calls
// it synchronously with that instead, and does not subscribe it (EVT-07). Errors: [InvalidArgumentError] when cb is nil
// or has no function; [UsageError] when cb is already subscribed, here or elsewhere, or was released; [ClosedError] when
// the event is closed and stores no outcome (EVT-17). A callback that is added while the event notifies is not called
// before the next time.
func (b *Base) AddCallback(cb *Callback) error { return b.addCallback("event: AddCallback", cb) }

func (b *Base) addCallback(call string, cb *Callback) error {
	if err := cb.check(call); err != nil {
		return err
	}
	if err := b.checkInit(call); err != nil {
		return err
	}
	if cb.event != nil {
		return &UsageError{call, "the callback is already subscribed to " + cb.event.Info(), "remove it with DelCallback first, or make another one"}
	}
	if result, ok, err := b.Outcome(); ok {
		cb.fn(b, cb, result, err)
		return nil
	}
	if b.Has(FlagClosed) {
		return b.closedError(call)
	}
	cb.Retain()
	cb.event = b
	b.insert(cb)
	return nil
}

// DelCallback ends the subscription of cb, in constant time, and drops the event's reference to it. It reports whether cb
// was subscribed here. From then on cb is not called, not even by a notification that is under way (EVT-09).
func (b *Base) DelCallback(cb *Callback) bool {
	if cb == nil || cb.event != b {
		return false
	}
	b.remove(cb)
	cb.event = nil
	cb.Release()
	return true
}

// Subscribe makes a callback of fn and adds it. The event has its only reference: end it with DelCallback, not with
// Release. When the outcome was replayed the returned callback is not subscribed. Errors as for AddCallback.
func (b *Base) Subscribe(fn Func) (*Callback, error) { return b.subscribe("event: Subscribe", fn) }

func (b *Base) subscribe(call string, fn Func) (*Callback, error) {
	if fn == nil {
		return nil, &InvalidArgumentError{call, "function", nil, "pass the function to call when the event happens"}
	}
	cb := &b.own
	if b.lent {
		cb = new(Callback)
	}
	b.lent = true
	cb.Init(fn, nil, nil)
	if err := b.addCallback(call, cb); err != nil {
		return nil, err
	}
	cb.Release()
	return cb, nil
}

func (b *Base) insert(cb *Callback) {
	if b.more == nil && b.only == nil {
		b.only = cb
		return
	}
	b.extend()
	b.more.add(cb)
}

// extend makes room for more than one callback. There is no way back: an event that had several will have them again.
func (b *Base) extend() {
	if b.more != nil {
		return
	}
	b.more = &more{}
	if b.only != nil {
		b.more.add(b.only)
		b.only = nil
	}
}

func (b *Base) remove(cb *Callback) {
	if b.more == nil {
		b.only = nil
		return
	}
	b.more.remove(cb.index)
}

// takeCallbacks empties the event and returns what was in it. No pass may be under way.
func (b *Base) takeCallbacks() (all []*Callback) {
	switch {
	case b.more != nil:
		all = b.more.items
	case b.only != nil:
		all = []*Callback{b.only}
	}
	b.only, b.more = nil, nil
	return all
}

// Callbacks returns how many callbacks are subscribed.
func (b *Base) Callbacks() int {
	switch {
	case b.more != nil:
		return b.more.len()
	case b.only != nil:
		return 1
	}
	return 0
}

// SetNotifyHook makes hook see every notification before the callbacks (EVT-18); nil removes it.
func (b *Base) SetNotifyHook(hook Hook) {
	if hook != nil {
		b.extend()
	}
	if b.more != nil {
		b.more.hook = hook
	}
}

// Notify says that the event happened: it runs the hook, then calls every callback that was subscribed when it began and
// has not been removed since, once, in the order of subscription as far as no removal changed that (EVT-09). All see the
// same result and error, whatever an earlier one did with them; an event that loses its last reference meanwhile keeps
// its callbacks until all were called (EVT-10). It works on closed events, because one-shot kinds are closed by the time
// they happen, and does nothing on disposed ones.
//
// Called for an event that is already notifying, it returns a [UsageError] and calls nobody. A panic in the hook or in a
// callback ends the pass and goes on to the caller; the event stays usable, the callbacks stay subscribed.
func (b *Base) Notify(result any, err error) error {
	if b.notifying {
		return b.nestedError()
	}
	cb, m := b.only, b.more
	if cb == nil && (m == nil || m.hook == nil && len(m.items) == 0) {
		return nil
	}
	b.notifying = true
	// Without it, a panic would leave behind a pass that looks like one under way, and the event would be lost.
	defer b.endNotify()
	if m == nil {
		cb.fn(b, cb, result, err)
		return nil
	}
	m.pass(b, result, err)
	return nil
}

// pass runs the hook and calls the callbacks.
func (m *more) pass(b *Base, result any, err error) {
	m.begin()
	if m.hook != nil {
		var deliver bool
		if result, deliver, err = m.hook(b, result, err); !deliver {
			return
		}
	}
	for cb := m.step(); cb != nil; cb = m.step() {
		cb.fn(b, cb, result, err)
	}
}

func (b *Base) endNotify() {
	if b.more != nil {
		b.more.finish()
	}
	b.notifying = false
	if b.refs == 0 {
		b.release()
	}
}

func (b *Base) nestedError() error {
	return &UsageError{"event: Notify", b.Info() + " is already notifying its callbacks", "return from the callback first, or post the second notification to the loop"}
}

// Replay calls cb synchronously with the stored outcome (EVT-19); cb is not subscribed by it, and may be subscribed
// elsewhere. Errors: [InvalidArgumentError] when cb is nil or has no function; [UsageError] when cb was released, or when
// the event stores no outcome.
func (b *Base) Replay(cb *Callback) error {
	const call = "event: Replay"
	if err := cb.check(call); err != nil {
		return err
	}
	if err := b.checkInit(call); err != nil {
		return err
	}
	result, ok, err := b.Outcome()
	if !ok {
		return &UsageError{call, b.Info() + " has no stored outcome", "subscribe with AddCallback to be called when it happens"}
	}
	cb.fn(b, cb, result, err)
	return nil
}
