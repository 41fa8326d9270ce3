package scope

import (
	"errors"
	"runtime"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// ErrQueueFull is the answer of TrySpawn when Spawn would wait: as many tasks as are allowed wait for their turn, or somebody
// is in line to spawn one.
var ErrQueueFull = errors.New("scope: the queue is full")

// Spawn adds a task and returns its key: 0, 1, 2... in the order in which tasks were added, without those that [Group.SpawnKey]
// has taken (TG-01). The task starts when its turn has come, never before Spawn returns. While the queue is full Spawn
// suspends co; spawners go on in the order in which they came (TG-04). opts bound that wait: scheduler.Timeout,
// scheduler.Token.
//
// Errors, after which there is no such task: the cancellation of co; those of the options; *event.ClosedError when the group
// is closed, or its scope cancelled, while co waits; *event.UsageError when that was so before (TG-06), which matches
// event.ErrClosed as well; and when the keys are not
// of type int, when co is not the calling coroutine, or is one of another run; *event.InvalidArgumentError for a nil fn.
func (g *Group[K, T]) Spawn(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.WaitOption) (K, error) {
	key, err := g.inner().spawn("scope: Group.Spawn", co, fn, opts)
	runtime.KeepAlive(g) // collected while co waits, it would be closed
	return key, err
}

// SpawnKey adds a task with a key. It is [Group.Spawn] otherwise, with one more error: *event.UsageError when the key is
// taken, which leaves the task that has it as it is (TG-01).
func (g *Group[K, T]) SpawnKey(co *scheduler.Coroutine, key K, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.WaitOption) error {
	err := g.inner().spawnKey("scope: Group.SpawnKey", co, key, fn, opts)
	runtime.KeepAlive(g)
	return err
}

// TrySpawn is [Group.Spawn] without the wait: [ErrQueueFull] when there is no place, or somebody waits for one. Callbacks may
// call it.
func (g *Group[K, T]) TrySpawn(fn func(co *scheduler.Coroutine) (T, error)) (K, error) {
	return g.inner().trySpawn("scope: Group.TrySpawn", fn)
}

// TrySpawnKey is [Group.SpawnKey] without the wait, as [Group.TrySpawn] is for Spawn.
func (g *Group[K, T]) TrySpawnKey(key K, fn func(co *scheduler.Coroutine) (T, error)) error {
	return g.inner().trySpawnKey("scope: Group.TrySpawnKey", key, fn)
}

func (e *engine[K, T]) spawn(call string, co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) (T, error), opts []scheduler.WaitOption) (key K, err error) {
	if err := e.enter(call, co, opts); err != nil {
		return key, err
	}
	if err := e.admits(call, fn); err != nil {
		return key, err
	}
	if err := e.numbered(call); err != nil {
		return key, err
	}
	t := e.newEntry(fn)
	if !e.open() {
		if err := e.queue(call, co, &t.task, opts); err != nil {
			e.recycle(&t.task)
			return key, err
		}
	}
	e.number(t)
	e.add(&t.task)
	return t.key, nil
}

func (e *engine[K, T]) spawnKey(call string, co *scheduler.Coroutine, key K, fn func(co *scheduler.Coroutine) (T, error), opts []scheduler.WaitOption) error {
	if err := e.enter(call, co, opts); err != nil {
		return err
	}
	if err := e.admits(call, fn); err != nil {
		return err
	}
	// Before the wait, so that who comes second with it learns that at once.
	if err := e.claim(call, key); err != nil {
		return err
	}
	t := e.newEntry(fn)
	t.key, t.state = key, taskNamed
	if !e.open() {
		if err := e.queue(call, co, &t.task, opts); err != nil {
			e.unname(&t.task)
			e.recycle(&t.task)
			return err
		}
	}
	e.add(&t.task)
	return nil
}

func (e *engine[K, T]) trySpawn(call string, fn func(co *scheduler.Coroutine) (T, error)) (key K, err error) {
	if err := e.check(call); err != nil {
		return key, err
	}
	if err := e.admits(call, fn); err != nil {
		return key, err
	}
	if err := e.numbered(call); err != nil {
		return key, err
	}
	if !e.open() {
		return key, ErrQueueFull
	}
	t := e.newEntry(fn)
	e.number(t)
	e.add(&t.task)
	return t.key, nil
}

func (e *engine[K, T]) trySpawnKey(call string, key K, fn func(co *scheduler.Coroutine) (T, error)) error {
	if err := e.check(call); err != nil {
		return err
	}
	if err := e.admits(call, fn); err != nil {
		return err
	}
	if !e.open() {
		return ErrQueueFull
	}
	if err := e.claim(call, key); err != nil {
		return err
	}
	t := e.newEntry(fn)
	t.key = key
	e.add(&t.task)
	return nil
}

// admits answers whether fn can become a task.
func (e *engine[K, T]) admits(call string, fn func(co *scheduler.Coroutine) (T, error)) error {
	switch {
	case fn == nil:
		return nilFunction(call, "pass what the task does")
	case e.isClosed():
		return e.refusal(call)
	}
	return nil
}

// queue waits in line for a place.
func (e *engine[K, T]) queue(call string, co *scheduler.Coroutine, t *task, opts []scheduler.WaitOption) error {
	w := e.line.Push(co, t)
	err := w.Park(call, opts...)
	w.Free()
	switch {
	case err != nil:
		return e.turnedAway(call, err)
	case e.isClosed(): // since it was woken
		return e.closedError(call)
	}
	return nil
}

// turnedAway is the error of a spawner whose wait has failed with err. One that was cancelled by the scope that has closed the
// group has a cancellation, so that a body may return it, which matches the closing, too.
func (c *core) turnedAway(call string, err error) error {
	var closed *event.ClosedError
	if !errors.As(err, &closed) || closed != c.turned {
		return err
	}
	named := *closed
	named.Call = call
	var cancelled *event.CancelledError
	switch {
	case err == error(closed):
		return &named
	case !errors.As(err, &cancelled) || cancelled.Token:
		return err
	}
	return &event.CancelledError{Reason: event.WithCause(&named, cancelled.Reason)}
}
