package simreactor

import (
	"container/heap"
	"time"
)

// entry is one thing that may happen; it is part of the thing itself.
type entry struct {
	owner happening
	state entryState
	at    int64  // ns since Epoch
	start uint64 // entries that were started earlier have a lower one
	index int    // while it waits: its place in the agenda
}

// happening is what an entry belongs to.
type happening interface {
	happen()      // in a turn; the entry is idle already
	loopClosing() // ends it without telling anybody
}

type entryState uint8

const (
	entryIdle    entryState = iota
	entryWaiting            // in the agenda; of a trigger: started
	entryDue                // in turn.due, about to happen
)

// agenda is a heap of the waiting entries: the earliest first, of one time the one that was started first.
type agenda []*entry

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].start < a[j].start
}

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

// Push is for container/heap.
func (a *agenda) Push(x any) {
	e := x.(*entry)
	e.index = len(*a)
	*a = append(*a, e)
}

// Pop is for container/heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return e
}

// first is when the first entry is due; never for none.
func (a agenda) first() int64 {
	if len(a) == 0 {
		return never
	}
	return a[0].at
}

// schedule has e happen when d has passed. It must be idle.
func (r *Reactor) schedule(e *entry, d time.Duration) {
	r.starts++
	e.state, e.at, e.start = entryWaiting, r.clock.after(d), r.starts
	heap.Push(&r.agenda, e)
}

// cancel makes e idle, wherever it is.
func (r *Reactor) cancel(e *entry) {
	if e.state == entryWaiting {
		heap.Remove(&r.agenda, e.index)
	}
	e.state = entryIdle
}
