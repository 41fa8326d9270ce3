package cuv_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
)

func TestTimer_REACT09_CountsFromTheClockOfTheTickThatAppliesIt(t *testing.T) {
	l := newLoop(t)
	burn(5 * time.Millisecond)
	var timer cuv.Timer
	var o owner
	require.NoError(t, timer.Start(l, &o, 3*ms+500, false))
	burn(5 * time.Millisecond)
	asked := time.Now()
	turn(t, l, false)
	due := l.Now() + 3*ms + 500
	turnUntil(t, l, func() bool { return len(o.statuses) > 0 })
	assert.GreaterOrEqual(t, time.Since(asked), 3*time.Millisecond+500)
	assert.Equal(t, []uint64{due}, o.payloads, "the payload is the time at which it was due")
	assert.Equal(t, []int{0}, o.statuses)
	assert.GreaterOrEqual(t, l.LoopTime()*ms, due)
	timer.Close(l)
}

func TestTimer_REACT02_PeriodicStaysOnItsGrid(t *testing.T) {
	l := newLoop(t)
	const period = 1_700_000
	var timer cuv.Timer
	var o owner
	var origin uint64
	o.fn = func(_ int, due uint64) {
		assert.Zero(t, (due-origin)%period, "no drift: every firing is at a whole number of periods")
		assert.GreaterOrEqual(t, due, origin+uint64(len(o.payloads))*period, "the k-th is not before k periods")
		assert.GreaterOrEqual(t, l.LoopTime()*ms, due)
		if len(o.payloads)%10 == 0 {
			burn(5 * period)
		}
	}
	require.NoError(t, timer.StartPeriodic(l, &o, period, false))
	turn(t, l, false)
	origin = l.Now()
	turnUntil(t, l, func() bool { return len(o.payloads) == 50 })
	for i := 1; i < 50; i++ {
		assert.Greater(t, o.payloads[i], o.payloads[i-1])
	}
	assert.GreaterOrEqual(t, o.payloads[49], origin+(50+4*3)*period, "what was missed merged")
	timer.Close(l)
}

func TestTimer_StartAtIsAbsolute(t *testing.T) {
	l := newLoop(t)
	turn(t, l, false)
	var past, future cuv.Timer
	var p, f owner
	require.NoError(t, past.StartAt(l, &p, 0, false))
	at := l.Now() + 4*ms
	require.NoError(t, future.StartAt(l, &f, at, false))
	turn(t, l, false)
	assert.Len(t, p.statuses, 1, "what is over fires in the next turn")
	turnUntil(t, l, func() bool { return len(f.statuses) > 0 })
	assert.Equal(t, []uint64{at}, f.payloads)
	past.Close(l)
	future.Close(l)
}

func TestTimer_StartSoonerNeverPostpones(t *testing.T) {
	l := newLoop(t)
	var timer cuv.Timer
	var o owner
	require.NoError(t, timer.StartSooner(l, &o, 3_600_000*ms, false))
	turn(t, l, false)
	require.NoError(t, timer.StartSooner(l, &o, 2*ms, false))
	turn(t, l, false)
	due := l.Now() + 2*ms
	require.NoError(t, timer.StartSooner(l, &o, 3_600_000*ms, false))
	turnUntil(t, l, func() bool { return len(o.statuses) > 0 })
	assert.Equal(t, []uint64{due}, o.payloads)

	require.NoError(t, timer.StartSooner(l, &o, ms, false), "it has fired: any time is sooner")
	turnUntil(t, l, func() bool { return len(o.statuses) == 2 })
	timer.Close(l)
}

func TestTimer_REACT07_EnormousDelaysNeverFire(t *testing.T) {
	l := newLoop(t)
	var never owner
	delays := []uint64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2, math.MaxUint64 / 2}
	timers := make([]cuv.Timer, 2*len(delays))
	for i, d := range delays {
		require.NoError(t, timers[2*i].Start(l, &never, d, false))
		require.NoError(t, timers[2*i+1].StartPeriodic(l, &never, d, false))
	}
	var timer cuv.Timer
	var o owner
	for range 5 {
		require.NoError(t, timer.Start(l, &o, ms, false))
		before := len(o.statuses)
		turnUntil(t, l, func() bool { return len(o.statuses) > before })
	}
	assert.Empty(t, never.statuses)
	timer.Close(l)
	for i := range timers {
		timers[i].Close(l)
	}
}

func TestTimer_CloseIsIdempotentAndStartMayFollow(t *testing.T) {
	l := newLoop(t)
	var timer cuv.Timer
	var o owner
	timer.Close(l)
	assert.False(t, timer.IsOpen())
	for round := 1; round <= 3; round++ {
		require.NoError(t, timer.Start(l, &o, ms, false))
		assert.True(t, timer.IsOpen())
		turnUntil(t, l, func() bool { return len(o.statuses) == round })
		timer.Close(l)
		timer.Close(l)
		assert.False(t, timer.IsOpen())
	}
	turn(t, l, false)
	turn(t, l, false)
	assert.Empty(t, l.Walk())
}

func TestTimer_StartedAndClosedWithinATurnNeverReachesLibuv(t *testing.T) {
	l := newLoop(t)
	var o owner
	for range 1000 {
		var timer cuv.Timer
		require.NoError(t, timer.Start(l, &o, 0, false))
		timer.Close(l)
	}
	turn(t, l, false)
	turn(t, l, false)
	turn(t, l, false)
	assert.Empty(t, o.statuses)
	assert.Empty(t, l.Walk())
	h := l.Handles(cuv.KindTimer)
	assert.Equal(t, h.Opened, h.Closed)
}
