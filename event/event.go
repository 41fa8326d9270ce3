package event

// Event is anything that leads to a [Base]: the Base itself, whatever embeds one, or a [Reference] to one. Code that
// takes "an event" takes this and follows it with AsEvent, so events of every type combine in one wait.
type Event interface {
	// AsEvent returns the Base that this leads to.
	AsEvent() *Base
	// Flags returns the event's flags; a Reference adds [FlagReference].
	Flags() Flags
}

// Kind is what one type of event adds to its [Base]. Embedders implement it on an unexported type, so that users of the
// event cannot call these by themselves. The Base is consistent before each call; a Kind may call back into it.
type Kind interface {
	// StartEvent begins the real thing; called by the first Start. After an error the event counts as not started.
	StartEvent() error
	// StopEvent ends the real thing; called by the last Stop, or by closing a started event.
	StopEvent()
	// DisposeEvent releases the real thing; called once, when the last reference is gone, never with [FlagNoFree].
	DisposeEvent()
	// Outcome returns what the event completed with. ok is false until then, and always for kinds that store nothing.
	Outcome() (result any, ok bool, err error)
	// Info describes the event for people: "timer 5ms, started".
	Info() string
}

// Hider is what a [Kind] implements when the real thing must be told that the event was hidden or shown: so that a hidden
// handle does not keep the loop below it alive.
type Hider interface {
	// HideEvent is called when the hidden flag of a started event changed; StartEvent finds the flag as it is.
	HideEvent(hidden bool)
}

// NopKind does nothing, stores nothing, and is described as "event". Embed it to implement only some of [Kind].
type NopKind struct{}

var _ Kind = NopKind{}

// StartEvent succeeds.
func (NopKind) StartEvent() error { return nil }

// StopEvent does nothing.
func (NopKind) StopEvent() {}

// DisposeEvent does nothing.
func (NopKind) DisposeEvent() {}

// Outcome says that nothing is stored.
func (NopKind) Outcome() (result any, ok bool, err error) { return nil, false, nil }

// Info returns "event".
func (NopKind) Info() string { return "event" }
