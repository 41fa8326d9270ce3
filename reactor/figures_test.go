package reactor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// What it costs, by somebody else's count.

func TestFigures_NoAllocationPerFiredTimer(t *testing.T) {
	l := newLoop(t)
	const timers = 100
	fired := 0
	for range timers {
		timer, err := l.NewRearmingTimer(ms)
		require.NoError(t, err)
		_, err = timer.Subscribe(func(*event.Base, *event.Callback, any, error) {
			fired++
			_ = timer.Rearm(ms)
		})
		require.NoError(t, err)
		require.NoError(t, timer.Start())
	}
	allocs := testing.AllocsPerRun(50, func() {
		for end := fired + timers; fired < end; {
			_, _ = l.Tick(true)
		}
	})
	assert.Zero(t, allocs, "for %d timers fired and armed again", timers)
}

func TestFigures_NoAllocationPerFiredPeriodicTimer(t *testing.T) {
	l := newLoop(t)
	fired := 0
	for range 10 {
		timer, err := l.NewPeriodicTimer(ms)
		require.NoError(t, err)
		_, err = timer.Subscribe(func(*event.Base, *event.Callback, any, error) { fired++ })
		require.NoError(t, err)
		require.NoError(t, timer.Start())
	}
	allocs := testing.AllocsPerRun(20, func() {
		for end := fired + 10; fired < end; {
			_, _ = l.Tick(true)
		}
	})
	assert.Zero(t, allocs)
}

func TestFigures_NoAllocationPerFiredPoll(t *testing.T) {
	l := newLoop(t)
	const polls = 64
	fired := 0
	fds := make([]*descriptor, polls)
	buf := make([]byte, 1)
	for i := range fds {
		a, b := socketpair(t)
		fds[i] = b
		fd := a.fd
		p := startPoll(t, l, a, readable)
		_, err := p.Subscribe(func(*event.Base, *event.Callback, any, error) {
			fired++
			_ = readByte(fd, buf)
		})
		require.NoError(t, err)
	}
	allocs := testing.AllocsPerRun(50, func() {
		for _, fd := range fds {
			_ = writeByte(fd.fd, buf)
		}
		for end := fired + polls; fired < end; {
			_, _ = l.Tick(true)
		}
	})
	assert.Zero(t, allocs, "for %d polls that happened", polls)
}

func TestFigures_NoAllocationPerPollStartedAndStopped(t *testing.T) {
	l := newLoop(t)
	a, _ := socketpair(t)
	reader := startPoll(t, l, a, readable)
	on(t, reader, func() {})
	writer := newProxy(t, reader, writable)
	_, err := writer.Subscribe(func(*event.Base, *event.Callback, any, error) { _ = writer.Stop() })
	require.NoError(t, err)
	allocs := testing.AllocsPerRun(100, func() {
		_ = writer.Start()
		_, _ = l.Tick(false)
	})
	assert.Zero(t, allocs)
	assert.False(t, writer.Started())
}

func TestFigures_NoAllocationPerDeadline(t *testing.T) {
	l := newLoop(t)
	fired := 0
	deadlines := make([]reactor.Deadline, 100)
	for i := range deadlines {
		deadlines[i].Init(l, func(*reactor.Deadline) { fired++ })
	}
	allocs := testing.AllocsPerRun(100, func() {
		for i := range deadlines {
			_ = deadlines[i].Start(time.Hour)
		}
		_, _ = l.Tick(false)
		for i := range deadlines {
			deadlines[i].Stop()
		}
	})
	assert.Zero(t, allocs, "for 100 started and stopped")
	allocs = testing.AllocsPerRun(50, func() {
		for i := range deadlines {
			_ = deadlines[i].Start(ms)
		}
		for end := fired + len(deadlines); fired < end; {
			_, _ = l.Tick(true)
		}
	})
	assert.Zero(t, allocs, "for 100 started and fired")
}

func TestFigures_NoAllocationPerFiredTrigger(t *testing.T) {
	l := newLoop(t)
	fired := 0
	trigger, err := l.NewTrigger()
	require.NoError(t, err)
	_, err = trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { fired++ })
	require.NoError(t, err)
	require.NoError(t, trigger.Start())
	allocs := testing.AllocsPerRun(100, func() {
		trigger.Fire()
		_, _ = l.Tick(true)
	})
	assert.Zero(t, allocs)
	assert.Equal(t, 101, fired)
}

func TestFigures_OneCrossingATurn(t *testing.T) {
	l := newLoop(t)
	for range 50 {
		timer, err := l.NewRearmingTimer(ms)
		require.NoError(t, err)
		_, err = timer.Subscribe(func(*event.Base, *event.Callback, any, error) { _ = timer.Rearm(ms) })
		require.NoError(t, err)
		require.NoError(t, timer.Start())
	}
	every := newPeriodic(t, l, ms, func() {})
	require.NoError(t, every.Start())
	buf := make([]byte, 1)
	for range 8 {
		a, b := socketpair(t)
		// A ping-pong with ourselves, so that there is always one that is ready.
		p, q := startPoll(t, l, a, readable), startPoll(t, l, b, readable)
		on(t, p, func() { _ = readByte(a.fd, buf); _ = writeByte(a.fd, buf) })
		on(t, q, func() { _ = readByte(b.fd, buf); _ = writeByte(b.fd, buf) })
		write(t, b, "x")
		writer := newProxy(t, p, writable)
		on(t, writer, func() { _ = writer.Stop() })
		on(t, p, func() { _ = writer.Start() })
	}
	again := func(d *reactor.Deadline) { _ = d.Start(ms) }
	deadlines := make([]reactor.Deadline, 20)
	for i := range deadlines {
		deadlines[i].Init(l, again)
		require.NoError(t, deadlines[i].Start(ms))
	}
	for _, block := range []bool{true, false} {
		for range 50 {
			_, err := l.Tick(block)
			require.NoError(t, err)
		}
		const turns = 500
		happened := 0
		before := runtime.NumCgoCall()
		for range turns {
			n, _ := l.Tick(block)
			happened += n
		}
		calls := runtime.NumCgoCall() - before
		assert.Equal(t, int64(turns), calls, "cgo calls for %d turns in which %d things happened", turns, happened)
		assert.Greater(t, happened, turns)
	}
}
