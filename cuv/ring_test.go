package cuv_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
)

// many is more than the rings begin with, by far.
const many = 100_000

func TestRing_HundredThousandSubmissionsAndCompletionsInOneTurn(t *testing.T) {
	l := newLoop(t)
	timers := make([]cuv.Timer, many)
	owners := make([]owner, many)
	var order []int
	for i := range timers {
		owners[i].fn = func(status int, _ uint64) {
			assert.Zero(t, status)
			order = append(order, i)
		}
		require.NoError(t, timers[i].Start(l, &owners[i], 500*ms, false)) // the turn that starts them takes a while
	}
	turn(t, l, false)
	due := l.Now() + 501*ms
	assert.Equal(t, many, l.Walk()["timer"])
	for uint64(monotonic()) < due { // all that time
	}
	assert.Equal(t, many, turn(t, l, true), "they are all due in this turn")
	require.Len(t, order, many)
	for i, n := range order {
		require.Equal(t, i, n, "libuv's order is kept")
	}

	for i := range timers {
		timers[i].Close(l)
	}
	assert.Equal(t, many, turn(t, l, false), "one close callback each")
	turn(t, l, false)
	assert.Empty(t, l.Walk())
	assert.Equal(t, cuv.HandleCount{Opened: many, Closed: many}, l.Handles(cuv.KindTimer))
}

func TestRing_SubmissionsOfOneHandleAreAppliedInOrder(t *testing.T) {
	l := newLoop(t)
	var last, closed cuv.Timer
	var fires, never owner
	for range many / 2 {
		require.NoError(t, last.Start(l, &fires, 3_600_000*ms, false))
		require.NoError(t, last.Start(l, &fires, ms, false))
		require.NoError(t, closed.Start(l, &never, 0, false))
	}
	closed.Close(l)
	turn(t, l, false)
	turnUntil(t, l, func() bool { return len(fires.statuses) > 0 })
	burn(2 * time.Millisecond)
	turn(t, l, false)
	assert.Len(t, fires.statuses, 1)
	assert.Empty(t, never.statuses)
	last.Close(l)
}

// A flush while completions are being read must not move them: there are two buffers.
func TestRing_FlushWithinDispatch(t *testing.T) {
	l := newLoop(t)
	const n = 10_000
	timers := make([]cuv.Timer, n)
	owners := make([]owner, n)
	others := make([]cuv.Timer, n)
	told := 0
	var unused owner
	for i := range timers {
		owners[i].fn = func(int, uint64) {
			told++
			// Each flush appends close callbacks, and a ring of theirs has to grow.
			require.NoError(t, others[i].Start(l, &unused, ms, false))
			others[i].Close(l)
			timers[i].Close(l)
			l.Flush()
		}
		require.NoError(t, timers[i].Start(l, &owners[i], ms, false))
	}
	turn(t, l, false)
	burn(3 * time.Millisecond)
	turn(t, l, false)
	assert.Equal(t, n, told)
	turnUntil(t, l, func() bool { return l.Handles(cuv.KindTimer).Closed == l.Handles(cuv.KindTimer).Opened })
	assert.Empty(t, unused.statuses)
	assert.Empty(t, l.Walk())
}

func TestRing_UndeliveredCompletionsComeBeforeAnotherTurn(t *testing.T) {
	l := newLoop(t)
	var timers [5]cuv.Timer
	var owners [5]owner
	var order []int
	for i := range timers {
		owners[i].fn = func(int, uint64) {
			order = append(order, i)
			if i == 1 {
				panic("owner")
			}
		}
		require.NoError(t, timers[i].Start(l, &owners[i], ms, false))
	}
	turn(t, l, false)
	burn(3 * time.Millisecond)
	n, err := l.Tick(true)
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	assert.Equal(t, 5, l.Undelivered())
	assert.Panics(t, l.Dispatch)
	assert.False(t, l.Dispatching())
	assert.Equal(t, 3, l.Undelivered())
	before := l.Turn()
	n, err = l.Tick(true)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	assert.Equal(t, before, l.Turn(), "it does nothing while completions wait")
	l.Dispatch()
	assert.Equal(t, []int{0, 1, 2, 3, 4}, order)
	for i := range timers {
		timers[i].Close(l)
	}
}

func TestRing_StaleCompletionsAreDropped(t *testing.T) {
	for name, change := range map[string]func(l *cuv.Loop, timer *cuv.Timer, o *owner){
		"closed":       func(l *cuv.Loop, timer *cuv.Timer, _ *owner) { timer.Close(l) },
		"started anew": func(l *cuv.Loop, timer *cuv.Timer, o *owner) { _ = timer.Start(l, o, 3_600_000*ms, false) },
		"closed and started": func(l *cuv.Loop, timer *cuv.Timer, o *owner) {
			timer.Close(l)
			_ = timer.Start(l, o, 3_600_000*ms, false)
		},
		"closed, and the loop flushed": func(l *cuv.Loop, timer *cuv.Timer, _ *owner) { timer.Close(l); l.Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			var timer cuv.Timer
			var o owner
			require.NoError(t, timer.Start(l, &o, 5*ms, false))
			turn(t, l, false)
			burn(6 * time.Millisecond)
			n, err := l.Tick(false)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			change(l, &timer, &o)
			l.Dispatch()
			turn(t, l, false)
			turn(t, l, false)
			assert.Empty(t, o.statuses)
			timer.Close(l)
		})
	}
}

// The memory of a closed handle may not serve another before libuv has called back, or the other would hear of what the
// first one did.
func TestRing_SlotIsNotReusedBeforeTheCloseCallback(t *testing.T) {
	l := newLoop(t)
	for range 50 {
		var first, second cuv.Timer
		var a, b owner
		require.NoError(t, first.Start(l, &a, 5*ms, false))
		turn(t, l, false)
		burn(6 * time.Millisecond)
		_, err := l.Tick(false)
		require.NoError(t, err)
		first.Close(l)
		require.NoError(t, second.Start(l, &b, 3_600_000*ms, false))
		l.Dispatch()
		turn(t, l, false)
		assert.Empty(t, a.statuses)
		assert.Empty(t, b.statuses)
		second.Close(l)
		turn(t, l, false)
	}
	turn(t, l, false)
	assert.Empty(t, l.Walk())
}

func TestRing_PollThatGrewKeepsItsCompletionAndOneThatIsFreshDoesNot(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		l := newLoop(t)
		r, w := pipe(t)
		var p cuv.Poll
		var o owner
		require.NoError(t, p.Open(l, &o, r))
		p.Watch(l, cuv.Readable, true, false)
		writeByte(t, w)
		n, err := l.Tick(false)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		p.Watch(l, cuv.Readable|cuv.Disconnect, fresh, false)
		l.Dispatch()
		if fresh {
			assert.Empty(t, o.statuses)
		} else {
			assert.Equal(t, []uint64{uint64(cuv.Readable)}, o.payloads)
		}
		before := len(o.statuses)
		turn(t, l, false)
		assert.Len(t, o.statuses, before+1, "level-triggered")
		p.Close(l, false)
	}
}
