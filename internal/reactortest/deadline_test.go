package reactortest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

func TestDeadline_REACT09_IsNeverEarly(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		fired := 0
		for i := range 200 {
			delay := ms + time.Duration(i)*31*time.Microsecond
			asked := w.Now()
			startDeadline(t, w, delay, func() {
				fired++
				assert.GreaterOrEqual(t, w.Now().Sub(asked), delay)
			})
			if i%20 == 0 {
				Tick(t, w)
			}
		}
		Run(t, w)
		assert.Equal(t, 200, fired)
	})
}

func TestDeadline_REACT07_WhatIsBelowAMillisecondIsOne(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		for _, delay := range []time.Duration{1, time.Microsecond, ms - 1} {
			asked, fired := w.Now(), false
			startDeadline(t, w, delay, func() { fired = true })
			Run(t, w)
			assert.True(t, fired)
			assert.GreaterOrEqual(t, w.Now().Sub(asked), ms)
		}
	})
}

func TestDeadline_REACT07_EnormousOnesAreNotEarly(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		var long []event.Deadline
		for _, delay := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2} {
			long = append(long, startDeadline(t, w, delay, forbidden(t, "centuries are not over")))
		}
		for range 3 {
			Pass(t, w, 3*ms)
		}
		assert.Equal(t, len(long), w.Live())
		for _, d := range long {
			assert.True(t, d.Stop())
		}
		Run(t, w)
	})
}

func TestDeadline_REACT09_OneTurnFiresInTheOrderOfTheDelays(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		delays := []time.Duration{7 * ms, 2 * ms, 300 * ms, 2*ms + 1, 5 * ms, ms, 2*ms - 1, 260 * ms}
		var fired []time.Duration
		for _, delay := range delays {
			startDeadline(t, w, delay, func() { fired = append(fired, delay) })
		}
		Run(t, w)
		assert.Equal(t, []time.Duration{ms, 2*ms - 1, 2 * ms, 2*ms + 1, 5 * ms, 7 * ms, 260 * ms, 300 * ms}, fired)
	})
}

func TestDeadline_REACT09_EqualDelaysFireInTheOrderOfTheStarts(t *testing.T) {
	EachInOrder(t, func(t *testing.T, w World) {
		const n = 100
		all := make([]event.Deadline, n)
		var fired, want []int
		for i := range n {
			all[i] = w.NewDeadline(func() { fired = append(fired, i) })
		}
		for i := n - 1; i >= 0; i-- {
			want = append(want, i)
			require.NoError(t, all[i].Start(3*ms))
		}
		Run(t, w)
		assert.Equal(t, want, fired)
	})
}

func TestDeadline_StopReportsWhetherItWasRunning(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		d := w.NewDeadline(forbidden(t, "it was stopped"))
		assert.False(t, d.Running())
		assert.False(t, d.Stop())
		require.NoError(t, d.Start(2*ms))
		assert.True(t, d.Running())
		assert.True(t, d.Stop())
		assert.False(t, d.Running())
		assert.False(t, d.Stop())
		require.NoError(t, d.Start(2*ms))
		Tick(t, w)
		assert.True(t, d.Stop(), "also after a turn")
		assert.Zero(t, w.Live())
		Pass(t, w, 5*ms)
	})
}

func TestDeadline_IsOverWhenItsFunctionRuns(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		called := 0
		var d event.Deadline
		d = startDeadline(t, w, ms, func() {
			called++
			assert.False(t, d.Running())
			assert.False(t, d.Stop())
			assert.Zero(t, w.Live())
			if called < 3 {
				require.NoError(t, d.Start(ms))
				assert.Equal(t, 1, w.Live())
			}
		})
		Run(t, w)
		assert.Equal(t, 3, called)
	})
}

func TestDeadline_StartWhileRunningStartsAnew(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		fired := 0
		d := startDeadline(t, w, 2*ms, func() { fired++ })
		Tick(t, w)
		asked := w.Now()
		require.NoError(t, d.Start(15*ms))
		assert.Equal(t, 1, w.Live())
		Run(t, w)
		assert.Equal(t, 1, fired)
		assert.GreaterOrEqual(t, w.Now().Sub(asked), 15*ms)

		require.NoError(t, d.Start(time.Hour))
		Tick(t, w)
		asked = w.Now()
		require.NoError(t, d.Start(ms))
		Run(t, w)
		assert.Equal(t, 2, fired)
		assert.Less(t, w.Now().Sub(asked), time.Hour, "sooner than before")
	})
}

// Whichever of two that are due together comes first, the other one has not happened yet.
func TestDeadline_StoppedOrRestartedByAnotherOfTheSameTime(t *testing.T) {
	for name, act := range map[string]func(event.Deadline) error{
		"stopped":   func(d event.Deadline) error { d.Stop(); return nil },
		"restarted": func(d event.Deadline) error { return d.Start(10 * ms) },
	} {
		t.Run(name, func(t *testing.T) {
			Each(t, func(t *testing.T, w World) {
				var pair [2]event.Deadline
				var first, second time.Time
				calls := 0
				for i := range pair {
					pair[i] = startDeadline(t, w, 2*ms, func() {
						if calls++; calls == 1 {
							first = w.Now()
							assert.True(t, pair[1-i].Running())
							require.NoError(t, act(pair[1-i]))
							return
						}
						second = w.Now()
					})
				}
				Run(t, w)
				if name == "stopped" {
					assert.Equal(t, 1, calls)
					return
				}
				assert.Equal(t, 2, calls)
				assert.GreaterOrEqual(t, second.Sub(first), 10*ms)
			})
		})
	}
}

func TestDeadline_StartedInATurnWaitsForAnother(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		turns, calls, last := 0, 0, 0
		var d event.Deadline
		d = startDeadline(t, w, 0, func() {
			calls++
			assert.NotEqual(t, last, turns)
			last = turns
			if calls < 5 {
				require.NoError(t, d.Start(0))
			}
		})
		Until(t, w, func() bool { turns++; return calls == 5 })
	})
}

func TestDeadline_EVT04_HiddenOnesAreNotLive(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		fired := 0
		d := w.NewDeadline(func() { fired++ })
		d.SetHidden(true)
		require.NoError(t, d.Start(2*ms))
		assert.True(t, d.Running())
		assert.Zero(t, w.Live())
		d.SetHidden(false)
		assert.Zero(t, w.Live(), "from the next start on")
		Until(t, w, func() bool { return fired == 1 })
		assert.Zero(t, w.Live())

		d.SetHidden(false)
		require.NoError(t, d.Start(2*ms))
		assert.Equal(t, 1, w.Live())
		d.SetHidden(true)
		assert.True(t, d.Stop())
		assert.Zero(t, w.Live(), "balanced by what it was when it started")
	})
}

func TestDeadline_PanicLeavesTheRestForTheNextTurn(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		for range 5 {
			startDeadline(t, w, 2*ms, func() {
				if calls++; calls == 2 {
					panic("second")
				}
			})
		}
		assert.PanicsWithValue(t, "second", func() { Run(t, w) })
		assert.Equal(t, 2, calls)
		assert.Equal(t, 3, w.Live())
		now := w.Now()
		Tick(t, w)
		assert.Equal(t, 5, calls)
		assert.Zero(t, w.Live())
		assert.False(t, w.Now().Before(now))
	})
}

func TestDeadline_RefusesWhatIsWrong(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		d := startDeadline(t, w, time.Hour, forbidden(t, "an hour has not passed"))
		require.ErrorIs(t, d.Start(-1), event.ErrInvalidArgument)
		require.ErrorIs(t, d.Start(math.MinInt64), event.ErrInvalidArgument)
		assert.True(t, d.Running(), "a refused start changes nothing")
		assert.Equal(t, 1, w.Live())

		defer func() {
			err, _ := recover().(error)
			var invalid *event.InvalidArgumentError
			require.ErrorAs(t, err, &invalid)
			assert.Contains(t, invalid.Call, "NewDeadline")
		}()
		w.NewDeadline(nil)
	})
}

func TestDeadline_StartAndStopAllocateNothing(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		d := w.NewDeadline(func() {})
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			_ = d.Start(time.Hour)
			_ = d.Start(2 * time.Hour)
			d.Stop()
		}))
	})
}
