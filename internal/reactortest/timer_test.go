package reactortest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

func TestTimer_REACT01_IsClosedWhenItsCallbacksRun(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		var timer Event
		timer = newTimer(t, w, 2*ms, func() {
			calls++
			assert.True(t, timer.Closed())
			assert.False(t, timer.Started())
			assert.Zero(t, w.Live())
		})
		asked := w.Now()
		require.NoError(t, timer.Start())
		assert.True(t, timer.Started())
		assert.Equal(t, 1, w.Live())
		Run(t, w)
		assert.Equal(t, 1, calls)
		assert.GreaterOrEqual(t, w.Now().Sub(asked), 2*ms)
		assert.ErrorIs(t, timer.Start(), event.ErrClosed)
		_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) {})
		assert.ErrorIs(t, err, event.ErrClosed)
	})
}

func TestTimer_REACT09_FireInTheOrderOfTheDelays(t *testing.T) {
	EachInOrder(t, func(t *testing.T, w World) {
		var fired []int
		for i, delay := range []time.Duration{5 * ms, 2 * ms, 3 * ms, 2 * ms} {
			startTimer(t, w, delay, func() { fired = append(fired, i) })
		}
		Run(t, w)
		assert.Equal(t, []int{1, 3, 2, 0}, fired)
	})
}

func TestTimer_OfNoTimeFiresInTheNextTurn(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		turns, first, second := 0, 0, 0
		startTimer(t, w, 0, func() {
			first = turns
			startTimer(t, w, 0, func() { second = turns })
		})
		Until(t, w, func() bool { turns++; return second != 0 })
		assert.Equal(t, 1, first)
		assert.Equal(t, 2, second)
	})
}

func TestTimer_REACT07_WhatIsBelowAMillisecondIsOne(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		asked := w.Now()
		startTimer(t, w, 1, func() {})
		Run(t, w)
		assert.GreaterOrEqual(t, w.Now().Sub(asked), ms)
	})
}

func TestTimer_StoppedOneDoesNotFireAndCanStartAnew(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		fired := 0
		timer := startTimer(t, w, 3*ms, func() { fired++ })
		Tick(t, w)
		require.NoError(t, timer.Stop())
		assert.Zero(t, w.Live())
		Pass(t, w, 10*ms)
		assert.Zero(t, fired)
		assert.False(t, timer.Closed())

		asked := w.Now()
		require.NoError(t, timer.Start())
		Run(t, w)
		assert.Equal(t, 1, fired)
		assert.GreaterOrEqual(t, w.Now().Sub(asked), 3*ms)
	})
}

func TestTimer_EVT01_EachStartNeedsItsStop(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		timer := startTimer(t, w, time.Hour, func() {})
		require.NoError(t, timer.Start())
		assert.Equal(t, 1, w.Live())
		require.NoError(t, timer.Stop())
		assert.True(t, timer.Started())
		require.NoError(t, timer.Stop())
		assert.False(t, timer.Started())
		assert.Zero(t, w.Live())
	})
}

func TestTimer_EVT04_HiddenWhileItRuns(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		fired := false
		timer := startTimer(t, w, 2*ms, func() { fired = true })
		timer.SetHidden(true)
		assert.Zero(t, w.Live())
		timer.SetHidden(false)
		assert.Equal(t, 1, w.Live())
		timer.SetHidden(true)
		Until(t, w, func() bool { return fired })
		assert.Zero(t, w.Live())
	})
}

func TestTimer_CloseStopsDisposeDoesNot(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		closed := startTimer(t, w, 2*ms, forbidden(t, "it was closed"))
		require.NoError(t, closed.Close())
		require.NoError(t, closed.Close())
		assert.Zero(t, w.Live())

		fired := false
		dropped := startTimer(t, w, 2*ms, func() { fired = true })
		base := dropped.AsEvent()
		dropped.Dispose()
		assert.ErrorIs(t, dropped.Start(), event.ErrClosed)
		assert.Equal(t, 1, w.Live())
		Run(t, w)
		assert.True(t, fired)
		assert.Zero(t, base.Refs())
	})
}

func TestTimer_StoppedByAnotherOfTheSameTime(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		var pair [2]Event
		calls := 0
		for i := range pair {
			pair[i] = startTimer(t, w, 2*ms, func() {
				calls++
				_ = pair[1-i].Stop() // the one that fired is closed, the other one stops
			})
		}
		Run(t, w)
		Pass(t, w, 5*ms)
		assert.Equal(t, 1, calls)
	})
}

func TestTimer_PanicGivesTheLoopsReferenceBack(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		timer := startTimer(t, w, ms, func() { panic("timer") })
		assert.PanicsWithValue(t, "timer", func() { Run(t, w) })
		assert.Zero(t, w.Live())
		assert.Equal(t, 1, timer.AsEvent().Refs(), "that of the test")
	})
}

func TestTimer_Refuses(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		_, err := w.NewTimer(-1)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

func TestTimer_InfoSaysWhatItDoes(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		timer := newTimer(t, w, 5*ms, func() {})
		assert.Equal(t, "timer of 5ms, not started", timer.Info())
		require.NoError(t, timer.Start())
		assert.Equal(t, "timer of 5ms, started", timer.Info())
		Run(t, w)
		assert.Equal(t, "timer of 5ms, closed", timer.Info())
	})
}
