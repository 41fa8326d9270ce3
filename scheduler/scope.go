package scheduler

import (
	"cmp"
	"iter"
	"sync/atomic"

	"github.com/uvasync/uvasync/event"
)

// Scope owns coroutines and other things: it is where their failures go, and cancelling it cancels them. Scopes form a tree
// below the main scope of the run. This is the mechanism; package scope makes of it what users have. The loop only.
type Scope struct {
	s            *Scheduler // immutable
	parent       *Scope     // immutable; nil: a root
	children     scopeList
	prev, next   *Scope // siblings
	coroutines   []*Coroutine
	single       [1]*Coroutine          // room for the first, without an allocation
	owned        *Owned                 // newest first
	values       atomic.Pointer[Values] // any goroutine; nil: there are none
	onError      FailureHandler
	onChildError FailureHandler
	watcher      Watcher
	zombieLog    *ZombieLog            // that of the scope around it, unless it was given one; nil: that of the run
	clean        *Scope                // the innermost of finally handlers that it is, or is below; nil: none
	reason       *event.CancelledError // why it was cancelled
	active       int32                 // of coroutines
	zombies      int32                 // of coroutines
	busy         int32                 // of children: in those, or below, there are active coroutines
	inside       int32                 // of one of finally handlers: coroutines in it and below it
	safe         bool                  // cancelling it makes zombies
	serving      bool                  // its coroutines are helpers
	sealed       bool                  // takes no more coroutines
	disposed     bool                  // by any of the calls that do, one with a time limit included
	safely       bool                  // DisposeSafely has been here
	forced       bool                  // Dispose has been here
	released     bool                  // what it owns is closed
	done         bool                  // complete, and out of the tree
	ends         bool                  // an end of it is being written down
}

// FailureHandler gets a failure that nobody awaited; co is the coroutine that failed, nil when it was something else. Nil
// means that it is dealt with; an error, that it goes on, with what the handler returned before it (SCOPE-20).
type FailureHandler func(sc *Scope, co *Coroutine, err error) error

// Watcher is told what becomes of a scope. It must not suspend.
type Watcher interface {
	// Failed is asked whether somebody waits for the failures of the scope and of those below; then no handler is called.
	Failed(co *Coroutine, err error) (taken bool)
	// Forced is called when all coroutines in the scope and below were, or are about to be, cancelled by force.
	Forced()
	// Idle is called when the last active coroutine in the scope and below is gone (SCOPE-27).
	Idle()
	// Drained is called when the scope is sealed and nothing is left in it and below (SCOPE-22).
	Drained()
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

// cleans reports whether it is one of finally handlers: not cancelled with its parent, gone when it is empty.
func (sc *Scope) cleans() bool { return sc.clean == sc }

// siblings is the list that sc stands in.
func (sc *Scope) siblings() *scopeList {
	if sc.parent == nil {
		return &sc.s.roots
	}
	return &sc.parent.children
}

func newScope(s *Scheduler, parent *Scope) *Scope {
	sc := &Scope{s: s, parent: parent, safe: true}
	if parent != nil {
		sc.safe, sc.serving, sc.zombieLog, sc.clean = parent.safe, parent.serving, parent.zombieLog, parent.clean
	}
	sc.siblings().push(sc)
	return sc
}

// New makes a child of sc, with its safe flag (SCOPE-01). A *event.UsageError when sc is sealed, or the caller is not on the
// loop.
func (sc *Scope) New() (*Scope, error) {
	const call = "Scope.New"
	if sc == nil {
		return nil, usage(call, "the scope is nil", "use that of a coroutine")
	}
	if err := sc.s.Check(call); err != nil {
		return nil, err
	}
	if sc.sealed {
		return nil, sc.noSpawn(call)
	}
	return newScope(sc.s, sc), nil
}

// NewEnded makes a scope that has ended as sc has: what is made in a sealed one.
func (sc *Scope) NewEnded() *Scope {
	child := &Scope{s: sc.s, parent: sc, safe: sc.safe, reason: sc.reason, sealed: true, disposed: true, released: true, done: true}
	child.safely, child.forced = sc.reason == nil, sc.reason != nil
	return child
}

// NewRoot makes a scope beside the main one, a safe one: it ends with the run, and finds none of the main scope's values
// (CTX-05).
func (s *Scheduler) NewRoot() (*Scope, error) {
	const call = "Scheduler.NewRoot"
	if err := s.Check(call); err != nil {
		return nil, err
	}
	if s.stage != stageNone || s.roots.first == nil {
		return nil, usage(call, s.name+" is over", "make it before")
	}
	return newScope(s, nil), nil
}

// InFinally reports whether it is the scope of finally handlers, or is below one: then it outlives the cancellation of those around.
func (sc *Scope) InFinally() bool { return sc.clean != nil }

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

// Children yields the scopes that are directly below it (SCOPE-28), oldest first, those that have not ended meanwhile.
func (sc *Scope) Children() iter.Seq[*Scope] {
	return func(yield func(*Scope) bool) {
		var list []*Scope
		for c := sc.children.first; c != nil; c = c.next {
			if !c.cleans() {
				list = append(list, c)
			}
		}
		for _, c := range list {
			if !c.done && !yield(c) {
				return
			}
		}
	}
}

// Safe reports whether cancelling it turns coroutines into zombies.
func (sc *Scope) Safe() bool { return sc.safe }

// SetSafe says whether it does; scopes below keep theirs.
func (sc *Scope) SetSafe(safe bool) { sc.safe = safe }

// Sealed reports whether it takes no more coroutines.
func (sc *Scope) Sealed() bool { return sc.sealed }

// Closed reports whether it was disposed, by whatever call, or was cancelled, or the run has ended, and nothing is left in it
// (SCOPE-03, SCOPE-04).
func (sc *Scope) Closed() bool { return sc.disposed || sc.Drained() }

// Cancelled returns what it was cancelled with, whether its coroutines were or have become zombies; nil when it was not.
func (sc *Scope) Cancelled() *event.CancelledError { return sc.reason }

// Ending reports whether coroutines were cancelled, or left to themselves as zombies (SCOPE-13).
func (sc *Scope) Ending() bool { return sc.reason != nil || sc.safely }

// Forced reports whether all its coroutines were cancelled by force.
func (sc *Scope) Forced() bool { return sc.forced }

// Finished reports whether no active coroutine is in it and below it (SCOPE-27).
func (sc *Scope) Finished() bool { return sc.active == 0 && sc.busy == 0 }

// Drained reports whether it is sealed and nothing is left in it and below it.
func (sc *Scope) Drained() bool {
	return sc.done || sc.sealed && len(sc.coroutines) == 0 && sc.children.first == nil
}

// Counts returns how many coroutines of its own have not ended: active ones, zombies, and all with the hidden ones.
func (sc *Scope) Counts() (active, zombies, total int) {
	return int(sc.active), int(sc.zombies), len(sc.coroutines)
}

// Values returns what is stored with the scope. Any goroutine; changing them is for the loop, or before Run.
func (sc *Scope) Values() *Values {
	if v := sc.values.Load(); v != nil {
		return v
	}
	sc.values.CompareAndSwap(nil, &Values{owner: sc})
	return sc.values.Load()
}

// SetServing makes all coroutines that are started in it from now on, and in the scopes made below it, as if with [Serving]:
// they keep no run alive. Finally handlers are started as ever.
func (sc *Scope) SetServing() { sc.serving = true }

// Watch makes w be told what becomes of the scope. There is one watcher.
func (sc *Scope) Watch(w Watcher) { sc.watcher = w }

// Watcher returns who is told what becomes of the scope; nil: nobody.
func (sc *Scope) Watcher() Watcher { return sc.watcher }

// OnError makes h get the failures of the scope's coroutines, instead of the failure cancelling the scope (SCOPE-16). It
// runs on the loop, outside of any coroutine; it may spawn, and must not suspend. Setting it again replaces it.
func (sc *Scope) OnError(h FailureHandler) { sc.onError = h }

// OnChildError makes h get the failures that come from the scopes below, before OnError's (SCOPE-17). By then those are
// cancelled (SCOPE-19). Otherwise as OnError.
func (sc *Scope) OnChildError(h FailureHandler) { sc.onChildError = h }

func (sc *Scope) find(key any) (any, bool) {
	for ; sc != nil; sc = sc.parent {
		if v := sc.values.Load(); v != nil {
			if value, ok := v.local(key); ok {
				return value, true
			}
		}
	}
	return nil, false
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

// visit yields all scopes below sc, and last sc, and reports whether to go on.
func (sc *Scope) visit(yield func(*Scope) bool) bool {
	for c := sc.children.first; c != nil; c = c.next {
		if !c.visit(yield) {
			return false
		}
	}
	return yield(sc)
}
