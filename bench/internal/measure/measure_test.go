package measure

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWorkIsTheSameWithinTheSlack(t *testing.T) {
	w := Work{Starts: 10, Stops: 1, Events: 9, Bytes: 3, Closes: 2, Turns: 5}
	assert.NoError(t, w.SameAs(w, 0))
	assert.NoError(t, w.SameAs(Work{Starts: 10, Stops: 1, Events: 9, Bytes: 3, Closes: 2, Turns: 99}, 0), "turns are not work")
	assert.NoError(t, w.SameAs(Work{Starts: 12, Stops: 1, Events: 7, Bytes: 3, Closes: 2}, 2))
	assert.ErrorContains(t, w.SameAs(Work{Starts: 10, Stops: 1, Events: 6, Bytes: 3, Closes: 2}, 2), "events 9 and 6")
	assert.ErrorContains(t, w.SameAs(Work{Starts: 10, Stops: 1, Events: 9, Bytes: 4, Closes: 2}, 0), "bytes 3 and 4")
}

func TestTimedAddsUpAndPassesTheErrorOn(t *testing.T) {
	var s Sample
	failed := errors.New("failed")
	assert.NoError(t, s.Timed(func() error { time.Sleep(2 * time.Millisecond); return nil }))
	assert.ErrorIs(t, s.Timed(func() error { time.Sleep(2 * time.Millisecond); return failed }), failed)
	assert.GreaterOrEqual(t, s.Wall, 4*time.Millisecond)
	assert.Positive(t, s.CPU)
}

func TestRandomDrawsWithinItsBounds(t *testing.T) {
	r := NewRandom(1)
	for range 10_000 {
		d := r.Milliseconds(3)
		assert.True(t, d == time.Millisecond || d == 2*time.Millisecond || d == 3*time.Millisecond, d)
	}
	for _, d := range r.Delays(10_000, 50*time.Millisecond) {
		assert.True(t, d >= 1 && d <= 50_000_000, d)
	}
}

func TestPickDrawsDifferentNumbers(t *testing.T) {
	r := NewRandom(1)
	picked := slices.Sorted(slices.Values(r.Pick(90, 100)))
	assert.Len(t, slices.Compact(picked), 90)
	assert.Less(t, picked[89], uint32(100))
}
