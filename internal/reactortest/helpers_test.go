package reactortest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

const ms = time.Millisecond

func startDeadline(t *testing.T, w World, delay time.Duration, fn func()) event.Deadline {
	t.Helper()
	d := w.NewDeadline(fn)
	require.NoError(t, d.Start(delay))
	return d
}

// on subscribes fn.
func on(t *testing.T, e Event, fn func()) {
	t.Helper()
	_, err := e.Subscribe(func(*event.Base, *event.Callback, any, error) { fn() })
	require.NoError(t, err)
}

func newTimer(t *testing.T, w World, delay time.Duration, fn func()) Event {
	t.Helper()
	timer, err := w.NewTimer(delay)
	require.NoError(t, err)
	on(t, timer, fn)
	return timer
}

func startTimer(t *testing.T, w World, delay time.Duration, fn func()) Event {
	t.Helper()
	timer := newTimer(t, w, delay, fn)
	require.NoError(t, timer.Start())
	return timer
}

func newTrigger(t *testing.T, w World, fn func()) Trigger {
	t.Helper()
	trigger, err := w.NewTrigger()
	require.NoError(t, err)
	on(t, trigger, fn)
	return trigger
}

func startTrigger(t *testing.T, w World, fn func()) Trigger {
	t.Helper()
	trigger := newTrigger(t, w, fn)
	require.NoError(t, trigger.Start())
	return trigger
}

// forbidden is a callback that must not be called.
func forbidden(t *testing.T, why string) func() {
	return func() { t.Error("called though " + why) }
}
