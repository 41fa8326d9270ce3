package reactortest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

func TestTrigger_REACT14_FiringsBeforeATurnMerge(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		trigger := startTrigger(t, w, func() { calls++ })
		assert.Equal(t, 1, w.Live())
		assert.NotZero(t, trigger.Flags()&event.FlagPeriodic)
		for range 10 {
			trigger.Fire()
		}
		Tick(t, w)
		Tick(t, w)
		assert.Equal(t, 1, calls)
		assert.True(t, trigger.Started(), "it goes on")
		trigger.Fire()
		Tick(t, w)
		assert.Equal(t, 2, calls)
		require.NoError(t, trigger.Stop())
		assert.Zero(t, w.Live())
	})
}

func TestTrigger_REACT14_FiredByItsOwnCallbackHappensInAnotherTurn(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		turns, calls, last := 0, 0, 0
		var trigger Trigger
		trigger = startTrigger(t, w, func() {
			calls++
			assert.NotEqual(t, last, turns)
			last = turns
			trigger.Fire()
		})
		trigger.Fire()
		Until(t, w, func() bool { turns++; return calls == 5 })
	})
}

func TestTrigger_REACT14_FiredBeforeItIsStarted(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		trigger := newTrigger(t, w, func() { calls++ })
		trigger.Fire()
		Tick(t, w)
		assert.Zero(t, calls)
		require.NoError(t, trigger.Start())
		Until(t, w, func() bool { return calls == 1 })

		require.NoError(t, trigger.Stop())
		trigger.Fire()
		Tick(t, w)
		assert.Equal(t, 1, calls)
		require.NoError(t, trigger.Start())
		Until(t, w, func() bool { return calls == 2 })
		require.NoError(t, trigger.Stop())
	})
}

// Whichever comes first, the firing of the other one is kept until that is started again.
func TestTrigger_StoppedByAnotherOfTheSameTurn(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		var pair [2]Trigger
		calls, stopped := 0, 0
		for i := range pair {
			pair[i] = startTrigger(t, w, func() {
				if calls++; calls == 1 {
					stopped = 1 - i
					require.NoError(t, pair[stopped].Stop())
				}
			})
		}
		pair[0].Fire()
		pair[1].Fire()
		Tick(t, w)
		Tick(t, w)
		assert.Equal(t, 1, calls)
		require.NoError(t, pair[stopped].Start())
		Until(t, w, func() bool { return calls == 2 })
	})
}

func TestTrigger_EVT04_HiddenIsNotLive(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		trigger := newTrigger(t, w, func() { calls++ })
		trigger.SetHidden(true)
		require.NoError(t, trigger.Start())
		assert.Zero(t, w.Live())
		trigger.Fire()
		Tick(t, w)
		assert.Equal(t, 1, calls)
		trigger.SetHidden(false)
		assert.Equal(t, 1, w.Live())
		require.NoError(t, trigger.Stop())
		assert.Zero(t, w.Live())
	})
}

func TestTrigger_PanicOfOneLeavesTheOther(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		for range 2 {
			startTrigger(t, w, func() {
				if calls++; calls == 1 {
					panic("trigger")
				}
			}).Fire()
		}
		assert.PanicsWithValue(t, "trigger", func() { _, _ = w.Tick(false) })
		Tick(t, w)
		assert.Equal(t, 2, calls)
		assert.Equal(t, 2, w.Live())
	})
}

func TestTrigger_ClosedOneDoesNothing(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		trigger := startTrigger(t, w, forbidden(t, "it was closed"))
		trigger.Fire()
		require.NoError(t, trigger.Close())
		trigger.Fire()
		Tick(t, w)
		assert.Zero(t, w.Live())
		assert.ErrorIs(t, trigger.Start(), event.ErrClosed)
	})
}
