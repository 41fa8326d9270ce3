package future

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

const ms = time.Millisecond

var errTest = errors.New("test failure")

// world is one run, on libuv or on the simulated reactor.
type world struct {
	name    string
	reactor interface {
		scheduler.Reactor
		Close() error
	}
	scheduler *scheduler.Scheduler
	newTimer  func(d time.Duration) (timer, error)
	log       bytes.Buffer
}

type timer interface {
	event.Event
	Started() bool
	Dispose()
}

// newWorld opens a world; the test closes it.
func newWorld(t *testing.T, name string) *world {
	w := &world{name: name}
	switch name {
	case "libuv":
		l := newLoop(t)
		w.reactor = l
		w.newTimer = func(d time.Duration) (timer, error) { return l.NewTimer(d) }
	case "simulated":
		r := simreactor.New(1)
		w.reactor = r
		w.newTimer = func(d time.Duration) (timer, error) { return r.NewTimer(d) }
	}
	w.scheduler = scheduler.New(w.reactor, scheduler.Options{
		Name:   name + " of " + t.Name(),
		Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
		Slice:  time.Hour, // what completes at once must not yield because the machine is slow
	})
	t.Cleanup(func() { require.NoError(t, w.reactor.Close()) })
	return w
}

func newLoop(t testing.TB) *reactor.Loop {
	l, err := reactor.New(reactor.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// inBoth runs body with a new world of each kind.
func inBoth(t *testing.T, body func(t *testing.T, w *world)) {
	t.Helper()
	for _, name := range []string{"libuv", "simulated"} {
		t.Run(name, func(t *testing.T) { body(t, newWorld(t, name)) })
	}
}

// both runs body as the main coroutine of a run of each kind, which must end without an error.
func both(t *testing.T, body func(t *testing.T, w *world, co *scheduler.Coroutine)) {
	t.Helper()
	inBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.run(func(co *scheduler.Coroutine) { body(t, w, co) }))
	})
}

func (w *world) run(main func(co *scheduler.Coroutine)) error {
	return w.scheduler.Run(context.Background(), func(co *scheduler.Coroutine) error {
		main(co)
		return nil
	})
}

// logged counts the lines of the log that contain text.
func (w *world) logged(text string) (n int) {
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// timer makes a timer that nobody has started.
func (w *world) timer(t *testing.T, d time.Duration) timer {
	tm, err := w.newTimer(d)
	require.NoError(t, err)
	t.Cleanup(tm.Dispose)
	return tm
}

// until lets others run until the condition holds.
func until(t *testing.T, co *scheduler.Coroutine, condition func() bool) {
	t.Helper()
	for range 1000 {
		if condition() {
			return
		}
		require.NoError(t, co.Yield())
	}
	require.Fail(t, "the condition was never met")
}

// settle lets everybody run who can, a few times.
func settle(t *testing.T, co *scheduler.Coroutine) {
	t.Helper()
	for range 5 {
		require.NoError(t, co.Yield())
	}
}

// spawn starts a coroutine that cannot fail.
func spawn(t *testing.T, s scheduler.Spawner, fn func(co *scheduler.Coroutine)) *scheduler.Coroutine {
	t.Helper()
	co, err := s.Spawn(func(co *scheduler.Coroutine) error {
		fn(co)
		return nil
	})
	require.NoError(t, err)
	return co
}

// later returns the future of a coroutine that takes d and has this outcome.
func later[T any](co *scheduler.Coroutine, d time.Duration, value T, err error) *Future[T] {
	return Go(co, func(co *scheduler.Coroutine) (T, error) {
		if failed := co.Delay(d); failed != nil {
			return value, failed
		}
		return value, err
	})
}

// listeners counts who listens to f.
func listeners[T any](f *Future[T]) (n int) {
	if f.core.waiter != nil {
		n++
	}
	if first := f.core.first; first != nil {
		n++
		for at := first.next; at != first; at = at.next {
			n++
		}
	}
	if b := f.core.base(); b != nil {
		n += b.Callbacks()
	}
	return n
}
