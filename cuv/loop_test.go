package cuv_test

import (
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/foreign"
)

func TestLoop_TickAndCloseWithinDispatchAreRefused(t *testing.T) {
	l := newLoop(t)
	checked := 0
	check := func() {
		checked++
		assert.True(t, l.Dispatching())
		_, err := l.Tick(false)
		assert.ErrorIs(t, err, cuv.ErrDispatching)
		assert.ErrorIs(t, l.Close(), cuv.ErrDispatching)
		l.Shut() // ends nothing here
		l.Dispatch()
	}
	var timer cuv.Timer
	require.NoError(t, timer.Start(l, &owner{fn: func(int, uint64) { check() }}, ms, false))
	require.NoError(t, l.Poster().Post(check))
	turnUntil(t, l, func() bool { return checked == 2 })
	assert.False(t, l.Dispatching())
	require.NoError(t, l.Poster().Post(func() { checked++ }), "Shut within Dispatch did nothing")
	turn(t, l, false)
	assert.Equal(t, 3, checked)
	timer.Close(l)
}

func TestLoop_EverythingAnswersAfterClose(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	var timer, never cuv.Timer
	var poll cuv.Poll
	var async cuv.Async
	o := &owner{}
	require.NoError(t, timer.Start(l, o, 0, false))
	require.NoError(t, poll.Open(l, o, r))
	require.NoError(t, async.Open(l, o, false))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	assert.Equal(t, 3, o.closings, "every owner is told once")
	assert.Empty(t, o.statuses)

	_, err := l.Tick(true)
	assert.ErrorIs(t, err, cuv.ErrClosed)
	assert.ErrorIs(t, timer.Start(l, o, 0, false), cuv.ErrClosed)
	assert.ErrorIs(t, never.Start(l, o, 0, false), cuv.ErrClosed)
	assert.ErrorIs(t, never.StartAt(l, o, 0, false), cuv.ErrClosed)
	assert.ErrorIs(t, never.StartSooner(l, o, 0, false), cuv.ErrClosed)
	assert.ErrorIs(t, never.StartPeriodic(l, o, 1, false), cuv.ErrClosed)
	assert.ErrorIs(t, new(cuv.Poll).Open(l, o, r), cuv.ErrClosed)
	assert.ErrorIs(t, new(cuv.Async).Open(l, o, false), cuv.ErrClosed)
	assert.ErrorIs(t, l.Poster().Post(func() {}), cuv.ErrClosed)
	timer.Close(l)
	poll.Watch(l, cuv.Readable, true, false)
	poll.Close(l, true)
	assert.NotPanics(t, func() { nonblocking(t, r) }, "the descriptor is still the caller's")
	async.Close(l)
	assert.False(t, async.Send())
	timer.Hide(l, true)
	async.Hide(l, true)
	l.Flush()
	l.Dispatch()
	l.Shut()
	assert.Nil(t, l.Handle())
	assert.Empty(t, l.Walk())
	assert.Zero(t, l.Now())
	assert.Zero(t, l.Turn())
	assert.Zero(t, l.LoopTime())
	assert.Zero(t, l.IdleTime())
	assert.Zero(t, l.Undelivered())
	for _, k := range cuv.Kinds {
		assert.Zero(t, l.Handles(k))
	}
}

// Nobody is obliged to close the handle from LoopClosing, and senders know nothing of the loop.
func TestAsync_SendAfterTheLoopClosedIt(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		var async cuv.Async
		require.NoError(t, async.Open(l, &owner{}, false))
		require.NoError(t, l.Close())
		assert.False(t, async.Send(), "its memory is gone")
	})
}

func TestLoop_REACT19_CloseDrainsWhatIsClosing(t *testing.T) {
	before := cuv.ProcessHandles()
	l := newLoop(t)
	o := &owner{}
	timers := make([]cuv.Timer, 10_000)
	for i := range timers {
		require.NoError(t, timers[i].Start(l, o, 0, false))
	}
	turn(t, l, false)
	for i := range timers {
		if i%2 == 0 {
			timers[i].Close(l)
		}
	}
	require.NoError(t, l.Close())
	assert.Equal(t, len(timers)/2, o.closings)
	told := len(o.statuses)
	after := cuv.ProcessHandles()[cuv.KindTimer]
	assert.Equal(t, uint64(len(timers)), after.Opened-before[cuv.KindTimer].Opened)
	assert.Equal(t, uint64(len(timers)), after.Closed-before[cuv.KindTimer].Closed)
	assert.Len(t, o.statuses, told)
}

func TestLoop_CloseNamesForeignHandles(t *testing.T) {
	l := newLoop(t)
	theirs := foreign.NewTimer(l.Handle(), 1<<40, 0, func() {})
	var timer cuv.Timer
	require.NoError(t, timer.Start(l, &owner{}, 0, false))
	err := l.Close()
	assert.ErrorIs(t, err, syscall.EBUSY)
	assert.ErrorContains(t, err, "timer:1")
	assert.ErrorIs(t, l.Poster().Post(func() {}), cuv.ErrClosed)
	theirs.Close()
	require.NoError(t, l.Close())
	theirs.Free()
}

func TestLoop_CloseOfForeignHandleInTheirOwnCallback(t *testing.T) {
	l := newLoop(t)
	var theirs *foreign.Handle
	theirs = foreign.NewTimer(l.Handle(), 1, 0, func() { theirs.Close() })
	turnUntil(t, l, func() bool { return theirs.Closed() })
	theirs.Free()
}

func TestLoop_ClockAndTurnsGoForward(t *testing.T) {
	l := newLoop(t)
	turn(t, l, false)
	for range 20 {
		now, turns, time0 := l.Now(), l.Turn(), l.LoopTime()
		burn(200 * time.Microsecond)
		turn(t, l, false)
		assert.Greater(t, l.Now(), now)
		assert.Equal(t, turns+1, l.Turn())
		assert.GreaterOrEqual(t, l.LoopTime(), time0)
		assert.LessOrEqual(t, l.LoopTime()*ms, uint64(monotonic()), "it never runs ahead of the clock")
	}
}

func TestLoop_BlockingTickWithOnlyHiddenHandlesSleeps(t *testing.T) {
	l := newLoop(t)
	var hidden cuv.Timer
	require.NoError(t, hidden.Start(l, &owner{}, 3_600_000*ms, true))
	start := time.Now()
	wake := time.AfterFunc(5*time.Millisecond, func() { _ = l.Poster().Post(func() {}) })
	defer wake.Stop()
	turn(t, l, true)
	assert.GreaterOrEqual(t, time.Since(start), 5*time.Millisecond)
	hidden.Close(l)
}

func TestLoop_HideMovesHandlesOutOfWhatKeepsAForeignRunGoing(t *testing.T) {
	l := newLoop(t)
	var timer cuv.Timer
	var async cuv.Async
	require.NoError(t, timer.Start(l, &owner{}, 3_600_000*ms, true))
	require.NoError(t, async.Open(l, &owner{}, true))
	turn(t, l, false)
	wake := map[string]int{"async": 1} // the loop's own
	assert.Equal(t, wake, foreign.Referenced(l.Handle()))
	timer.Hide(l, false)
	async.Hide(l, false)
	turn(t, l, false)
	assert.Equal(t, map[string]int{"async": 2, "timer": 1}, foreign.Referenced(l.Handle()))
	timer.Hide(l, true)
	timer.Hide(l, true)
	turn(t, l, false)
	assert.Equal(t, map[string]int{"async": 2}, foreign.Referenced(l.Handle()))
	require.NoError(t, timer.Start(l, &owner{}, 3_600_000*ms, false), "a start says it anew")
	turn(t, l, false)
	assert.Equal(t, map[string]int{"async": 2, "timer": 1}, foreign.Referenced(l.Handle()))
	timer.Close(l)
	async.Close(l)
	turn(t, l, false)
	assert.Equal(t, wake, foreign.Referenced(l.Handle()))
}

func TestLoop_OptionsThatLibuvRefuses(t *testing.T) {
	_, err := cuv.NewLoop(cuv.Options{BlockSignal: syscall.SIGUSR1})
	var typed *cuv.Error
	require.ErrorAs(t, err, &typed)
	assert.ErrorIs(t, err, syscall.EINVAL)
	assert.Equal(t, "uv_loop_configure(UV_LOOP_BLOCK_SIGNAL)", typed.Op)

	l, err := cuv.NewLoop(cuv.Options{IdleTime: true, BlockSignal: syscall.SIGPROF})
	require.NoError(t, err)
	var timer cuv.Timer
	o := &owner{}
	require.NoError(t, timer.Start(l, o, 5*ms, false))
	for len(o.statuses) == 0 {
		turn(t, l, true)
	}
	assert.Positive(t, l.IdleTime())
	require.NoError(t, l.Close())
}

func TestLoop_VersionIsThatOfTheLinkedLibrary(t *testing.T) {
	parts := strings.Split(cuv.Version(), ".")
	require.Len(t, parts, 3)
	minor, err := strconv.Atoi(parts[1])
	require.NoError(t, err)
	assert.Equal(t, "1", parts[0])
	assert.GreaterOrEqual(t, minor, 44)
	t.Log("libuv", cuv.Version())
}

func TestPoster_OrderWakeAndShut(t *testing.T) {
	l := newLoop(t)
	var order []int
	for i := range 1000 {
		require.NoError(t, l.Poster().Post(func() { order = append(order, i) }))
	}
	assert.True(t, l.Poster().Pending())
	turn(t, l, true) // does not sleep: posts are waiting
	assert.False(t, l.Poster().Pending())
	require.Len(t, order, 1000)
	for i, n := range order {
		require.Equal(t, i, n)
	}

	ran := false
	require.NoError(t, l.Poster().Post(func() {
		ran = true
		assert.ErrorIs(t, l.Poster().Post(func() { t.Error("refused") }), cuv.ErrClosed)
	}))
	l.Shut()
	assert.True(t, ran)
	l.Shut()
	assert.ErrorIs(t, l.Poster().Post(func() {}), cuv.ErrClosed)
}

func TestPoster_PostRacesTheCloseOfTheLoop(t *testing.T) {
	for range 200 {
		l, err := cuv.NewLoop(cuv.Options{})
		require.NoError(t, err)
		var group sync.WaitGroup
		begin := make(chan struct{})
		accepted, ran := [4]int{}, 0
		for g := range 4 {
			group.Go(func() {
				<-begin
				for l.Poster().Post(func() { ran++ }) == nil {
					accepted[g]++
				}
			})
		}
		close(begin)
		turn(t, l, true)
		require.NoError(t, l.Close())
		group.Wait()
		require.Equal(t, accepted[0]+accepted[1]+accepted[2]+accepted[3], ran)
	}
}
