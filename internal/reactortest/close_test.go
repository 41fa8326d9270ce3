package reactortest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

func TestClose_EndsWhatIsStartedWithoutTelling(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		never := forbidden(t, "the loop is closed")
		deadlines := []event.Deadline{startDeadline(t, w, ms, never), startDeadline(t, w, time.Hour, never)}
		hidden := w.NewDeadline(never)
		hidden.SetHidden(true)
		require.NoError(t, hidden.Start(ms))
		timer, trigger := startTimer(t, w, time.Hour, never), startTrigger(t, w, never)
		trigger.Fire()
		idleTimer, idleTrigger := newTimer(t, w, ms, never), newTrigger(t, w, never)
		require.NoError(t, w.Close())

		assert.Zero(t, w.Live())
		for _, d := range append(deadlines, hidden) {
			assert.False(t, d.Running())
			assert.False(t, d.Stop())
			assert.ErrorIs(t, d.Start(ms), event.ErrClosed)
		}
		for _, e := range []Event{timer, trigger} {
			assert.True(t, e.Closed())
			assert.Equal(t, 1, e.AsEvent().Refs(), "that of the test")
		}
		for _, e := range []Event{timer, trigger, idleTimer, idleTrigger} {
			assert.False(t, e.Started())
			assert.ErrorIs(t, e.Start(), event.ErrClosed)
		}
		trigger.Fire()
		require.NoError(t, w.Close(), "again")
	})
}

func TestClose_WhatWasPostedRunsAndNothingAfterIt(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		ran := false
		require.NoError(t, w.Post(func() {
			ran = true
			assert.ErrorIs(t, w.Post(func() {}), event.ErrClosed)
			startTimer(t, w, 0, forbidden(t, "the loop is closed"))
			startDeadline(t, w, 0, forbidden(t, "the loop is closed"))
		}))
		require.NoError(t, w.Close())
		assert.True(t, ran)
		assert.False(t, w.Pending())
		assert.Zero(t, w.Live())
	})
}

func TestClose_EverythingAnswersErrClosed(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		require.NoError(t, w.Close())
		for _, block := range []bool{false, true} {
			_, err := w.Tick(block)
			assert.ErrorIs(t, err, event.ErrClosed)
		}
		assert.ErrorIs(t, w.Post(func() {}), event.ErrClosed)
		assert.ErrorIs(t, w.NewDeadline(func() {}).Start(ms), event.ErrClosed)
		_, err := w.NewTimer(ms)
		assert.ErrorIs(t, err, event.ErrClosed)
		_, err = w.NewTrigger()
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.False(t, w.Pending())
	})
}

// What a panic has left belongs to no turn any more, and must still be counted out.
func TestClose_AfterAPanic(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		fail := func() { calls++; panic("first") }
		for range 3 {
			startDeadline(t, w, 2*ms, fail)
			startTimer(t, w, 2*ms, fail)
			startTrigger(t, w, fail)
		}
		assert.PanicsWithValue(t, "first", func() { Run(t, w) })
		assert.Equal(t, 8, w.Live())
		ran := false
		require.NoError(t, w.Post(func() { ran = true }))
		require.NoError(t, w.Close())
		assert.True(t, ran)
		assert.Equal(t, 1, calls)
		assert.Zero(t, w.Live())
	})
}
