package scope

import (
	"iter"
	"runtime"

	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// Set is a [Group] that forgets what it has handed out (TSET-01): it can live as long as a server, with one task after the
// other. Every outcome goes to one taker: [Set.JoinNext], [Set.JoinAny], [Set.JoinAll], or [Set.Outcomes].
//
// Make one with [NewSet] or [NewKeyedSet]. What is said of groups about scopes, failures, collection and callers holds here,
// too. It keeps room for as many tasks as were there at the same time.
type Set[K comparable, T any] struct {
	// All the rest. It must not lead back here: that would keep the handle from being collected.
	engine *engine[K, T]
}

var _ scheduler.Refusing = (*Set[int, int])(nil)

// NewSet makes a set whose tasks have the keys 0, 1, 2... as [NewGroup] does with a group.
//
//go:noinline
func NewSet[T any](owner scheduler.Scoped, config ...GroupConfig) (*Set[int, T], error) {
	return newSet[int, T]("scope: NewSet", callerpc.Get(), owner, config)
}

// NewKeyedSet makes a set whose tasks are given their keys, with [Set.SpawnKey]. Otherwise as [NewSet].
//
//go:noinline
func NewKeyedSet[K comparable, T any](owner scheduler.Scoped, config ...GroupConfig) (*Set[K, T], error) {
	return newSet[K, T]("scope: NewKeyedSet", callerpc.Get(), owner, config)
}

func newSet[K comparable, T any](call string, at uintptr, owner scheduler.Scoped, config []GroupConfig) (*Set[K, T], error) {
	e, err := newEngine[K, T](call, aSet, owner, config)
	if err != nil {
		return nil, err
	}
	e.at = at
	s := &Set[K, T]{e}
	e.born(s)
	return s, nil
}

// setOf makes one more handle of a set, as groupOf does of a group.
func setOf[K comparable, T any](e *engine[K, T]) *Set[K, T] {
	s := &Set[K, T]{e}
	e.handles++
	runtime.AddCleanup(s, (*core).collected, &e.core)
	return s
}

func (s *Set[K, T]) inner() *engine[K, T] {
	if s == nil {
		return nil
	}
	return s.engine
}

// Spawn adds a task as [Group.Spawn] does. No two tasks of a set have the same automatic key.
func (s *Set[K, T]) Spawn(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.WaitOption) (K, error) {
	key, err := s.inner().spawn("scope: Set.Spawn", co, fn, opts)
	runtime.KeepAlive(s)
	return key, err
}

// SpawnKey adds a task with a key as [Group.SpawnKey] does. The key is taken until the task was handed out.
func (s *Set[K, T]) SpawnKey(co *scheduler.Coroutine, key K, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.WaitOption) error {
	err := s.inner().spawnKey("scope: Set.SpawnKey", co, key, fn, opts)
	runtime.KeepAlive(s)
	return err
}

// TrySpawn is Spawn without the wait; see [Group.TrySpawn].
func (s *Set[K, T]) TrySpawn(fn func(co *scheduler.Coroutine) (T, error)) (K, error) {
	return s.inner().trySpawn("scope: Set.TrySpawn", fn)
}

// TrySpawnKey is SpawnKey without the wait; see [Group.TrySpawnKey].
func (s *Set[K, T]) TrySpawnKey(key K, fn func(co *scheduler.Coroutine) (T, error)) error {
	return s.inner().trySpawnKey("scope: Set.TrySpawnKey", key, fn)
}

// JoinNext hands out the task that has ended first, or the next that ends: a future of its outcome, a result or a failure
// (TSET-01, TSET-03). Those who wait are served in the order in which they came; a future that is cancelled takes nothing. When
// the set is closed and others were given all there was, the future fails with *event.ClosedError. The future belongs to the
// scope that the set was made in. Error: *event.UsageError when the set is empty, and from a foreign goroutine.
//
//go:noinline
func (s *Set[K, T]) JoinNext() (*future.Future[T], error) {
	at, e := callerpc.Get(), s.inner()
	if err := e.checkSome("scope: Set.JoinNext"); err != nil {
		return nil, err
	}
	if t := e.next(); t != nil {
		return e.takenOut(t).At(at), nil
	}
	pending := e.later(&e.firsts)
	e.taken()
	return pending.At(at), nil
}

// takenOut is the future of a task that is handed out.
func (e *engine[K, T]) takenOut(t *task) *future.Future[T] {
	e.forget(t)
	f := e.settledWith(t)
	e.recycle(t)
	return f
}

// JoinAny hands out the first task that has succeeded, or the next that does. Failures stay in the set, until nothing is left
// that could succeed: then the future fails with an *event.CompositeError of all of them, and they are handed out. Otherwise as
// [Set.JoinNext].
//
//go:noinline
func (s *Set[K, T]) JoinAny() (*future.Future[T], error) {
	at, e := callerpc.Get(), s.inner()
	if err := e.checkSome("scope: Set.JoinAny"); err != nil {
		return nil, err
	}
	if t := e.good.pop(); t != nil {
		return e.takenOut(t).At(at), nil
	}
	if e.lostCause() {
		return future.Failed[T](e.around, e.takeFailures()).At(at), nil
	}
	pending := e.later(&e.wins)
	e.taken()
	return pending.At(at), nil
}

// JoinAll hands out everything as soon as no task runs or waits for its turn, at once when that is so now: a future of all
// results under their keys, in the order in which the tasks were spawned. When tasks have failed it fails with an
// *event.CompositeError of all failures, and with [GroupConfig.IgnoreErrors] has what has succeeded. Of an empty set it is
// empty (TSET-04). When it fails, what has succeeded is handed out, too, and gone: use [Set.Outcomes] to have both. The
// future belongs to the scope that the set was made in.
//
//go:noinline
func (s *Set[K, T]) JoinAll() *future.Future[future.Keyed[K, T]] {
	at, e := callerpc.Get(), s.inner()
	e.must("scope: Set.JoinAll")
	return e.allLater().At(at)
}

// Outcomes hands out each task, in the order in which they end, until the set is closed and nothing is left; see
// [Group.Outcomes]. Several loops share the tasks. A loop that breaks leaves the rest.
func (s *Set[K, T]) Outcomes(co *scheduler.Coroutine, opts ...scheduler.WaitOption) iter.Seq2[Outcome[K, T], error] {
	const call = "scope: Set.Outcomes"
	return func(yield func(Outcome[K, T], error) bool) {
		defer runtime.KeepAlive(s)
		e := s.inner()
		for {
			if err := e.enter(call, co, opts); err != nil {
				yield(Outcome[K, T]{}, err)
				return
			}
			t := e.next()
			switch {
			case t != nil:
				co.Lucky()
			case e.over && e.firsts.Reserved() == 0:
				return
			default:
				var err error
				if t, err = e.await(call, co, opts); err != nil {
					yield(Outcome[K, T]{}, err)
					return
				}
				if t == nil {
					continue
				}
			}
			e.forget(t)
			o := e.outcome(t)
			e.recycle(t)
			e.taken()
			if !yield(o, nil) {
				return
			}
		}
	}
}
