package scope

import (
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
)

// Close says that there will be no more tasks; see [Group.Close].
func (s *Set[K, T]) Close() error { return s.inner().close("scope: Set.Close") }

// Cancel closes the set and cancels its tasks; see [Group.Cancel]. Their outcomes can be taken.
func (s *Set[K, T]) Cancel(reason error) error { return s.inner().cancel("scope: Set.Cancel", reason) }

// Dispose is Cancel with [ErrDisposed]; see [Group.Dispose].
func (s *Set[K, T]) Dispose() error { return s.inner().cancel("scope: Set.Dispose", ErrDisposed) }

// AwaitCompletion waits until the set is closed and all its tasks have ended, whoever takes them; see
// [Group.AwaitCompletion].
func (s *Set[K, T]) AwaitCompletion(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	err := s.inner().awaitEnd("scope: Set.AwaitCompletion", co, opts)
	runtime.KeepAlive(s)
	return err
}

// OnFinally has h called once, when the set is closed and all its tasks have ended; see [Group.OnFinally].
func (s *Set[K, T]) OnFinally(h func(self *scheduler.Coroutine, s *Set[K, T]) error) error {
	const call = "scope: Set.OnFinally"
	if err := s.inner().check(call); err != nil {
		return err
	}
	if h == nil {
		return nilFunction(call, "pass what to call when the set has ended")
	}
	e := s.engine
	if e.over {
		return e.s.Call(func() error { return h(e.s.Current(), s) })
	}
	e.finally = append(e.finally, finalizer{func(self *scheduler.Coroutine) error { return h(self, setOf(e)) }, h})
	return nil
}

// Results returns the results that are in the set now; see [Group.Results]. It hands out nothing.
func (s *Set[K, T]) Results() future.Keyed[K, T] {
	e := s.inner()
	e.must("scope: Set.Results")
	return e.results()
}

// Errors returns the failures that are in the set now; see [Group.Errors]. It hands out nothing.
func (s *Set[K, T]) Errors() future.Keyed[K, error] {
	e := s.inner()
	e.must("scope: Set.Errors")
	return e.errors()
}

// SuppressErrors says that nobody needs to take the failures that are in the set now; see [Group.SuppressErrors].
func (s *Set[K, T]) SuppressErrors() {
	e := s.inner()
	e.must("scope: Set.SuppressErrors")
	e.seeAll()
}

// Stats returns what the set is doing.
func (s *Set[K, T]) Stats() GroupStats {
	e := s.inner()
	e.must("scope: Set.Stats")
	return e.stats()
}

// Count returns how many tasks there are: that wait for their turn, run, or have ended and were not handed out (TSET-03).
func (s *Set[K, T]) Count() int {
	e := s.inner()
	e.must("scope: Set.Count")
	return e.count
}

// IsFinished reports whether no task runs or waits for its turn; see [Group.IsFinished].
func (s *Set[K, T]) IsFinished() bool {
	e := s.inner()
	e.must("scope: Set.IsFinished")
	return e.idle()
}

// IsClosed reports whether the set takes no more tasks.
func (s *Set[K, T]) IsClosed() bool {
	e := s.inner()
	e.must("scope: Set.IsClosed")
	return e.isClosed()
}

// Info describes the set for people: "set, 1 running, 4 succeeded" (EVT-16).
func (s *Set[K, T]) Info() string {
	e := s.inner()
	e.must("scope: Set.Info")
	return e.info()
}

// AsEvent returns the event that happens when the set is closed and all its tasks have ended; see [Group.AsEvent].
func (s *Set[K, T]) AsEvent() *event.Base {
	if s.inner() == nil {
		return nil
	}
	s.engine.must("scope: Set.AsEvent")
	return s.engine.event()
}

// RefuseWait is what the waits of coroutines ask; see [Group.RefuseWait].
func (s *Set[K, T]) RefuseWait(call string, co *scheduler.Coroutine) error {
	return s.inner().refuseWait(call, co)
}

// Flags returns the flags of the event.
func (s *Set[K, T]) Flags() event.Flags {
	if s.inner() == nil {
		return 0
	}
	return s.engine.flags()
}
