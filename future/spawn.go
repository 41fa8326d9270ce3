package future

import (
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// Go spawns a coroutine in the scope of s and returns the future of its outcome. The coroutine's failure is the future's
// alone (CORO-14): it reaches the scope only when nobody has taken it by the time the scope completes (CORO-16). opts are
// those of Spawn. When the coroutine cannot be spawned, the future has failed with the error of Spawn, or with an
// [event.InvalidArgumentError] when fn is nil. It panics with that when s is nil, and with an [event.UsageError] outside
// of the run's loop.
//
//go:noinline
func Go[T any](s scheduler.Spawner, fn func(co *scheduler.Coroutine) (T, error), opts ...scheduler.SpawnOption) *Future[T] {
	const call = "future: Go"
	if s == nil {
		panic(nilArgument(call, "spawner", "pass the coroutine that starts it, or a scope"))
	}
	t := &task[T]{fn: fn}
	f := &t.future
	f.core.extra = &t.extra
	f.core.init(scopeOf(call, s), callerpc.Get())
	f.core.checked(call)
	if fn == nil {
		f.core.settle(nilArgument(call, "function", "pass what the coroutine runs"))
		return f
	}
	co, err := s.Spawn(t.body, append(opts, scheduler.SettledBy(t), scheduler.EntryOf(fn))...)
	if err != nil {
		f.core.settle(err)
		return f
	}
	t.extra.co = co
	return f
}

// task is a future, what it needs besides, and the function of the coroutine that settles it: one allocation.
type task[T any] struct {
	future Future[T]
	extra  extra
	fn     func(co *scheduler.Coroutine) (T, error)
}

func (t *task[T]) body(co *scheduler.Coroutine) (err error) {
	fn := t.fn
	t.fn = nil // the future may live on for long; what fn holds must not
	t.future.value, err = fn(co)
	return err
}

// Settle is called by the scheduler with what became of the coroutine.
func (t *task[T]) Settle(_ *scheduler.Coroutine, err error) {
	t.fn = nil
	if err != nil {
		var zero T
		t.future.value = zero
	}
	t.future.core.settle(err)
}
