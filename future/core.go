package future

import (
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// What a core knows about itself, one bit each.
const (
	isSettled  uint8 = 1 << iota
	isFailed         // with an error, which is in extra
	isUsed           // somebody awaited it, derived from it, or made an event of it (FUT-11)
	isObserved       // somebody took the error, or is bound to (FUT-12)
	isIgnored        // nobody wants to hear of it (Ignore)
	isMoved          // another goroutine completes it
	isOwned          // its scope will ask what became of it
	isQuiet          // made for its side effect: not taking its value is no mistake
)

// core is the part of a future that does not know the type of the value: who waits, and what became of it. Loop goroutine
// only, except what never changes (scope, created).
//
// The first to await it has a field of its own, so that the usual future needs neither a node nor a list; what few futures
// need is in extra.
type core struct {
	scope     *scheduler.Scope     // never nil
	waiter    *scheduler.Coroutine // the first who awaits it, when nobody was in the list by then
	first     *node                // the others, and those who combine and derive; circular
	created   uintptr              // where; never changes
	completed uintptr              // where; set before settle by whoever knows
	extra     *extra               // nil until one of its fields is needed
	interest  int32                // how many wait, see gain
	state     uint8
}

// extra is what few futures need.
type extra struct {
	owned   scheduler.Owned
	err     error                // set by settle
	outside *outside             // the future as an event.Event; nil until somebody asks
	co      *scheduler.Coroutine // whose outcome it is, while that runs; nil otherwise
	source  *core                // what it is derived from, while that is pending
	count   *event.Count         // another goroutine completes it: counts while somebody waits (FUT-16)
	stop    func()               // undoes what the future waits for itself, when it is cancelled; may be nil
}

func (c *core) init(scope *scheduler.Scope, created uintptr) {
	c.scope, c.created = scope, created
}

// failure returns the error that the future has settled with.
func (c *core) failure() error {
	if !c.has(isFailed) {
		return nil
	}
	return c.extra.err
}

func (c *core) has(bits uint8) bool { return c.state&bits != 0 }

func (c *core) more() *extra {
	if c.extra == nil {
		c.extra = &extra{}
	}
	return c.extra
}

// settle stores the outcome; the value is in its place already. Awaiters come first, in the order in which they came, then
// what combines and derives, then the callbacks of the event.
func (c *core) settle(err error) {
	c.state |= isSettled
	if err != nil {
		c.state |= isFailed
		c.more().err = err
	}
	if co := c.waiter; co != nil {
		c.waiter = nil
		c.lose()
		c.wake(co)
	}
	for n := c.first; n != nil; n = c.first {
		n.leave()
		n.listener.settled(c)
	}
	if c.extra != nil {
		c.extra.settled()
	}
	c.account()
}

// settled drops what only a pending future needs, after everybody who waited has left, and notifies.
func (x *extra) settled() {
	if x.outside != nil {
		x.outside.base.MarkClosed()
	}
	x.co, x.source, x.count, x.stop = nil, nil, nil, nil
	if x.outside != nil {
		x.outside.notify()
	}
}

// wake resumes an awaiter with the outcome. An error goes along with the wake-up, because only then a cancellation that
// comes before the coroutine runs is joined with it instead of replacing it (EVT-13).
func (c *core) wake(co *scheduler.Coroutine) {
	if !c.has(isFailed) {
		must(co.Unpark())
		return
	}
	c.observe()
	must(co.UnparkWith(c.extra.err))
}

// must is for calls that can only fail when this package has lost track of who waits.
func must(err error) {
	if err != nil {
		panic("bug: future: " + err.Error())
	}
}

// gain says that one more waits for the future. What is interesting is whether anybody does at all: then a future that
// another goroutine completes is a visible event, and so is the one that this one is derived from.
func (c *core) gain() {
	c.interest++
	if c.interest == 1 && c.extra != nil {
		c.extra.propagate(+1)
	}
}

func (c *core) lose() {
	c.interest--
	if c.interest == 0 && c.extra != nil {
		c.extra.propagate(-1)
	}
}

func (x *extra) propagate(delta int) {
	if x.count != nil {
		x.count.Add(delta)
	}
	switch {
	case x.source == nil:
	case delta > 0:
		x.source.gain()
	default:
		x.source.lose()
	}
}

// cancel is what Cancel does; at is where it was called.
func (c *core) cancel(reason error, at uintptr) {
	if c.has(isSettled) {
		return
	}
	if x := c.extra; x != nil && x.co != nil { // the outcome is the coroutine's, which may have something to finish (CANC-04)
		must(x.co.Cancel(reason))
		return
	}
	c.completed = at
	c.abort(&event.CancelledError{Reason: reason})
}

// abort settles a pending future that waits for nothing or for something that can be left at once.
func (c *core) abort(err error) {
	if x := c.extra; x != nil && x.stop != nil {
		stop := x.stop
		x.stop = nil
		// It may be the user's function: it may settle the future, and may panic (GEN-10).
		defer func() {
			if !c.has(isSettled) {
				c.settle(err)
			}
		}()
		stop()
		return
	}
	c.settle(err)
}

func (c *core) cancelled() bool {
	var e *event.CancelledError
	return c.has(isFailed) && errors.As(c.extra.err, &e)
}

// check answers whether the caller is on the loop.
func (c *core) check(call string) error { return c.scope.Scheduler().Check(call) }

// checked is check for calls that return no error.
func (c *core) checked(call string) {
	if err := c.check(call); err != nil {
		panic(err)
	}
}

// info describes the future for people; kind is "future[int]".
func (c *core) info(kind string) string {
	text := kind
	if at := location(c.created); at != "" {
		text += " created at " + at
	}
	switch {
	case !c.has(isSettled):
		return text + ", pending"
	case !c.has(isFailed):
		return text + ", completed"
	case c.cancelled():
		return text + ", completed: cancelled"
	}
	return text + ", completed: failed: " + fmt.Sprint(c.extra.err)
}
