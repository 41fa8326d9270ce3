package scheduler

import "github.com/uvasync/uvasync/event"

// Belonging is a thing that belongs to a scope without being a coroutine: a channel, a future.
type Belonging interface {
	// ScopeClosed is called when the scope is cancelled or disposed, when the last zombie of one has ended that was disposed
	// safely, or at the end of the run (CHAN-33). The reason is the scope's cancellation, or names the end.
	ScopeClosed(reason error)
	// ScopeDone is called when the scope has completed. It returns a failure that nobody has seen, once (CORO-16).
	ScopeDone() error
}

// Sealable is a Belonging that wants to know when its scope takes no more coroutines though nothing is cancelled.
type Sealable interface {
	Belonging
	// ScopeSealed is called when the scope is disposed safely, or with a time limit.
	ScopeSealed()
}

// Owned is the place of a thing in its scope: embed one. It allocates nothing. The zero value is ready; do not copy it. The
// loop only.
type Owned struct {
	prev, next *Owned
	scope      *Scope // nil: in none
	thing      Belonging
}

// Own puts a thing into the scope. In one that has closed what it owned already ScopeClosed is called at once; in place of one
// that has completed the nearest scope around it that has not asks for failures. After the end of the run nothing happens.
func (sc *Scope) Own(o *Owned, thing Belonging) {
	o.Release()
	if sc == nil || sc.s.ended {
		return
	}
	s, late := sc.s, sc.released
	reason := sc.closedBy()
	for sc != nil && sc.done {
		sc = sc.parent
	}
	if sc == nil { // a root that is over
		for sc = s.roots.first; sc != nil && sc.done; sc = sc.next {
		}
	}
	if sc == nil {
		return
	}
	o.scope, o.thing = sc, thing
	o.next = sc.owned
	if o.next != nil {
		o.next.prev = o
	}
	sc.owned = o
	if late {
		thing.ScopeClosed(reason)
	}
}

// Release takes the thing out of its scope. Idempotent.
func (o *Owned) Release() {
	if o.scope == nil {
		return
	}
	if o.prev == nil {
		o.scope.owned = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	}
	*o = Owned{}
}

// things lists what the scope owns, oldest first.
func (sc *Scope) things() []*Owned {
	var list []*Owned
	for o := sc.owned; o != nil; o = o.next {
		list = append(list, o)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// complete asks everything that the scope owns for failures that nobody has seen, and reports them.
func (sc *Scope) complete() {
	var failures []error
	for _, o := range sc.things() {
		if o.scope == sc {
			failures = append(failures, sc.s.recovered(o.thing.ScopeDone))
		}
	}
	if err := event.Join(failures...); err != nil {
		sc.fail(nil, err)
	}
}
