package cotest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Spawn is Spawn that must succeed.
func (e *Env) Spawn(in scheduler.Spawner, fn func(co *scheduler.Coroutine) error, opts ...scheduler.SpawnOption) *scheduler.Coroutine {
	e.T.Helper()
	co, err := in.Spawn(fn, opts...)
	require.NoError(e.T, err)
	return co
}

// Sayer is a body that notes a step and ends.
func (e *Env) Sayer(step string) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { e.Say(step); return nil }
}

// Sleeper is a body that takes some time.
func Sleeper(d time.Duration) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error { return co.Delay(d) }
}

// Fails is a body that fails at once; without an error it ends well.
func Fails(err error) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { return err }
}

// Waiter is a body that awaits ev once and returns the error of that.
func Waiter(ev event.Event, opts ...scheduler.WaitOption) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		_, err := co.Await(ev, opts...)
		return err
	}
}

// Yields is Yield n times, without regard to what it answers.
func Yields(co *scheduler.Coroutine, n int) {
	for range n {
		_ = co.Yield()
	}
}

// Foreign runs fn in a goroutine of its own and waits for it.
func Foreign(fn func()) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	<-done
}
