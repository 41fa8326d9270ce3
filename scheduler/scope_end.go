package scheduler

import (
	"cmp"
	"errors"

	"github.com/uvasync/uvasync/event"
)

// ErrScopeEnded is the reason with which things are closed that belong to a scope that has ended without being cancelled.
var ErrScopeEnded = errors.New("scheduler: the scope has ended")

// manner is how a scope is ended.
type manner uint8

const (
	byFlag   manner = iota // each scope as its safe flag says
	safely                 // coroutines run on, as zombies
	forcibly               // coroutines are cancelled
)

// Cancel cancels the scope and everything below it (SCOPE-05): what they own is closed, child scopes come first. Coroutines
// that have not started never run (CANC-20); the others are cancelled, or become zombies where a scope is safe (SCOPE-03,
// SCOPE-04). It takes no more coroutines. It does nothing when the scope was cancelled or disposed before (SCOPE-06). The
// reason may be nil. A *event.UsageError from another goroutine than that of the loop.
func (sc *Scope) Cancel(reason error) error {
	if err := sc.check("Scope.Cancel"); err != nil {
		return err
	}
	sc.end(byFlag, &event.CancelledError{Reason: reason})
	return nil
}

// Dispose cancels all coroutines in the scope and below, safe or not, zombies included, and closes it at once (SCOPE-04).
// Otherwise as Cancel.
func (sc *Scope) Dispose(reason error) error {
	return sc.dispose("Scope.Dispose", forcibly, &event.CancelledError{Reason: reason})
}

// DisposeSafely closes the scope and those below it, and leaves the coroutines to themselves: all become zombies, which run to
// their end (SCOPE-25). What the scope owns is closed when the last of them has ended.
func (sc *Scope) DisposeSafely() error {
	return sc.dispose("Scope.DisposeSafely", safely, nil)
}

// Seal closes the scope and those below it, and leaves the coroutines as they are. A *event.UsageError as for Cancel.
func (sc *Scope) Seal() error {
	if err := sc.check("Scope.Seal"); err != nil {
		return err
	}
	sc.seal()
	sc.settleDown()
	return nil
}

func (sc *Scope) seal() {
	sc.sealed, sc.disposed = true, true
	for c := range sc.Children() {
		c.seal()
	}
}

// settleDown lets scopes leave in which nothing is left.
func (sc *Scope) settleDown() {
	for c := range sc.Children() {
		c.settleDown()
	}
	sc.leaveIfDone()
}

func (sc *Scope) dispose(call string, how manner, reason *event.CancelledError) error {
	if err := sc.check(call); err != nil {
		return err
	}
	sc.seal()
	sc.end(how, reason)
	return nil
}

func (sc *Scope) check(call string) error {
	if sc == nil {
		return usage(call, "the scope is nil", "use that of a coroutine")
	}
	return sc.s.Check(call)
}

// end ends the scope and those below it. The reason is what coroutines that are cancelled shall see.
func (sc *Scope) end(how manner, reason *event.CancelledError) {
	if sc.done || sc.forced || sc.safely && how == safely || sc.Ending() && how == byFlag {
		return
	}
	sc.sealed = true
	sc.safely = sc.safely || how == safely
	sc.forced = how == forcibly
	if how != safely {
		sc.reason = cmp.Or(sc.reason, reason)
		sc.release()
	}
	for c := sc.children.first; c != nil; {
		next := c.next
		if !c.cleanup {
			c.end(how, reason)
		}
		if c = next; c != nil && c.done { // who was told has ended it, and it is not in the list any more
			c = sc.children.first
		}
	}
	spare := how == safely || how == byFlag && sc.safe
	for _, co := range sc.snapshot() {
		if spare && (how == safely || co.begun) {
			sc.makeZombie(co)
		} else {
			co.cancel(reason)
		}
	}
	sc.leaveIfDone()
}

// leaveIfDone completes a scope that nothing can happen in any more, and takes it out of the tree: one that is sealed, or of
// finally handlers, and empty. Its parent may be done by that too.
func (sc *Scope) leaveIfDone() {
	for sc != nil && !sc.done && (sc.sealed || sc.cleanup) && len(sc.coroutines) == 0 && sc.children.first == nil {
		sc.leave()
		sc = sc.parent
	}
}

// leave does so, whoever of those that are told exits the goroutine.
func (sc *Scope) leave() {
	sc.done, sc.sealed = true, true
	defer sc.siblings().remove(sc)
	defer sc.tellDrained()
	defer sc.release()
	sc.complete()
}

func (sc *Scope) tellDrained() {
	if w := sc.watcher; w != nil {
		sc.s.call(func() error { w.Drained(); return nil })
	}
}

// ending is the cancellation that what belongs to an ended scope sees.
func (sc *Scope) ending() *event.CancelledError {
	switch {
	case sc.reason != nil:
		return sc.reason
	case sc.disposed:
		return &event.CancelledError{Reason: ErrScopeEnded}
	}
	return &event.CancelledError{Reason: ErrRunOver}
}

// release closes what the scope owns, once. What finally handlers have made, and left, belongs to the scope around them from
// now on: theirs has ended without anybody ending it (CHAN-36).
func (sc *Scope) release() {
	if sc.released {
		return
	}
	sc.released = true
	if sc.cleanup && sc.parent != nil {
		for _, o := range sc.things() {
			sc.parent.Own(o, o.thing)
		}
		return
	}
	reason := sc.ending()
	for _, o := range sc.things() {
		if o.scope == sc {
			sc.s.call(func() error { o.thing.ScopeClosed(reason); return nil })
		}
	}
}
