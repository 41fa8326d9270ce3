package simreactor_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
)

func TestClock_StandsStillWithoutBlocking(t *testing.T) {
	r := newReactor(t)
	assert.Equal(t, simreactor.Epoch, r.Now())
	d := start(t, r, ms, func() {})
	for range 100 {
		assert.Zero(t, tick(t, r, false))
	}
	assert.Equal(t, simreactor.Epoch, r.Now())
	d.Stop()
}

func TestClock_BlockingJumpsExactlyToTheFirst(t *testing.T) {
	r := newReactor(t)
	var at []time.Duration
	for _, d := range []time.Duration{3 * time.Hour, 1500 * time.Microsecond, 1, 24 * 365 * time.Hour} {
		start(t, r, d, func() { at = append(at, elapsed(r)) })
	}
	for range 4 {
		assert.Equal(t, 1, tick(t, r, true))
	}
	assert.Equal(t, []time.Duration{ms, 1500 * time.Microsecond, 3 * time.Hour, 24 * 365 * time.Hour}, at)
}

func TestClock_BlockingDoesNotJumpOverWorkThatIsThere(t *testing.T) {
	r := newReactor(t)
	start(t, r, ms, func() {})
	require.NoError(t, r.Post(func() {}))
	tick(t, r, true)
	trigger, err := r.NewTrigger()
	require.NoError(t, err)
	require.NoError(t, trigger.Start())
	trigger.Fire()
	tick(t, r, true)
	assert.Zero(t, elapsed(r))
	tick(t, r, true)
	assert.Equal(t, ms, elapsed(r))
}

func TestClock_StoppedDeadlinesDoNotMoveIt(t *testing.T) {
	r := newReactor(t)
	start(t, r, ms, func() {}).Stop()
	start(t, r, time.Second, func() {})
	run(t, r)
	assert.Equal(t, time.Second, elapsed(r))
}

func TestAdvance_MakesThingsDueForTheNextTurnInTheOrderOfTheirTimes(t *testing.T) {
	r := newReactor(t)
	r.SetShuffle(true) // which leaves what is due at different times alone
	var got []int
	for _, i := range []int{3, 1, 4, 2, 5} {
		start(t, r, time.Duration(i)*time.Second, func() { got = append(got, i) })
	}
	require.NoError(t, r.Advance(4*time.Second))
	assert.Empty(t, got)
	assert.Equal(t, 4*time.Second, elapsed(r))
	assert.Equal(t, 4, tick(t, r, false))
	assert.Equal(t, []int{1, 2, 3, 4}, got)
	assert.Equal(t, 1, tick(t, r, true))
	assert.Equal(t, 5*time.Second, elapsed(r))
}

// A callback that takes long delays what it starts by as much, and not less.
func TestAdvance_WithinACallback(t *testing.T) {
	r := newReactor(t)
	var at []time.Duration
	note := func() { at = append(at, elapsed(r)) }
	start(t, r, time.Second, func() {
		require.NoError(t, r.Advance(10*time.Second))
		start(t, r, time.Second, note)
	})
	start(t, r, 2*time.Second, note)
	run(t, r)
	assert.Equal(t, []time.Duration{11 * time.Second, 12 * time.Second}, at)
}

func TestAdvance_Refuses(t *testing.T) {
	r := newReactor(t)
	assert.ErrorIs(t, r.Advance(-1), event.ErrInvalidArgument)
	require.NoError(t, r.Advance(math.MaxInt64-1))
	assert.ErrorIs(t, r.Advance(1), event.ErrInvalidArgument)
	assert.Equal(t, time.Duration(math.MaxInt64-1), elapsed(r))
	require.NoError(t, r.Advance(0))
	require.NoError(t, r.Close())
	assert.ErrorIs(t, r.Advance(0), event.ErrClosed)
}

// A delay that leads out of the clock's range would be early wherever it were put.
func TestClock_REACT07_WhatIsBeyondItsRangeNeverComes(t *testing.T) {
	r := newReactor(t)
	require.NoError(t, r.Advance(time.Hour))
	d := start(t, r, math.MaxInt64-time.Duration(time.Hour), func() { t.Error("never") })
	_, err := r.Tick(true)
	require.ErrorIs(t, err, event.ErrNotSimulated)
	assert.True(t, d.Running())
	assert.Equal(t, time.Hour, elapsed(r))
	d.Stop()

	fired := false
	start(t, r, math.MaxInt64-time.Duration(time.Hour)-1, func() { fired = true })
	run(t, r)
	assert.True(t, fired, "the last moment there is")
}

func TestTick_WithNothingToWaitForSaysSo(t *testing.T) {
	r := newReactor(t)
	trigger, err := r.NewTrigger()
	require.NoError(t, err)
	require.NoError(t, trigger.Start())
	_, err = r.Tick(true)
	require.ErrorIs(t, err, event.ErrNotSimulated)
	assert.ErrorContains(t, err, "Reactor.Tick: it would wait for ever")
	assert.ErrorContains(t, err, "1 events live")
	tick(t, r, false) // which does not wait

	trigger.Fire()
	tick(t, r, true)
}
