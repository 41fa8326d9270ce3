package event

// Start puts the event in the loop; the first one begins the real thing, and each further one needs a Stop of its own
// (EVT-01). On a closed event, and on one that lives in no loop, it does nothing and returns nil (EVT-02). An error is
// that of the real thing, and leaves the event not started.
func (b *Base) Start() error {
	if err := b.checkInit("event: Start"); err != nil {
		return err
	}
	if b.live == nil || b.Has(FlagClosed) {
		return nil
	}
	if b.loopRefs > 0 {
		b.loopRefs++
		return nil
	}
	return b.begin()
}

// begin counts before it starts the real thing, so that a kind which ends, stops or closes the event from within
// StartEvent finds something to undo.
func (b *Base) begin() error {
	b.loopRefs = 1
	b.countLive(+1)
	begun := false
	defer func() {
		if !begun {
			b.Deactivate()
		}
	}()
	err := b.kind.StartEvent()
	begun = err == nil
	return err
}

// Stop undoes one Start; the last one stops the real thing. On an event that is not started it does nothing (EVT-03). It
// always returns nil.
func (b *Base) Stop() error {
	if b.loopRefs > 1 {
		b.loopRefs--
		return nil
	}
	if b.Deactivate() {
		b.kind.StopEvent()
	}
	return nil
}

// Started reports whether the event is in the loop.
func (b *Base) Started() bool { return b.loopRefs > 0 }

// LoopRefs returns how many Stops it takes to stop the event.
func (b *Base) LoopRefs() int { return int(b.loopRefs) }

// Deactivate says that the real thing has ended by itself (a one-shot fired): the event counts as not started, whatever
// the number of Starts, and StopEvent is not called. It reports whether the event was started.
func (b *Base) Deactivate() bool {
	if b.loopRefs == 0 {
		return false
	}
	b.loopRefs = 0
	b.countLive(-1)
	return true
}

// Activate says that the real thing has begun by itself (a timer that was armed again): the event counts as started once,
// and StartEvent is not called. It does nothing on an event that is started or closed, and reports whether it did.
func (b *Base) Activate() bool {
	if b.loopRefs > 0 || b.live == nil || b.Has(FlagClosed) {
		return false
	}
	b.loopRefs = 1
	b.countLive(+1)
	return true
}

// MarkClosed closes the event: no more subscriptions, no more starts. One that is started is stopped, whatever the number
// of Starts. Callbacks stay subscribed, references stay valid. It reports whether this call closed it.
func (b *Base) MarkClosed() bool {
	if b.Has(FlagClosed) {
		return false
	}
	b.flags |= FlagClosed
	if b.Deactivate() {
		b.kind.StopEvent()
	}
	return true
}

// AddRef adds a reference. It does nothing once the last one is gone, because nothing brings an event back.
func (b *Base) AddRef() {
	if b.refs > 0 {
		b.refs++
	}
}

// Refs returns the number of references.
func (b *Base) Refs() int { return int(b.refs) }

// Dispose drops one reference. The last one closes the event, drops its callbacks and lets its kind release the real
// thing (EVT-06); if the event is notifying, the callbacks are dropped and the real thing is released when all were
// called. Further calls do nothing.
func (b *Base) Dispose() {
	if b.refs == 0 {
		return
	}
	b.refs--
	if b.refs > 0 {
		return
	}
	b.MarkClosed()
	if !b.notifying {
		b.release()
	}
}

// release drops what the event holds, once: a StopEvent that notifies comes here first, and the Dispose that called it
// second. An event that was never made ready holds nothing.
func (b *Base) release() {
	if b.disposed || b.kind == nil {
		return
	}
	b.disposed = true
	if !b.Has(FlagNoFree) {
		// Deferred, because a dispose function that panics must not keep the handle open.
		defer b.kind.DisposeEvent()
	}
	callbacks := b.takeCallbacks()
	for _, cb := range callbacks {
		cb.event = nil // all, before the first dispose function can call back into b
	}
	releaseAll(callbacks)
}

func releaseAll(callbacks []*Callback) {
	n := 0
	defer func() {
		if n < len(callbacks) { // a dispose function panicked; the rest is released all the same
			releaseAll(callbacks[n:])
		}
	}()
	for n < len(callbacks) {
		cb := callbacks[n]
		callbacks[n] = nil
		n++
		cb.Release()
	}
}

// countLive moves the live count by what a start (+1) or a stop (-1) of this event is worth: nothing while it is hidden.
func (b *Base) countLive(delta int) {
	if !b.Has(FlagHidden) {
		b.live.Add(delta)
	}
}

func (b *Base) closedError(call string) error {
	return &ClosedError{Call: call, What: b.Info()}
}
