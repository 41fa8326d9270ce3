package scheduler

import (
	"cmp"
	"slices"

	"github.com/uvasync/uvasync/event"
)

// Scope owns coroutines and other things: it is where their failures go, and cancelling it cancels them. Scopes form a tree
// below the main scope of the run. The loop only. Package scope builds on it what users see.
type Scope struct {
	s          *Scheduler // immutable
	parent     *Scope     // immutable; nil: a root
	children   scopeList
	prev, next *Scope // siblings
	coroutines []*Coroutine
	owned      *Owned // newest first
	values     Values
	onError    func(sc *Scope, co *Coroutine, err error) error
	reason     *event.CancelledError // why it was cancelled
	closed     bool                  // takes no more coroutines
	done       bool                  // complete, and out of the tree
	cleanup    bool                  // of finally handlers: not cancelled with its parent, gone when it is empty
	active     int                   // of coroutines
}

// scopeList is the scopes below one, or the roots of a run.
type scopeList struct{ first, last *Scope }

func (l *scopeList) push(sc *Scope) {
	sc.prev = l.last
	if l.last == nil {
		l.first = sc
	} else {
		l.last.next = sc
	}
	l.last = sc
}

func (l *scopeList) remove(sc *Scope) {
	if sc.prev == nil {
		l.first = sc.next
	} else {
		sc.prev.next = sc.next
	}
	if sc.next == nil {
		l.last = sc.prev
	} else {
		sc.next.prev = sc.prev
	}
	sc.prev, sc.next = nil, nil
}

// siblings is the list that sc stands in.
func (sc *Scope) siblings() *scopeList {
	if sc.parent == nil {
		return &sc.s.roots
	}
	return &sc.parent.children
}

func newScope(s *Scheduler, parent *Scope) *Scope {
	sc := &Scope{s: s, parent: parent}
	sc.values.owner = sc
	sc.siblings().push(sc)
	return sc
}

// New makes a child of sc. A *event.UsageError when sc is closed, or the caller is not on the loop.
func (sc *Scope) New() (*Scope, error) {
	const call = "Scope.New"
	if sc == nil {
		return nil, usage(call, "the scope is nil", "use that of a coroutine")
	}
	if err := sc.s.Check(call); err != nil {
		return nil, err
	}
	if sc.closed {
		return nil, sc.noSpawn(call)
	}
	return newScope(sc.s, sc), nil
}

// NewRoot makes a scope beside the main one: it ends with the run, and finds none of the main scope's values (CTX-05).
func (s *Scheduler) NewRoot() (*Scope, error) {
	const call = "Scheduler.NewRoot"
	if err := s.Check(call); err != nil {
		return nil, err
	}
	if s.main.closed {
		return nil, s.main.noSpawn(call)
	}
	return newScope(s, nil), nil
}

// Scope returns sc itself.
func (sc *Scope) Scope() *Scope { return sc }

// Scheduler returns the scheduler of the run; nil for a nil scope. Any goroutine.
func (sc *Scope) Scheduler() *Scheduler {
	if sc == nil {
		return nil
	}
	return sc.s
}

// Parent returns the scope around it; nil for a root.
func (sc *Scope) Parent() *Scope { return sc.parent }

// Closed reports whether it takes no more coroutines.
func (sc *Scope) Closed() bool { return sc.closed }

// Counts returns how many coroutines of its own have not ended: the active ones, and all.
func (sc *Scope) Counts() (active, total int) { return sc.active, len(sc.coroutines) }

// Values returns what is stored with the scope.
func (sc *Scope) Values() *Values { return &sc.values }

// OnError makes h get the failures of the scope's coroutines, instead of the failure cancelling the scope. A nil result
// means that the failure is dealt with; an error, that it goes on, with what h returned before it. It runs on the loop,
// outside of any coroutine; it may spawn, and must not suspend. Setting it again replaces it.
func (sc *Scope) OnError(h func(sc *Scope, co *Coroutine, err error) error) { sc.onError = h }

func (sc *Scope) find(key any) (any, bool) {
	for ; sc != nil; sc = sc.parent {
		if v, ok := sc.values.local(key); ok {
			return v, true
		}
	}
	return nil, false
}

func (sc *Scope) add(co *Coroutine) {
	co.index = int32(len(sc.coroutines))
	sc.coroutines = append(sc.coroutines, co)
	sc.s.total++
	if !co.hidden {
		sc.active++
		sc.s.active++
	}
}

func (sc *Scope) remove(co *Coroutine) {
	last := len(sc.coroutines) - 1
	moved := sc.coroutines[last]
	if moved != co {
		sc.coroutines[co.index], moved.index = moved, co.index
	}
	sc.coroutines[last] = nil
	sc.coroutines = sc.coroutines[:last]
	sc.s.total--
	if !co.hidden {
		sc.active--
		sc.s.active--
	}
	if last == 0 {
		sc.leaveIfDone()
	}
}

// leaveIfDone completes a scope that nothing can happen in any more, and takes it out of the tree: one that is cancelled, or of
// finally handlers, and empty. Its parent may be done by that too. The main scope stays.
func (sc *Scope) leaveIfDone() {
	for sc != nil && sc != sc.s.main && !sc.done && (sc.closed || sc.cleanup) && len(sc.coroutines) == 0 && sc.children.first == nil {
		sc.done, sc.closed = true, true
		sc.complete()
		sc.siblings().remove(sc)
		sc = sc.parent
	}
}

// Cancel cancels the scope and everything in it: what it owns is closed, child scopes come first, then its own coroutines
// (SCOPE-05). It takes no more coroutines. Idempotent: the first reason stays. The reason may be nil. A *event.UsageError
// from another goroutine than that of the loop.
func (sc *Scope) Cancel(reason error) error {
	const call = "Scope.Cancel"
	if sc == nil {
		return usage(call, "the scope is nil", "use that of a coroutine")
	}
	if err := sc.s.Check(call); err != nil {
		return err
	}
	sc.cancel(reason)
	return nil
}

func (sc *Scope) cancel(reason error) {
	if sc.reason != nil {
		return
	}
	sc.closed = true
	sc.reason = &event.CancelledError{Reason: reason}
	sc.closeOwned(sc.reason)
	// A scope may have thousands of children, and a coroutine that is told may change the lists.
	for c := sc.children.first; c != nil; {
		next := c.next
		if !c.cleanup {
			c.cancel(reason)
		}
		c = next
	}
	for _, co := range sc.snapshot() {
		co.cancel(sc.reason)
	}
	sc.leaveIfDone()
}

// snapshot lists the scope's own coroutines, oldest first.
func (sc *Scope) snapshot() []*Coroutine {
	list := slices.Clone(sc.coroutines)
	slices.SortFunc(list, byID)
	return list
}

func byID(a, b *Coroutine) int { return cmp.Compare(a.id, b.id) }

// Left returns a coroutine in the scope, or in one below it, that has not ended; nil when there is none.
func (sc *Scope) Left() *Coroutine {
	if n := len(sc.coroutines); n > 0 {
		return sc.coroutines[n-1]
	}
	for c := sc.children.first; c != nil; c = c.next {
		if co := c.Left(); co != nil {
			return co
		}
	}
	return nil
}

// each calls fn for sc and all scopes below it.
func (sc *Scope) each(fn func(*Scope)) {
	for c := sc.children.first; c != nil; {
		next := c.next
		c.each(fn)
		c = next
	}
	fn(sc)
}
