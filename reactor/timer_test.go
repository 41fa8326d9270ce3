package reactor_test

import (
	"errors"
	"math"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

const ms = time.Millisecond

func TestTimer_REACT01_OneShotIsClosedWhenItsCallbacksRun(t *testing.T) {
	l := newLoop(t)
	var timer *reactor.Timer
	fired := 0
	timer = newTimer(t, l, ms, func() {
		fired++
		assert.True(t, timer.Closed())
		assert.False(t, timer.Started())
		assert.Zero(t, l.Live())
		assert.ErrorIs(t, timer.Start(), event.ErrClosed)
		_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) {})
		assert.ErrorIs(t, err, event.ErrClosed)
	})
	second := 0
	on(t, timer, func() { second++; assert.True(t, timer.Closed()) })
	require.NoError(t, timer.Start())
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 1, fired)
	assert.Equal(t, 1, second, "every callback is called")
	assert.Zero(t, l.Live())
}

func TestTimer_REACT01_OneShotCannotFireAgain(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := startTimer(t, l, ms, func() { fired++ })
	run(t, l)
	assert.ErrorIs(t, timer.Start(), event.ErrClosed)
	assert.NoError(t, timer.AsEvent().Start(), "EVT-02: on the event itself it reports success and does nothing")
	assert.Zero(t, l.Live())
	turnFor(t, l, 5*ms)
	assert.Equal(t, 1, fired)
}

func TestTimer_REACT01_HandleOfAFiredOneShotIsFreed(t *testing.T) {
	l := newLoop(t)
	startTimer(t, l, ms, func() {})
	run(t, l)
	tick(t, l)
	assert.Zero(t, l.Binding().Walk()["timer"])
}

func TestTimer_REACT01_ResultIsNil(t *testing.T) {
	l := newLoop(t)
	timer, err := l.NewTimer(ms)
	require.NoError(t, err)
	called := false
	_, err = timer.Subscribe(func(b *event.Base, _ *event.Callback, result any, err error) {
		called = true
		assert.Same(t, timer.AsEvent(), b)
		assert.Nil(t, result)
		assert.NoError(t, err)
	})
	require.NoError(t, err)
	require.NoError(t, timer.Start())
	run(t, l)
	assert.True(t, called)
}

func TestTimer_REACT02_PeriodicFiresUntilStoppedAndCountsAsLive(t *testing.T) {
	l := newLoop(t)
	fired := 0
	var timer *reactor.Timer
	timer = newPeriodic(t, l, ms, func() {
		fired++
		assert.Equal(t, 1, l.Live())
		assert.True(t, timer.Started())
		assert.False(t, timer.Closed())
		if fired == 5 {
			require.NoError(t, timer.Stop())
			assert.Zero(t, l.Live())
		}
	})
	require.NoError(t, timer.Start())
	run(t, l)
	assert.Equal(t, 5, fired)
	turnFor(t, l, 5*ms)
	assert.Equal(t, 5, fired, "none after Stop")

	require.NoError(t, timer.Start(), "a stopped one can be started again")
	fired = 3
	run(t, l)
	assert.Equal(t, 5, fired)
}

func TestTimer_REACT02_HiddenPeriodicDoesNotCount(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := newPeriodic(t, l, ms, func() { fired++; assert.Zero(t, l.Live()) })
	timer.SetHidden(true)
	require.NoError(t, timer.Start())
	assert.Zero(t, l.Live())
	turnUntil(t, l, func() bool { return fired == 3 })
	run(t, l)
	require.NoError(t, timer.Stop())
	assert.Zero(t, l.Live())
}

func TestTimer_REACT02_PeriodicIsNeverEarly(t *testing.T) {
	l := newLoop(t)
	const period = 1700 * time.Microsecond
	var m lateness
	var timer *reactor.Timer
	asked := time.Now()
	timer = newPeriodic(t, l, period, func() {
		// Missed firings merge, so the k-th is not before the k-th period is over.
		m.note(asked, time.Duration(m.n+1)*period)
		if m.n == 60 {
			require.NoError(t, timer.Stop())
		}
	})
	require.NoError(t, timer.Start())
	run(t, l)
	m.check(t, "firings of a periodic timer", 60)
}

func TestTimer_REACT02_MissedFiringsMerge(t *testing.T) {
	l := newLoop(t)
	const period = 2 * ms
	var timer *reactor.Timer
	var m lateness
	asked := time.Now()
	timer = newPeriodic(t, l, period, func() {
		m.note(asked, time.Duration(m.n+1)*period)
		if m.n == 1 {
			burn(20 * period)
		}
		if m.n == 3 {
			require.NoError(t, timer.Stop())
		}
	})
	require.NoError(t, timer.Start())
	run(t, l)
	m.check(t, "firings", 3)
	assert.GreaterOrEqual(t, time.Since(asked), 22*period, "after the burn one firing stands for all that were missed, and the next comes a period later")
}

func TestTimer_REACT06_RearmFromItsOwnCallback(t *testing.T) {
	l := newLoop(t)
	delays := []time.Duration{3 * ms, ms, 2500 * time.Microsecond, 0, ms}
	var timer *reactor.Timer
	var m lateness
	asked := time.Now()
	timer = newRearming(t, l, delays[0], func() {
		m.note(asked, delays[m.n])
		assert.False(t, timer.Closed(), "it is not closed by firing")
		assert.False(t, timer.Started())
		assert.Zero(t, l.Live())
		if m.n < len(delays) {
			asked = time.Now()
			require.NoError(t, timer.Rearm(delays[m.n]))
			assert.True(t, timer.Started())
			assert.Equal(t, 1, l.Live(), "the live count is restored exactly once")
		}
	})
	require.NoError(t, timer.Start())
	run(t, l)
	m.check(t, "firings", len(delays))
	assert.Zero(t, l.Live())
	assert.Equal(t, 1, timer.AsEvent().Callbacks(), "callbacks are kept")
}

func TestTimer_REACT06_RearmAfterItFiredAndAfterAStop(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := newRearming(t, l, ms, func() { fired++ })
	require.NoError(t, timer.Start())
	run(t, l)
	require.NoError(t, timer.Rearm(2*ms))
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 2, fired)

	require.NoError(t, timer.Rearm(ms))
	require.NoError(t, timer.Stop())
	assert.Zero(t, l.Live())
	turnFor(t, l, 5*ms)
	assert.Equal(t, 2, fired, "a stopped one does not fire")
	asked := time.Now()
	require.NoError(t, timer.Rearm(4*ms))
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 3, fired)
	assert.GreaterOrEqual(t, time.Since(asked), 4*ms)

	asked = time.Now()
	require.NoError(t, timer.Start(), "Start takes the delay of the last Rearm")
	run(t, l)
	assert.Equal(t, 4, fired)
	assert.GreaterOrEqual(t, time.Since(asked), 4*ms)
}

func TestTimer_REACT06_RearmMovesARunningTimer(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := newRearming(t, l, ms, func() { fired++ })
	require.NoError(t, timer.Start())
	tick(t, l)
	asked := time.Now()
	require.NoError(t, timer.Rearm(20*ms))
	assert.Equal(t, 1, l.Live(), "it is counted once")
	run(t, l)
	assert.Equal(t, 1, fired, "it has forgotten the first time")
	assert.GreaterOrEqual(t, time.Since(asked), 20*ms)

	require.NoError(t, timer.Rearm(time.Hour))
	tick(t, l)
	require.NoError(t, timer.Rearm(ms))
	run(t, l)
	assert.Equal(t, 2, fired, "it can be made sooner")
}

// The firing was recorded in the turn, but another callback of the same turn, called first, has armed the timer anew.
func TestTimer_REACT06_RearmBetweenItsTurnAndItsCallback(t *testing.T) {
	l := newLoop(t)
	var rearming *reactor.Timer
	var asked time.Time
	fired := 0
	startTimer(t, l, ms, func() {
		asked = time.Now()
		require.NoError(t, rearming.Rearm(10*ms))
	})
	rearming = newRearming(t, l, ms, func() {
		fired++
		assert.GreaterOrEqual(t, time.Since(asked), 10*ms)
	})
	require.NoError(t, rearming.Start())
	run(t, l)
	assert.Equal(t, 1, fired)
}

func TestTimer_REACT06_RearmIsRefusedForOtherKindsAndWhenClosed(t *testing.T) {
	l := newLoop(t)
	var usage *event.UsageError
	one := newTimer(t, l, ms, func() {})
	require.ErrorAs(t, one.Rearm(ms), &usage)
	assert.ErrorContains(t, usage, "Timer.Rearm")
	every := newPeriodic(t, l, ms, func() {})
	require.ErrorAs(t, every.Rearm(ms), &usage)
	assert.Zero(t, l.Live())

	again := newRearming(t, l, ms, func() {})
	require.NoError(t, again.Start())
	require.NoError(t, again.Close())
	err := again.Rearm(ms)
	assert.ErrorIs(t, err, event.ErrClosed)
	assert.ErrorContains(t, err, "Timer.Rearm")
	assert.Zero(t, l.Live())
	turnFor(t, l, 3*ms)
}

func TestTimer_REACT06_RearmUndoesSeveralStartsAtOnceWhenItFires(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := newRearming(t, l, ms, func() { fired++ })
	require.NoError(t, timer.Start())
	require.NoError(t, timer.Start())
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.False(t, timer.Started())
	require.NoError(t, timer.Rearm(ms))
	require.NoError(t, timer.Stop())
	assert.False(t, timer.Started())
	assert.Zero(t, l.Live())
	assert.Equal(t, 1, fired)
}

func TestTimer_REACT07_SubMillisecondDelaysAreRoundedUp(t *testing.T) {
	l := newLoop(t)
	var m lateness
	delays := []time.Duration{1, 999, 500 * time.Microsecond, 999*time.Microsecond + 999}
	for _, d := range delays {
		asked := time.Now()
		startTimer(t, l, d, func() { m.note(asked, ms) })
		startDeadline(t, l, d, func() { m.note(asked, ms) })
	}
	run(t, l)
	m.check(t, "timers and deadlines below a millisecond", 2*len(delays))
}

func TestTimer_REACT07_EnormousDelaysSaturate(t *testing.T) {
	for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - time.Duration(ms), math.MaxInt64 / 2, 1 << 53} {
		t.Run(d.String(), func(t *testing.T) {
			l := newLoop(t)
			never := func() { t.Errorf("a timer of %v fired", d) }
			one := startTimer(t, l, d, never)
			again := newRearming(t, l, ms, never)
			require.NoError(t, again.Start())
			require.NoError(t, again.Rearm(d))
			every := newPeriodic(t, l, d, never)
			require.NoError(t, every.Start())
			limit := startDeadline(t, l, d, never)

			fired := 0
			for range 10 {
				startTimer(t, l, ms, func() { fired++ })
				startDeadline(t, l, ms, func() { fired++ })
				turnUntil(t, l, func() bool { return fired%2 == 0 && fired > 0 })
			}
			turnUntil(t, l, func() bool { return fired == 20 })
			assert.Equal(t, 4, l.Live())
			assert.NotEmpty(t, one.Info())
			limit.Stop()
			for _, timer := range []*reactor.Timer{one, again, every} {
				require.NoError(t, timer.Stop())
			}
			run(t, l)
		})
	}
}

// A delay of which only some bits survived would be over in 2 ms.
func TestTimer_REACT07_NoBitOfADelayIsLost(t *testing.T) {
	l := newLoop(t)
	for bit := range 63 {
		for _, unit := range []time.Duration{1, time.Microsecond, ms} {
			d := time.Duration(1)<<bit*unit + 2*ms
			if d < 10*time.Second || d>>bit/unit == 0 {
				continue // short, or too long for a Duration
			}
			startTimer(t, l, d, func() { t.Errorf("a timer of 1<<%d * %v fired", bit, unit) })
			startDeadline(t, l, d, func() { t.Errorf("a deadline of 1<<%d * %v fired", bit, unit) })
		}
	}
	assert.Greater(t, l.Live(), 100)
	turnFor(t, l, 10*ms)
	require.NoError(t, l.Close())
}

func TestTimer_REACT07_ZeroMeansTheNextTurn(t *testing.T) {
	l := newLoop(t)
	fired := 0
	startTimer(t, l, 0, func() { fired++ })
	assert.Zero(t, fired, "not before the loop turns")
	tick(t, l)
	assert.Equal(t, 1, fired)
}

func TestTimer_REACT07_RearmingWithZeroDoesNotStarveTheLoop(t *testing.T) {
	l := newLoop(t)
	zeros, lastTurn := 0, uint32(0)
	var zero *reactor.Timer
	zero = newRearming(t, l, 0, func() {
		zeros++
		turn := l.Stats().Turns
		assert.NotEqual(t, lastTurn, turn, "a re-arm waits for the next turn")
		lastTurn = turn
		require.NoError(t, zero.Rearm(0))
	})
	require.NoError(t, zero.Start())

	left := 4
	done := func() { left-- }
	startTimer(t, l, 5*ms, done)
	startDeadline(t, l, 5*ms, done)
	r, w := pipe(t)
	onReady(t, startPoll(t, l, r, reactor.Readable), func(p *reactor.Poll, _ reactor.Readiness, _ error) {
		require.NoError(t, p.Close())
		done()
	})
	write(t, w, "x")
	require.NoError(t, l.Post(done))
	turnUntil(t, l, func() bool { return left == 0 })
	assert.Positive(t, zeros)
	require.NoError(t, zero.Stop())
	run(t, l)
}

func TestTimer_REACT09_ThousandTimersAreNeverEarly(t *testing.T) {
	rng := newRand(t)
	l := newLoop(t)
	var m lateness
	for range 1000 {
		d := ms + time.Duration(rng.Int63n(int64(4*ms)))
		asked := time.Now()
		startTimer(t, l, d, func() { m.note(asked, d) })
		if rng.Intn(20) == 0 {
			tick(t, l) // so that they are started in many turns, at odd moments
			burn(time.Duration(rng.Int63n(int64(300 * time.Microsecond))))
		}
	}
	run(t, l)
	m.check(t, "timers of 1 to 5 ms", 1000)
}

func TestTimer_REACT09_RearmedTimersAreNeverEarly(t *testing.T) {
	rng := newRand(t)
	l := newLoop(t)
	var m lateness
	const n = 1000
	for range 10 {
		var timer *reactor.Timer
		var asked time.Time
		var d time.Duration
		rearm := func() {
			d = ms + time.Duration(rng.Int63n(int64(4*ms)))
			asked = time.Now()
			require.NoError(t, timer.Rearm(d))
		}
		timer = newRearming(t, l, 0, func() {
			m.note(asked, d)
			if m.n <= n-10 {
				rearm()
			}
		})
		rearm()
	}
	run(t, l)
	m.check(t, "firings of rearming timers", n)
}

// libuv counts from a cached time; after CPU work that is old, and a timer would fire at once.
func TestTimer_REACT09_CPUWorkBeforeAStartDoesNotMakeItEarly(t *testing.T) {
	l := newLoop(t)
	var order []string
	var m lateness
	note := func(name string, d time.Duration) func() {
		asked := time.Now()
		return func() { order = append(order, name); m.note(asked, d) }
	}
	startTimer(t, l, ms, func() {
		startTimer(t, l, 150*ms, note("150 before the burn", 150*ms))
		startDeadline(t, l, 150*ms, note("deadline", 150*ms))
		burn(300 * ms)
		startTimer(t, l, 151*ms, note("151 after the burn", 151*ms))
		startTimer(t, l, 149*ms, note("149 after the burn", 149*ms))
	})
	run(t, l)
	m.check(t, "timers around 300 ms of CPU work", 4)
	assert.Equal(t, []string{"149 after the burn", "150 before the burn", "151 after the burn"}, without(order, "deadline"), "they were started in one turn, so the delays decide")
}

func TestTimer_REACT09_CPUWorkOutsideOfTheLoop(t *testing.T) {
	l := newLoop(t)
	tick(t, l)
	burn(300 * ms)
	var m lateness
	asked := time.Now()
	startTimer(t, l, 150*ms, func() { m.note(asked, 150*ms) })
	burn(100 * ms)
	startDeadline(t, l, 60*ms, func() { m.note(asked, 160*ms) })
	run(t, l)
	m.check(t, "timers", 2)
}

func without(list []string, what string) []string {
	var rest []string
	for _, s := range list {
		if s != what {
			rest = append(rest, s)
		}
	}
	return rest
}

// effective is the delay that counts: below a millisecond it is rounded up.
func effective(d time.Duration) time.Duration {
	if d > 0 && d < ms {
		return ms
	}
	return d
}

// drawDelays returns delays of 0 to 4 ms that differ by whole milliseconds, by less, and not at all.
func drawDelays(t *rapid.T) []time.Duration {
	delay := rapid.Custom(func(t *rapid.T) time.Duration {
		whole := time.Duration(rapid.IntRange(0, 3).Draw(t, "ms")) * ms
		part := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 999, 1000, 250_000, 250_001, 999_999}).Draw(t, "ns"))
		return whole + part
	})
	return rapid.SliceOfN(delay, 2, 40).Draw(t, "delays")
}

// inOrder returns the numbers of the delays as they must fire: by delay, equal ones by start.
func inOrder(delays []time.Duration) []int {
	order := make([]int, len(delays))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return effective(delays[order[a]]) < effective(delays[order[b]]) })
	return order
}

func TestTimer_REACT09_OneTurnFiresInTheOrderOfTheDelays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLoop(t)
		delays := drawDelays(t)
		kinds := rapid.SliceOfN(rapid.IntRange(0, 2), len(delays), len(delays)).Draw(t, "kinds")
		inCallback := rapid.Bool().Draw(t, "started in a callback")
		var fired []int
		start := func() {
			for i, d := range delays {
				note := func() { fired = append(fired, i) }
				switch {
				case kinds[i] == 1:
					timer := newRearming(t, l, time.Hour, note)
					require.NoError(t, timer.Start())
					require.NoError(t, timer.Rearm(d))
				case kinds[i] == 2 && d > 0:
					var timer *reactor.Timer
					timer = newPeriodic(t, l, d, func() { note(); require.NoError(t, timer.Stop()) })
					require.NoError(t, timer.Start())
				default:
					startTimer(t, l, d, note)
				}
			}
		}
		if inCallback {
			startTimer(t, l, ms, start)
		} else {
			start()
		}
		run(t, l)
		assert.Equal(t, inOrder(delays), fired)
	})
}

// A turn is what the user sees of it: a call that makes the binding talk to libuv in between does not end it.
func TestTimer_REACT09_ClosingAPollInBetweenDoesNotChangeTheOrder(t *testing.T) {
	l := newLoop(t)
	for range 20 {
		var fired []int
		r, _ := pipe(t)
		p := startPoll(t, l, r, reactor.Readable)
		startTimer(t, l, 1900*time.Microsecond, func() { fired = append(fired, 1900) })
		require.NoError(t, p.Close())
		startTimer(t, l, 1100*time.Microsecond, func() { fired = append(fired, 1100) })
		run(t, l)
		require.Equal(t, []int{1100, 1900}, fired)
	}
}

func TestTimer_REACT09_AcrossTurnsTheDeadlinesDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLoop(t)
		type firing struct{ due, at uint64 }
		var fired []firing
		n := 0
		for range rapid.IntRange(2, 6).Draw(t, "turns") {
			var due []*uint64
			for range rapid.IntRange(1, 5).Draw(t, "timers") {
				n++
				d := time.Duration(rapid.IntRange(1000, 6000).Draw(t, "us")) * time.Microsecond
				mine := uint64(d)
				due = append(due, &mine)
				startTimer(t, l, d, func() { fired = append(fired, firing{mine, l.Binding().LoopTime()}) })
			}
			tick(t, l)
			for _, d := range due {
				*d += l.Binding().Now() // what was submitted before the turn counts from here
			}
			burn(time.Duration(rapid.IntRange(0, 400).Draw(t, "burn")) * time.Microsecond)
		}
		run(t, l)
		require.Len(t, fired, n)
		for i := 1; i < n; i++ {
			a, b := fired[i-1], fired[i]
			if a.due > b.due {
				assert.Less(t, a.due-b.due, uint64(ms), "out of order by more than the grain of a turn")
			}
		}
		for _, f := range fired {
			assert.GreaterOrEqual(t, f.at*uint64(ms), f.due)
		}
	})
}

func TestTimer_EVT01_TwoStartsNeedTwoStops(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := newRearming(t, l, 2*ms, func() { fired++ })
	require.NoError(t, timer.Start())
	require.NoError(t, timer.Start())
	assert.Equal(t, 1, l.Live())
	require.NoError(t, timer.Stop())
	assert.True(t, timer.Started())
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 1, fired, "after one stop of two it still runs")

	require.NoError(t, timer.Start())
	require.NoError(t, timer.Start())
	require.NoError(t, timer.Stop())
	require.NoError(t, timer.Stop())
	assert.False(t, timer.Started())
	assert.Zero(t, l.Live())
	turnFor(t, l, 5*ms)
	assert.Equal(t, 1, fired)
}

func TestTimer_EVT03_StopWithoutStartDoesNothing(t *testing.T) {
	l := newLoop(t)
	other := startTimer(t, l, time.Hour, func() {})
	timer := newTimer(t, l, ms, func() { t.Error("it was never started") })
	for range 3 {
		require.NoError(t, timer.Stop())
		assert.Equal(t, 1, l.Live())
	}
	require.NoError(t, timer.Start())
	require.NoError(t, timer.Stop())
	require.NoError(t, timer.Stop())
	assert.Equal(t, 1, l.Live())
	require.NoError(t, timer.Close())
	require.NoError(t, timer.Stop())
	assert.Equal(t, 1, l.Live())
	require.NoError(t, other.Close())
}

func TestTimer_EVT09_CallbacksRemoveEachOtherWhileItFires(t *testing.T) {
	l := newLoop(t)
	timer := newTimer(t, l, ms, func() {})
	var calls []string
	var a, b, c *event.Callback
	add := func(name string, fn func()) *event.Callback {
		return on(t, timer, func() { calls = append(calls, name); fn() })
	}
	a = add("a", func() { assert.True(t, timer.DelCallback(a)) })
	b = add("b", func() { assert.True(t, timer.DelCallback(c)); assert.True(t, timer.DelCallback(b)) })
	c = add("c", func() {})
	add("d", func() {})
	require.NoError(t, timer.Start())
	run(t, l)
	assert.ElementsMatch(t, []string{"a", "b", "d"}, calls)
}

func TestTimer_EVT17_SubscribingToAFiredOneNamesIt(t *testing.T) {
	l := newLoop(t)
	timer := startTimer(t, l, 7*ms, func() {})
	run(t, l)
	_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) {})
	assert.ErrorIs(t, err, event.ErrClosed)
	assert.ErrorContains(t, err, "timer of 7ms")
	err = timer.Replay(event.NewCallback(func(*event.Base, *event.Callback, any, error) {}, nil))
	var usage *event.UsageError
	assert.True(t, errors.As(err, &usage), "a timer stores no outcome: %v", err)
}

func TestTimer_EVT18_NotifyHookComesFirstAndMaySwallow(t *testing.T) {
	l := newLoop(t)
	var got []any
	timer, err := l.NewRearmingTimer(ms)
	require.NoError(t, err)
	_, err = timer.Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) { got = append(got, result, err) })
	require.NoError(t, err)
	failure := errors.New("replaced")
	deliver := true
	timer.AsEvent().SetNotifyHook(func(_ *event.Base, result any, err error) (any, bool, error) {
		assert.Nil(t, result)
		return "result", deliver, failure
	})
	require.NoError(t, timer.Start())
	run(t, l)
	assert.Equal(t, []any{"result", failure}, got)
	deliver = false
	require.NoError(t, timer.Rearm(ms))
	run(t, l)
	assert.Len(t, got, 2, "swallowed")
	assert.Zero(t, l.Live())
}

func TestTimer_ClosedInAnotherTimersCallbackOfTheSameTurnDoesNotFire(t *testing.T) {
	l := newLoop(t)
	var second *reactor.Timer
	startTimer(t, l, ms, func() { require.NoError(t, second.Close()) })
	second = startTimer(t, l, ms, func() { t.Error("it was closed") })
	run(t, l)
	assert.Zero(t, l.Live())
}

func TestTimer_StoppedAndStartedInAnotherTimersCallbackOfTheSameTurnStartsAnew(t *testing.T) {
	l := newLoop(t)
	var second *reactor.Timer
	var asked time.Time
	startTimer(t, l, ms, func() {
		require.NoError(t, second.Stop())
		asked = time.Now()
		require.NoError(t, second.Start())
	})
	fired := 0
	second = startTimer(t, l, ms, func() { fired++; assert.GreaterOrEqual(t, time.Since(asked), ms) })
	run(t, l)
	assert.Equal(t, 1, fired)
}

func TestTimer_InfoSaysWhatItIsAndItsState(t *testing.T) {
	l := newLoop(t)
	timer, err := l.NewTimer(5 * ms)
	require.NoError(t, err)
	assert.Equal(t, "timer of 5ms, not started", timer.Info())
	require.NoError(t, timer.Start())
	assert.Equal(t, "timer of 5ms, started", timer.Info())
	require.NoError(t, timer.Close())
	assert.Equal(t, "timer of 5ms, closed", timer.Info())
	forever, err := l.NewRearmingTimer(math.MaxInt64)
	require.NoError(t, err)
	assert.Equal(t, "rearming timer of never, not started", forever.Info())
	every, err := l.NewPeriodicTimer(ms)
	require.NoError(t, err)
	assert.Equal(t, "periodic timer of 1ms, not started", every.Info())
}
