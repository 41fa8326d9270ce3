package scope

import (
	"runtime"

	"github.com/uvasync/uvasync/scheduler"
)

// owner is the handle that ends its scope when it is collected. To have that told by the runtime costs more than most scopes
// live for. So a handle is kept alive at first, in a list of the run, until the collector has run once; only those that are
// still there then are given a clean-up function. Loop goroutine only.
type owner struct {
	handle  *Scope          // while it is young; nil: it is not, or there is none
	place   int             // in the list of young ones
	cleanup runtime.Cleanup // once it is not young any more
	grown   bool
}

// own returns the handle of a new scope that ends it.
func own(inner *scheduler.Scope) *Scope {
	st := stateOf(inner)
	s := &Scope{st}
	if inner.Drained() {
		return s
	}
	run := st.run()
	st.owner.handle, st.owner.place = s, len(run.young)
	run.young = append(run.young, st)
	if !run.watched {
		run.watched = true
		watchCollector(inner.Scheduler())
	}
	return s
}

// run is where the list is kept: with the main scope.
func (st *state) run() *extras { return stateOf(st.inner.Scheduler().Main()).extra() }

// release is called when the handle has nothing to end any more.
func (st *state) release() {
	o := &st.owner
	switch {
	case o.handle != nil:
		run := st.run()
		last := len(run.young) - 1
		moved := run.young[last]
		run.young[o.place], moved.owner.place = moved, o.place
		run.young[last] = nil
		run.young = run.young[:last]
		o.handle = nil
	case o.grown:
		o.grown = false
		o.cleanup.Stop()
	}
}

// watchCollector has the loop told when the collector has run: then something is collected that nobody keeps.
func watchCollector(s *scheduler.Scheduler) {
	runtime.AddCleanup(&sentinel{}, func(s *scheduler.Scheduler) {
		// It fails when the run is over, and in a simulation, where handles stay young.
		_ = s.Post(func() { grow(s) })
	}, s)
}

// sentinel is large enough not to share its memory with something that lives on.
type sentinel struct{ _ [4]uintptr }

// grow is called when the collector has run: young handles are kept alive no longer.
func grow(s *scheduler.Scheduler) {
	run := stateOf(s.Main()).extra()
	for i, st := range run.young {
		run.young[i] = nil
		st.owner.cleanup = runtime.AddCleanup(st.owner.handle, (*state).dropped, st)
		st.owner.handle, st.owner.grown = nil, true
	}
	run.young, run.watched = run.young[:0], false
}

// dropped runs on a goroutine of the runtime when the handle was collected.
func (st *state) dropped() {
	// It fails when the run is over.
	_ = st.inner.Scheduler().Post(func() {
		if st.owner.grown {
			st.owner.grown = false
			st.destroy(ErrDropped)
		}
	})
}
