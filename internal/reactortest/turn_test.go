package reactortest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
)

func TestTick_WithoutBlockReturnsAtOnce(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		Tick(t, w) // with nothing there at all
		d := startDeadline(t, w, time.Hour, forbidden(t, "an hour has not passed"))
		asked := w.Now()
		for range 10 {
			n, err := w.Tick(false)
			require.NoError(t, err)
			assert.Zero(t, n)
		}
		assert.True(t, d.Running())
		assert.Less(t, w.Now().Sub(asked), time.Hour)
	})
}

func TestTick_WithBlockWaitsForTheFirst(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		fired, turns := false, 0
		later := startDeadline(t, w, time.Hour, forbidden(t, "an hour has not passed"))
		startDeadline(t, w, 50*ms, func() { fired = true })
		Until(t, w, func() bool { turns++; return fired })
		assert.Less(t, turns, 20, "it sleeps, instead of turning and turning")
		assert.True(t, later.Running())
	})
}

func TestTick_WithBlockDoesNotSleepOnWhatIsThere(t *testing.T) {
	for name, bring := range map[string]func(t *testing.T, w World, fn func()){
		"a post":                 func(t *testing.T, w World, fn func()) { require.NoError(t, w.Post(fn)) },
		"a fired trigger":        func(t *testing.T, w World, fn func()) { startTrigger(t, w, fn).Fire() },
		"a timer of no time":     func(t *testing.T, w World, fn func()) { startTimer(t, w, 0, fn) },
		"a hidden fired trigger": func(t *testing.T, w World, fn func()) { tr := startTrigger(t, w, fn); tr.SetHidden(true); tr.Fire() },
	} {
		t.Run(name, func(t *testing.T) {
			Each(t, func(t *testing.T, w World) {
				hour := startDeadline(t, w, time.Hour, forbidden(t, "an hour has not passed"))
				came := false
				bring(t, w, func() { came = true })
				Until(t, w, func() bool { return came })
				assert.True(t, hour.Running())
			})
		})
	}
}

func TestTick_CountsWhatHappened(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		for range 3 {
			startTrigger(t, w, func() {}).Fire()
		}
		n, err := w.Tick(false)
		require.NoError(t, err)
		assert.Equal(t, 3, n)
		n, err = w.Tick(false)
		require.NoError(t, err)
		assert.Zero(t, n)
	})
}

func TestTick_InACallbackIsRefused(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		calls := 0
		try := func() {
			calls++
			for _, block := range []bool{false, true} {
				_, err := w.Tick(block)
				var usage *event.UsageError
				if assert.ErrorAs(t, err, &usage) {
					assert.Contains(t, usage.Call, ".Tick")
				}
			}
			assert.ErrorIs(t, w.Close(), event.ErrUsage)
		}
		startDeadline(t, w, ms, try)
		startTimer(t, w, ms, try)
		trigger := startTrigger(t, w, try)
		trigger.Fire()
		require.NoError(t, w.Post(try))
		Until(t, w, func() bool { return calls == 4 })
		require.NoError(t, trigger.Stop())
	})
}

func TestPost_RunsInTheOrderOfTheCalls(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		var got, want []int
		for i := range 100 {
			want = append(want, i)
			require.NoError(t, w.Post(func() { got = append(got, i) }))
		}
		assert.Empty(t, got, "not before the turn")
		Tick(t, w)
		assert.Equal(t, want, got)
	})
}

func TestPost_ByAnEventRunsInTheSameTurnByAPostInTheNext(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		turns := 0
		var ran []int
		note := func() { ran = append(ran, turns) }
		trigger := startTrigger(t, w, func() {
			note()
			require.NoError(t, w.Post(func() {
				note()
				require.NoError(t, w.Post(note))
			}))
		})
		trigger.Fire()
		Until(t, w, func() bool { turns++; return len(ran) == 3 })
		assert.Equal(t, []int{ran[0], ran[0], ran[0] + 1}, ran)
	})
}

func TestPost_FunctionIsNil(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		assert.ErrorIs(t, w.Post(nil), event.ErrInvalidArgument)
		assert.False(t, w.Pending())
	})
}

func TestPending_UntilWhatIsPostedHasRun(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		assert.False(t, w.Pending())
		require.NoError(t, w.Post(func() { assert.True(t, w.Pending(), "the second has not run") }))
		require.NoError(t, w.Post(func() {
			assert.False(t, w.Pending(), "it runs")
			require.NoError(t, w.Post(func() {}))
		}))
		assert.True(t, w.Pending())
		Tick(t, w)
		assert.True(t, w.Pending(), "the third")
		Tick(t, w)
		assert.False(t, w.Pending())
		startTrigger(t, w, func() {}).Fire()
		assert.False(t, w.Pending(), "only what is posted counts")
	})
}

func TestPost_PanicKeepsTheRest(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		var got []int
		for i := range 4 {
			require.NoError(t, w.Post(func() {
				got = append(got, i)
				if i == 1 {
					panic("post")
				}
			}))
		}
		assert.PanicsWithValue(t, "post", func() { _, _ = w.Tick(true) })
		assert.True(t, w.Pending())
		require.NoError(t, w.Post(func() { got = append(got, 4) }))
		Run(t, w)
		assert.Equal(t, []int{0, 1, 2, 3, 4}, got)
	})
}

func TestCount_IsTheOneBehindLive(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		w.Count().Add(2)
		assert.Equal(t, 2, w.Live())
		d := startDeadline(t, w, time.Hour, func() {})
		assert.Equal(t, 3, w.Count().Value())
		d.Stop()
		w.Count().Add(-2)
		assert.Zero(t, w.Live())
	})
}

func TestNow_NeverGoesBack(t *testing.T) {
	Each(t, func(t *testing.T, w World) {
		last := w.Now()
		for range 5 {
			Pass(t, w, ms)
			assert.GreaterOrEqual(t, w.Now().Sub(last), ms)
			last = w.Now()
		}
	})
}
