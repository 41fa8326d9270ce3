package scope_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// groupMain runs body as the main coroutine on each loop; the run must end without an error.
func groupMain(t *testing.T, body func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine)) {
	t.Helper()
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			body(t, e, co)
			return nil
		})
	})
}

// groupOf makes a group of tasks that return an int.
func groupOf(t *testing.T, owner scheduler.Scoped, config ...scope.GroupConfig) *scope.Group[int, int] {
	t.Helper()
	g, err := scope.NewGroup[int](owner, config...)
	require.NoError(t, err)
	return g
}

// groupSet makes a set of tasks that return an int.
func groupSet(t *testing.T, owner scheduler.Scoped, config ...scope.GroupConfig) *scope.Set[int, int] {
	t.Helper()
	s, err := scope.NewSet[int](owner, config...)
	require.NoError(t, err)
	return s
}

// groupLimit is a config of one task at a time, with one place to wait, or as many as are asked for.
func groupLimit(concurrency, queue int) scope.GroupConfig {
	return scope.GroupConfig{Concurrency: concurrency, QueueLimit: queue}
}

// groupFn is what a task does.
type groupFn[T any] = func(co *scheduler.Coroutine) (T, error)

// groupGives is a task that returns v at once; groupFails one that fails; groupSleeps one that takes ticks of a millisecond.
func groupGives[T any](v T) groupFn[T] {
	return func(*scheduler.Coroutine) (T, error) { return v, nil }
}

func groupFails[T any](err error) groupFn[T] {
	return func(*scheduler.Coroutine) (v T, _ error) { return v, err }
}

func groupSleeps[T any](ticks int, v T) groupFn[T] {
	return func(co *scheduler.Coroutine) (T, error) {
		for range ticks {
			if err := co.Delay(ms); err != nil {
				var zero T
				return zero, err
			}
		}
		return v, nil
	}
}

// groupHold is a task that runs until it is told how to end.
type groupHold struct {
	gate   *cotest.Gate
	co     *scheduler.Coroutine // once it has begun
	told   bool
	finish func() (int, error)
	ended  bool
	err    error // of its wait
}

func newGroupHold(e *cotest.Env) *groupHold { return &groupHold{gate: e.Gate()} }

func (h *groupHold) task(co *scheduler.Coroutine) (int, error) {
	h.co = co
	defer func() { h.ended = true }()
	for !h.told {
		if _, err := co.Await(h.gate); err != nil {
			h.err = err
			return 0, err
		}
	}
	return h.finish()
}

// end makes it end so, as soon as it runs again.
func (h *groupHold) end(finish func() (int, error)) {
	h.told, h.finish = true, finish
	h.gate.Open(nil, nil)
}

func (h *groupHold) give(v int)     { h.end(func() (int, error) { return v, nil }) }
func (h *groupHold) fail(err error) { h.end(func() (int, error) { return 0, err }) }

func (h *groupHold) begun() bool { return h.co != nil }

// groupHolds makes n tasks and spawns them.
func groupHolds(e *cotest.Env, g groupInts, n int) []*groupHold {
	e.T.Helper()
	holds := make([]*groupHold, n)
	for i := range holds {
		holds[i] = newGroupHold(e)
		_, err := g.TrySpawn(holds[i].task)
		require.NoError(e.T, err)
	}
	return holds
}

// groupEnd ends all of them with their index.
func groupEnd(holds []*groupHold) {
	for i, h := range holds {
		if !h.told {
			h.give(i)
		}
	}
}

// groupSpawning is what groups and sets have in common.
type groupSpawning[K comparable, T any] interface {
	event.Event
	Spawn(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.WaitOption) (K, error)
	SpawnKey(co *scheduler.Coroutine, key K, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.WaitOption) error
	TrySpawn(fn func(co *scheduler.Coroutine) (T, error)) (K, error)
	TrySpawnKey(key K, fn func(co *scheduler.Coroutine) (T, error)) error
	Close() error
	Cancel(reason error) error
	Dispose() error
	AwaitCompletion(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error
	Results() future.Keyed[K, T]
	Errors() future.Keyed[K, error]
	SuppressErrors()
	Stats() scope.GroupStats
	Count() int
	IsFinished() bool
	IsClosed() bool
	Info() string
}

// groupInts is a group or a set of ints with automatic keys.
type groupInts = groupSpawning[int, int]

var (
	_ groupSpawning[int, int]     = (*scope.Group[int, int])(nil)
	_ groupSpawning[string, bool] = (*scope.Set[string, bool])(nil)
)

// groupBoth runs body with a group and with a set, of one configuration, in the scope of the main coroutine.
func groupBoth(t *testing.T, config scope.GroupConfig, body func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts)) {
	t.Helper()
	t.Run("group", func(t *testing.T) {
		groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) { body(t, e, co, groupOf(t, co, config)) })
	})
	t.Run("set", func(t *testing.T) {
		groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) { body(t, e, co, groupSet(t, co, config)) })
	})
}

// groupMust is Spawn that must succeed.
func groupMust[K comparable, T any](t *testing.T, co *scheduler.Coroutine, g groupSpawning[K, T], fn groupFn[T]) K {
	t.Helper()
	key, err := g.Spawn(co, fn)
	require.NoError(t, err)
	return key
}

// groupSpawner starts a coroutine that spawns one task, and says what came of it.
func groupSpawner(e *cotest.Env, in scheduler.Spawner, g groupInts, name string, fn groupFn[int], opts ...scheduler.WaitOption) *scheduler.Coroutine {
	e.T.Helper()
	return e.Spawn(in, func(co *scheduler.Coroutine) error {
		key, err := g.Spawn(co, fn, opts...)
		if err != nil {
			e.Say(name + ": " + groupShort(err))
		} else {
			e.Say(fmt.Sprintf("%s: %d", name, key))
		}
		return nil
	})
}

// groupShort names what an error is, everything that it is.
func groupShort(err error) string {
	names := ""
	for _, known := range []struct {
		name string
		err  error
	}{
		{"closed", event.ErrClosed}, {"cancelled", context.Canceled}, {"timeout", event.ErrTimeout}, {"usage", event.ErrUsage},
		{"invalid", event.ErrInvalidArgument}, {"full", scope.ErrQueueFull}, {"disposed", scope.ErrDisposed},
		{"boom", errBoom}, {"other", errOther}, {"stop", errStop},
	} {
		if errors.Is(err, known.err) {
			names += " " + known.name
		}
	}
	if names == "" {
		return err.Error()
	}
	return names[1:]
}

// groupSaid checks what was said since the last look.
func groupSaid(e *cotest.Env, steps ...string) {
	e.T.Helper()
	assert.Equal(e.T, steps, e.Said())
}

// groupAwait is Await of a future that must succeed.
func groupAwait[T any](t *testing.T, co *scheduler.Coroutine, f *future.Future[T]) T {
	t.Helper()
	v, err := f.Await(co)
	require.NoError(t, err)
	return v
}

// groupFirst is Race, Any, JoinNext or JoinAny that must give a future.
func groupFirst[T any](t *testing.T, first func() (*future.Future[T], error)) *future.Future[T] {
	t.Helper()
	f, err := first()
	require.NoError(t, err)
	return f
}

// groupComposite checks that err is a CompositeError of exactly these, in order.
func groupComposite(t *testing.T, err error, want ...error) {
	t.Helper()
	var c *event.CompositeError
	if !assert.ErrorAs(t, err, &c) {
		return
	}
	if !assert.Len(t, c.Errors, len(want)) {
		return
	}
	for i := range want {
		assert.ErrorIs(t, c.Errors[i], want[i], "error %d", i)
	}
}

// groupStats checks the figures.
func groupStats(t *testing.T, g interface{ Stats() scope.GroupStats }, queued, running, succeeded, failed, waiting int) {
	t.Helper()
	st := g.Stats()
	assert.Equal(t, []int{queued, running, succeeded, failed, waiting},
		[]int{st.Queued, st.Running, st.Succeeded, st.Failed, st.SpawnersWaiting}, "queued, running, succeeded, failed, spawners waiting")
}

// groupUntil lets others run until done, or the test fails.
func groupUntil(t *testing.T, co *scheduler.Coroutine, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		require.NoError(t, co.Yield())
	}
	require.Fail(t, "it was never so")
}

// groupScope makes a scope and notes the failures that reach its handler.
func groupScope(e *cotest.Env, co scheduler.Scoped) (s *scope.Scope, failures *[]error) {
	e.T.Helper()
	s, failures = scope.New(co), new([]error)
	require.NoError(e.T, s.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
		*failures = append(*failures, err)
		return nil
	}))
	return s, failures
}

// groupErr is an error with a name.
type groupErr string

func (e groupErr) Error() string { return string(e) }
