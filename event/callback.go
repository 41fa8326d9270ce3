package event

// Func is what a subscriber wants called when an event happens: the event, the subscription, and the outcome. It runs on
// the loop's goroutine, inside [Base.Notify] or, for a replay, inside the subscribing call. It may subscribe, remove any
// callback (its own too), start, stop, close and dispose any event, but not notify the event that is calling it.
type Func func(b *Base, cb *Callback, result any, err error)

// Callback is one subscription: on at most one event at a time. It is reference-counted because the event and whoever
// waits hold it at once. Make one with [NewCallback], or embed one and call Init. Do not copy it. Loop goroutine only.
type Callback struct {
	fn      Func            // set by Init
	dispose func(*Callback) // set by Init; may be nil
	event   *Base           // loop goroutine only; nil while not subscribed
	index   int32           // loop goroutine only; place in event's vector, kept right by every move there
	refs    int32           // loop goroutine only

	// Owner is whatever Func needs to find its way back; the package never looks at it.
	Owner any
}

// NewCallback returns a callback with one reference, the caller's. dispose may be nil; otherwise it is called once, when
// the last reference is released.
func NewCallback(fn Func, dispose func(*Callback)) *Callback {
	return &Callback{fn: fn, dispose: dispose, refs: 1}
}

// Init makes cb ready inside memory that somebody else owns, without an allocation: one reference, the caller's. A
// callback whose last reference was released may be initialised again. It panics with a [UsageError] while cb is
// subscribed, because the event would lose track of it.
func (cb *Callback) Init(fn Func, dispose func(*Callback), owner any) {
	if cb.event != nil {
		panic(&UsageError{"event: Callback.Init", "the callback is subscribed to " + cb.event.Info(), "remove it with DelCallback first"})
	}
	*cb = Callback{fn: fn, dispose: dispose, Owner: owner, refs: 1}
}

// Retain adds a reference.
func (cb *Callback) Retain() { cb.refs++ }

// Release drops a reference; the last one calls dispose, once. Further calls do nothing. It panics with a [UsageError]
// when the last reference is that of the event cb is subscribed to, because that one is not the caller's to drop.
func (cb *Callback) Release() {
	if cb.refs > 1 {
		cb.refs--
		return
	}
	cb.releaseLast()
}

func (cb *Callback) releaseLast() {
	if cb.refs <= 0 {
		return
	}
	if cb.event != nil {
		panic(&UsageError{"event: Callback.Release", "the last reference belongs to " + cb.event.Info(), "end the subscription with DelCallback"})
	}
	cb.refs = 0
	if cb.dispose != nil {
		cb.dispose(cb)
	}
}

// Event returns what cb is subscribed to now, or nil.
func (cb *Callback) Event() *Base { return cb.event }

// check answers whether cb can be called at all, for the calls that take one.
func (cb *Callback) check(call string) error {
	if cb == nil {
		return &InvalidArgumentError{call, "callback", nil, "pass one made by NewCallback"}
	}
	if cb.fn == nil {
		return &InvalidArgumentError{call, "the callback's function", nil, "give NewCallback or Callback.Init a function"}
	}
	if cb.refs <= 0 {
		return &UsageError{call, "the callback was released", "make a new one, or keep a reference with Retain"}
	}
	return nil
}
