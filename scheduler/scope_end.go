package scheduler

import (
	"cmp"
	"errors"
	"slices"

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
// their end (SCOPE-25). What the scope owns is closed when the last of them has ended. The reason, which may be nil, is
// told to the zombie log.
func (sc *Scope) DisposeSafely(reason error) error {
	return sc.dispose("Scope.DisposeSafely", safely, &event.CancelledError{Reason: reason})
}

// Seal closes the scope and those below it, and leaves the coroutines as they are. What they own is closed when nothing is
// left in them. A *event.UsageError as for Cancel.
func (sc *Scope) Seal() error {
	if err := sc.check("Scope.Seal"); err != nil {
		return err
	}
	sc.sealAll()
	return nil
}

// sealAll seals the scope and those below it, and tells what they own.
func (sc *Scope) sealAll() {
	var e ending
	sc.seal(&e)
	e.run()
}

// seal marks the scope and those below it. What is disposed was so with all below it. With e, it notes whom to tell, the
// innermost first.
func (sc *Scope) seal(e *ending) {
	if sc.disposed {
		return
	}
	sc.sealed, sc.disposed = true, true
	for c := sc.children.first; c != nil; c = c.next {
		if !c.cleans() {
			c.seal(e)
		}
	}
	if e != nil {
		e.steps = append(e.steps, step{telling, sc, nil}, step{leaving, sc, nil})
	}
}

func (sc *Scope) dispose(call string, how manner, reason *event.CancelledError) error {
	if err := sc.check(call); err != nil {
		return err
	}
	sc.seal(nil)
	sc.end(how, reason)
	return nil
}

func (sc *Scope) check(call string) error {
	if sc == nil {
		return usage(call, "the scope is nil", "use that of a coroutine")
	}
	return sc.s.Check(call)
}

// end ends the scope and those below it. The reason is what coroutines that are cancelled shall see, and the log of zombies.
func (sc *Scope) end(how manner, reason *event.CancelledError) {
	e := &sc.s.spare // which keeps its list; one in the middle of another, or of somebody's exit, has its own
	if e.busy {
		e = &ending{}
	}
	e.how, e.reason, e.busy = how, reason, true
	e.begin(sc)
	e.add(sc)
	e.run()
	e.clear()
}

// ending is the end of some scopes under way. Everything is noted down before anybody is told, because those who are told
// may end others, and it goes on if they exit the goroutine.
type ending struct {
	how    manner
	busy   bool
	reason *event.CancelledError
	steps  []step
	next   int
}

// mostSteps is the length of a list of steps up to which it is kept.
const mostSteps = 1024

func (e *ending) clear() {
	if cap(e.steps) > mostSteps {
		e.steps = nil
	}
	clear(e.steps)
	e.steps, e.next, e.reason, e.busy = e.steps[:0], 0, nil, false
}

type step struct {
	do    action
	scope *Scope
	co    *Coroutine
}

type action uint8

const (
	releasing  action = iota // what the scope owns is closed
	telling                  // what it owns is told that it is sealed
	cancelling               // the coroutine is
	sparing                  // it becomes a zombie
	leaving                  // the scope leaves, if nothing is left in it
)

// concerns reports whether there is anything to be done in sc.
func (e *ending) concerns(sc *Scope) bool {
	switch {
	case sc.done || sc.forced:
		return false
	case e.how == byFlag:
		return !sc.Ending()
	case e.how == safely:
		return !sc.safely
	}
	return true
}

// begin marks the scopes that are to be ended, and notes that what they own is to be closed, the outermost first.
func (e *ending) begin(sc *Scope) {
	if !e.concerns(sc) {
		return
	}
	sc.sealed, sc.ends = true, true
	sc.safely = sc.safely || e.how == safely
	sc.forced = e.how == forcibly
	if e.how != safely {
		sc.reason = cmp.Or(sc.reason, e.reason)
		e.steps = append(e.steps, step{releasing, sc, nil})
	} else {
		e.steps = append(e.steps, step{telling, sc, nil})
	}
	for c := sc.children.first; c != nil; c = c.next {
		if !c.cleans() {
			e.begin(c)
		}
	}
}

// add notes what is to be done with the coroutines of those that begin has marked, the innermost first (SCOPE-05).
func (e *ending) add(sc *Scope) {
	if !sc.ends {
		return
	}
	sc.ends = false
	for c := sc.children.first; c != nil; c = c.next {
		e.add(c)
	}
	spare := e.how == safely || e.how == byFlag && sc.safe
	first := len(e.steps)
	for _, co := range sc.coroutines {
		do := cancelling
		if spare && (e.how == safely || co.begun) {
			do = sparing
		}
		e.steps = append(e.steps, step{do, sc, co})
	}
	if own := e.steps[first:]; len(own) > 1 {
		slices.SortFunc(own, func(a, b step) int { return cmp.Compare(a.co.id, b.co.id) })
	}
	e.steps = append(e.steps, step{leaving, sc, nil})
}

// run takes the steps.
func (e *ending) run() {
	defer func() {
		if e.next < len(e.steps) {
			e.run()
		}
	}()
	for e.next < len(e.steps) {
		st := e.steps[e.next]
		e.next++
		switch st.do {
		case releasing:
			st.scope.release()
			if w := st.scope.watcher; w != nil && e.how == forcibly {
				st.scope.s.call(func() error { w.Forced(); return nil })
			}
		case telling:
			st.scope.tellSealed()
		case cancelling:
			st.co.cancel(e.reason)
		case sparing:
			st.scope.makeZombie(st.co, e.reason.Reason)
		case leaving:
			st.scope.leaveIfDone()
		}
	}
}

// leaveIfDone completes a scope that nothing can happen in any more, and takes it out of the tree: one that is sealed, or of
// finally handlers, and empty. Its parent may be done by that too.
func (sc *Scope) leaveIfDone() {
	for sc != nil && !sc.done && (sc.sealed || sc.cleans()) && len(sc.coroutines) == 0 && sc.children.first == nil {
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

func (sc *Scope) tellSealed() {
	for _, o := range sc.things() {
		if t, ok := o.thing.(Sealable); ok && o.scope == sc {
			sc.s.call(func() error { t.ScopeSealed(); return nil })
		}
	}
}

func (sc *Scope) tellDrained() {
	if w := sc.watcher; w != nil {
		sc.s.call(func() error { w.Drained(); return nil })
	}
}

// closedBy is the cancellation that what belongs to an ended scope sees.
func (sc *Scope) closedBy() *event.CancelledError {
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
	if sc.cleans() && sc.parent != nil {
		for _, o := range sc.things() {
			if o.scope == sc {
				sc.s.call(func() error { sc.parent.Own(o, o.thing); return nil })
			}
		}
		return
	}
	reason := sc.closedBy()
	for _, o := range sc.things() {
		if o.scope == sc {
			sc.s.call(func() error { o.thing.ScopeClosed(reason); return nil })
		}
	}
}
