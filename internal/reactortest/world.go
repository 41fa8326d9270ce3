package reactortest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/reactor"
)

// Reactor is what a scheduler needs of a loop.
type Reactor interface {
	Tick(block bool) (int, error)
	Post(fn func()) error
	Pending() bool
	Live() int
	Count() *event.Count
	NewDeadline(fn func()) event.Deadline
	Now() time.Time
	Elapsed() time.Duration
}

// Event is what every event of a loop can do.
type Event interface {
	event.Event
	Start() error
	Stop() error
	Started() bool
	SetHidden(hidden bool)
	Subscribe(fn event.Func) (*event.Callback, error)
	DelCallback(cb *event.Callback) bool
	Close() error
	Closed() bool
	Dispose()
	Info() string
}

// Trigger is an event that is fired by hand.
type Trigger interface {
	Event
	Fire()
}

// World is a Reactor with events.
type World interface {
	Reactor
	NewTimer(d time.Duration) (Event, error)
	NewTrigger() (Trigger, error)
	Close() error
}

// Real is libuv's loop.
type Real struct{ *reactor.Loop }

// NewTimer is that of the loop.
func (w Real) NewTimer(d time.Duration) (Event, error) { return w.Loop.NewTimer(d) }

// NewTrigger is that of the loop.
func (w Real) NewTrigger() (Trigger, error) { return w.Loop.NewTrigger() }

// Simulated is the loop in virtual time.
type Simulated struct{ *simreactor.Reactor }

// NewTimer is that of the simulation.
func (w Simulated) NewTimer(d time.Duration) (Event, error) { return w.Reactor.NewTimer(d) }

// NewTrigger is that of the simulation.
func (w Simulated) NewTrigger() (Trigger, error) { return w.Reactor.NewTrigger() }

// Each runs body as a subtest on each kind of loop; the simulated one also shuffles what happens at the same time. The
// loop is closed afterwards.
func Each(t *testing.T, body func(t *testing.T, w World)) {
	t.Helper()
	EachInOrder(t, body)
	t.Run("simulated, shuffled", func(t *testing.T) {
		r := simreactor.New(1)
		r.SetShuffle(true)
		runOn(t, Simulated{r}, body)
	})
}

// EachInOrder is Each for a body that needs the order of the starts among what happens at the same time (REACT-09).
func EachInOrder(t *testing.T, body func(t *testing.T, w World)) {
	t.Helper()
	t.Run("libuv", func(t *testing.T) {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		runOn(t, Real{l}, body)
	})
	t.Run("simulated", func(t *testing.T) { runOn(t, Simulated{simreactor.New(1)}, body) })
}

func runOn(t *testing.T, w World, body func(t *testing.T, w World)) {
	t.Cleanup(func() {
		returned := false
		defer func() { assert.True(t, returned, "closing the loop did not return") }()
		assert.NoError(t, w.Close())
		returned = true
		assert.Zero(t, w.Live(), "live in a closed loop")
	})
	body(t, w)
}

// patience ends a test that hangs; no test that passes comes near it.
const patience = 60 * time.Second

// Until turns the loop, waiting for what happens, until done. It fails the test when that does not come.
func Until(t testing.TB, r Reactor, done func() bool) {
	t.Helper()
	var hung atomic.Bool
	dog := time.AfterFunc(patience, func() { hung.Store(true); _ = r.Post(func() {}) })
	defer dog.Stop()
	for !done() {
		_, err := r.Tick(true)
		require.NoError(t, err)
		require.False(t, hung.Load(), "what was waited for has not come after %v", patience)
	}
}

// Run turns the loop until nothing is live or pending.
func Run(t testing.TB, r Reactor) {
	t.Helper()
	Until(t, r, func() bool { return r.Live() == 0 && !r.Pending() })
}

// Tick is one turn that does not wait.
func Tick(t testing.TB, r Reactor) {
	t.Helper()
	_, err := r.Tick(false)
	require.NoError(t, err)
}

// Pass lets at least d go by while the loop turns, so that what should not happen has had time to.
func Pass(t testing.TB, r Reactor, d time.Duration) {
	t.Helper()
	end := r.NewDeadline(func() {})
	end.SetHidden(true)
	require.NoError(t, end.Start(d))
	Until(t, r, func() bool { return !end.Running() })
}
