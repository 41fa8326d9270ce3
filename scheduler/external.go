package scheduler

import (
	"runtime"
	"sync/atomic"
)

// External is a door for other goroutines: it counts as a visible event until it is closed, so that the run does not take
// waiting for them for a deadlock (DEAD-12). One that is dropped without being closed is closed when it is collected. Any
// goroutine may use it.
type External struct {
	state   *externalState
	cleanup runtime.Cleanup
}

type externalState struct {
	s      *Scheduler
	closed atomic.Bool
}

// NewExternal opens a door. A *event.UsageError when the caller is not on the loop.
func (s *Scheduler) NewExternal() (*External, error) {
	if err := s.Check("Scheduler.NewExternal"); err != nil {
		return nil, err
	}
	s.reactor.Count().Add(1)
	s.externals++
	e := &External{state: &externalState{s: s}}
	e.cleanup = runtime.AddCleanup(e, func(st *externalState) { st.close() }, e.state)
	return e, nil
}

// Post has fn run on the loop, outside of any coroutine. Errors: ErrClosed when e or the loop is closed, and as for
// [Scheduler.Post].
func (e *External) Post(fn func()) error {
	defer runtime.KeepAlive(e)
	if e.state.closed.Load() {
		return closedError("External.Post", "the external handle")
	}
	return e.state.s.reactor.Post(fn)
}

// Close ends it. Idempotent; always nil.
func (e *External) Close() error {
	e.cleanup.Stop()
	e.state.close()
	return nil
}

func (st *externalState) close() {
	if st.closed.Swap(true) {
		return
	}
	if st.s.here() {
		st.s.closeExternals(1)
		return
	}
	// It fails when the loop is closed: then nobody counts any more.
	_ = st.s.reactor.Post(func() { st.s.closeExternals(1) })
}

// closeExternals takes n of them off the live count; the end of the run has taken off those that were open then.
func (s *Scheduler) closeExternals(n int) {
	n = min(n, s.externals)
	s.externals -= n
	s.reactor.Count().Add(-n)
}
