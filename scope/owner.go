package scope

import (
	"runtime"

	"github.com/uvasync/uvasync/scheduler"
)

// Handles of scopes, groups and sets end what they stand for when they are collected. To have that told by the runtime
// costs more than most of these live for. So a handle is kept alive at first, in a list of the run, until the collector has
// run once; only those that are still there then are given a clean-up function.

// owner is what something that is ended with its handle knows of that. Loop goroutine only.
type owner struct {
	age     age
	place   int32            // in the list of young ones
	cleanup *runtime.Cleanup // of one that is grown
}

type age uint8

const (
	ageless age = iota // there is no handle, or nothing for it to end
	young              // its handle is kept alive
	grown              // its handle has a clean-up function
)

// handled is something that has an owner. It refers to its handle while it is young.
type handled interface {
	ownership() *owner
	// grow gives the handle its clean-up function, and refers to it no more.
	grow() runtime.Cleanup
}

// nursery is the list of a run. It is kept with the main scope.
type nursery struct {
	young   []handled
	watched bool // the collector is
}

func nurseryOf(s *scheduler.Scheduler) *nursery { return &stateOf(s.Main()).extra().nursery }

// born is called with what has a handle from now on.
func (n *nursery) born(s *scheduler.Scheduler, h handled) {
	o := h.ownership()
	o.age, o.place = young, int32(len(n.young))
	n.young = append(n.young, h)
	if !n.watched {
		n.watched = true
		watchCollector(s)
	}
}

// release is called when the handle has nothing to end any more. It reports whether it had.
func (o *owner) release(s *scheduler.Scheduler) (had bool) {
	was := o.age
	o.age = ageless
	switch was {
	case young:
		n := nurseryOf(s)
		last := len(n.young) - 1
		moved := n.young[last]
		n.young[o.place], moved.ownership().place = moved, o.place
		n.young[last] = nil
		n.young = n.young[:last]
	case grown:
		o.cleanup.Stop()
		o.cleanup = nil
	}
	return was != ageless
}

// watchCollector has the loop told when the collector has run: then something is collected that nobody keeps.
func watchCollector(s *scheduler.Scheduler) {
	runtime.AddCleanup(&sentinel{}, func(s *scheduler.Scheduler) {
		// It fails when the run is over, and in a simulation, where handles stay young.
		_ = s.Post(func() { nurseryOf(s).grow() })
	}, s)
}

// sentinel is large enough not to share its memory with something that lives on.
type sentinel struct{ _ [4]uintptr }

// grow is called when the collector has run: young handles are kept alive no longer.
func (n *nursery) grow() {
	for i, h := range n.young {
		n.young[i] = nil
		o := h.ownership()
		cleanup := h.grow()
		o.cleanup, o.age = &cleanup, grown
	}
	n.young, n.watched = n.young[:0], false
}
