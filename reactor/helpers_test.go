package reactor_test

import (
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	require.TestingT
	Helper()
	Cleanup(func())
	Fatalf(string, ...any)
	Logf(string, ...any)
}

// patience ends a test that hangs; no test that passes comes near it.
const patience = 60 * time.Second

func newLoop(t tester, options ...reactor.Options) *reactor.Loop {
	t.Helper()
	var o reactor.Options
	if len(options) > 0 {
		o = options[0]
	}
	l, err := reactor.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

// run runs the loop until nothing visible is left.
func run(t tester, l *reactor.Loop) {
	t.Helper()
	var hung atomic.Bool
	dog := time.AfterFunc(patience, func() { hung.Store(true); l.Stop() })
	defer dog.Stop()
	require.NoError(t, l.Run())
	if hung.Load() {
		t.Fatalf("the loop still runs after %v: %+v", patience, l.Stats())
	}
}

// turnUntil turns the loop, sleeping between what happens, until done.
func turnUntil(t tester, l *reactor.Loop, done func() bool) {
	t.Helper()
	var hung atomic.Bool
	dog := time.AfterFunc(patience, func() { hung.Store(true); _ = l.Post(func() {}) })
	defer dog.Stop()
	for !done() {
		_, err := l.Tick(true)
		require.NoError(t, err)
		if hung.Load() {
			t.Fatalf("what was waited for has not come after %v: %+v", patience, l.Stats())
		}
	}
}

// turnFor turns the loop for at least d, so that what should not happen has had time to.
func turnFor(t tester, l *reactor.Loop, d time.Duration) {
	t.Helper()
	var end reactor.Deadline
	end.Init(l, func(*reactor.Deadline) {})
	end.SetHidden(true)
	require.NoError(t, end.Start(d))
	turnUntil(t, l, func() bool { return !end.Running() })
}

// tick is one turn that does not sleep.
func tick(t tester, l *reactor.Loop) {
	t.Helper()
	_, err := l.Tick(false)
	require.NoError(t, err)
}

// burn keeps the processor busy for at least d.
func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

type subscriber interface {
	Subscribe(event.Func) (*event.Callback, error)
}

// on subscribes fn.
func on(t tester, s subscriber, fn func()) *event.Callback {
	t.Helper()
	cb, err := s.Subscribe(func(*event.Base, *event.Callback, any, error) { fn() })
	require.NoError(t, err)
	return cb
}

func newTimer(t tester, l *reactor.Loop, d time.Duration, fn func()) *reactor.Timer {
	t.Helper()
	timer, err := l.NewTimer(d)
	require.NoError(t, err)
	on(t, timer, fn)
	return timer
}

func newPeriodic(t tester, l *reactor.Loop, d time.Duration, fn func()) *reactor.Timer {
	t.Helper()
	timer, err := l.NewPeriodicTimer(d)
	require.NoError(t, err)
	on(t, timer, fn)
	return timer
}

func newRearming(t tester, l *reactor.Loop, d time.Duration, fn func()) *reactor.Timer {
	t.Helper()
	timer, err := l.NewRearmingTimer(d)
	require.NoError(t, err)
	on(t, timer, fn)
	return timer
}

// startTimer makes a timer, subscribes fn and starts it.
func startTimer(t tester, l *reactor.Loop, d time.Duration, fn func()) *reactor.Timer {
	t.Helper()
	timer := newTimer(t, l, d, fn)
	require.NoError(t, timer.Start())
	return timer
}

func startDeadline(t tester, l *reactor.Loop, delay time.Duration, fn func()) *reactor.Deadline {
	t.Helper()
	d := &reactor.Deadline{}
	d.Init(l, func(*reactor.Deadline) { fn() })
	require.NoError(t, d.Start(delay))
	return d
}

// newRand returns a source whose seed is in the test's log.
func newRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewSource(seed))
}

// scaled shortens a long run: much where every step costs more, and under -short.
func scaled(n int) int {
	if sanitized {
		n /= 20
	}
	if testing.Short() {
		n /= 10
	}
	return max(n, 1)
}

// races is how often a race is tried: not fewer times where the race detector looks on.
func races(n int) int {
	if testing.Short() {
		n /= 10
	}
	return n
}

// lateness collects how late, and whether early, things happened. A wake-up that is late is no mistake: the machine may
// be busy. One that is early always is.
type lateness struct {
	n            int
	early, worst time.Duration
}

func (m *lateness) note(asked time.Time, delay time.Duration) {
	late := time.Since(asked) - delay
	m.n++
	m.early = max(m.early, -late)
	m.worst = max(m.worst, late)
}

func (m *lateness) check(t tester, what string, n int) {
	t.Helper()
	t.Logf("%d %s: the latest was %v late", m.n, what, m.worst)
	assert.Equal(t, n, m.n, "%s that fired", what)
	assert.Zero(t, m.early, "the earliest of %s was too early by", what)
}
