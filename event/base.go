package event

// Hook sees a notification before the callbacks do (EVT-18). It returns the result and the error to go on with, and
// whether to go on at all: with deliver false no callback is called.
type Hook func(b *Base, result any, err error) (newResult any, deliver bool, newErr error)

// Base is the event itself, whatever its type: embed it, implement a [Kind], and call Init before anything else. Do not
// copy it. Loop goroutine only.
//
// What a notification of an event with one callback reads is in its first cache line.
type Base struct {
	kind      Kind      // set by Init; kept after disposal, so that errors can still name the event
	live      *Count    // set by Init; nil: the event does not live in a loop
	only      *Callback // loop goroutine only; the callback, while more is nil
	more      *more     // loop goroutine only; nil while there was neither a second callback nor a hook
	flags     Flags     // loop goroutine only; never FlagReference
	refs      int32     // loop goroutine only; 0: disposed, or about to be when the pass under way ends
	loopRefs  int32     // loop goroutine only; 0: not started
	notifying bool      // loop goroutine only; from before the hook until the last callback returned
	disposed  bool      // loop goroutine only; callbacks dropped, DisposeEvent called
	lent      bool      // loop goroutine only; own was given to a subscriber, who may hold it for ever
	own       Callback  // for the first Subscribe, which needs no allocation then
}

// more is what few events need: several callbacks, or a hook.
type more struct {
	vector
	hook Hook
}

var _ Event = (*Base)(nil)

// Init makes b ready, with one reference: the caller's. live is the count of the loop the event lives in; nil means that
// it lives in none (a coroutine, a future, a channel), so Start and Stop do nothing. A Base whose last reference is gone
// may be initialised again. Init panics with an [InvalidArgumentError] when kind is nil, and with a [UsageError] when b
// is in use, because its subscribers and its place in the live count would be lost.
func (b *Base) Init(kind Kind, live *Count, flags Flags) {
	if kind == nil {
		panic(&InvalidArgumentError{"event: Base.Init", "kind", nil, "pass what the event does, or NopKind{}"})
	}
	if b.refs > 0 || b.notifying {
		panic(&UsageError{"event: Base.Init", b.Info() + " is in use", "dispose its last reference first"})
	}
	lent, own := b.lent, b.own
	*b = Base{kind: kind, live: live, flags: flags &^ FlagReference, refs: 1, lent: lent, own: own}
}

// AsEvent returns b.
func (b *Base) AsEvent() *Base { return b }

// Info describes the event for people.
func (b *Base) Info() string {
	if b.kind == nil {
		return "an event before Init"
	}
	return b.kind.Info()
}

// Flags returns the flags.
func (b *Base) Flags() Flags { return b.flags }

// Has reports whether all of the given flags are set.
func (b *Base) Has(flags Flags) bool { return b.flags&flags == flags }

// SetFlags sets flags. Setting [FlagHidden] moves the live count as SetHidden does, setting [FlagClosed] closes the event
// as MarkClosed does, and [FlagReference] is ignored, because a Base is never one.
func (b *Base) SetFlags(flags Flags) {
	b.flags |= flags &^ (FlagHidden | FlagClosed | FlagReference)
	if flags&FlagHidden != 0 {
		b.SetHidden(true)
	}
	if flags&FlagClosed != 0 {
		b.MarkClosed()
	}
}

// ClearFlags clears flags. Clearing [FlagHidden] moves the live count as SetHidden does; [FlagClosed] stays, because
// closing is final.
func (b *Base) ClearFlags(flags Flags) {
	b.flags &^= flags &^ (FlagHidden | FlagClosed)
	if flags&FlagHidden != 0 {
		b.SetHidden(false)
	}
}

// SetHidden says whether the event is hidden: never part of the live count (EVT-04). A started event enters or leaves the
// count at once, and its kind is told if it is a [Hider].
func (b *Base) SetHidden(hidden bool) {
	if hidden == b.Has(FlagHidden) {
		return
	}
	if b.loopRefs == 0 {
		b.flags ^= FlagHidden
		return
	}
	b.countLive(-1)
	b.flags ^= FlagHidden
	b.countLive(+1)
	if hider, ok := b.kind.(Hider); ok {
		hider.HideEvent(hidden)
	}
}

// Outcome returns what the event completed with; ok is false when there is nothing, because it has not completed, its
// kind stores nothing, or it is disposed.
func (b *Base) Outcome() (result any, ok bool, err error) {
	if b.kind == nil || b.disposed {
		return nil, false, nil
	}
	return b.kind.Outcome()
}

// LiveCount returns the live count of the loop that the event lives in; nil when it lives in none.
func (b *Base) LiveCount() *Count { return b.live }

// checkInit answers whether b can be used at all.
func (b *Base) checkInit(call string) error {
	if b.kind == nil {
		return &UsageError{call, "the event is not initialised", "call Base.Init first"}
	}
	return nil
}
