package reactor_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

func TestDeadline_REACT09_ThousandAreNeverEarly(t *testing.T) {
	rng := newRand(t)
	l := newLoop(t)
	var m lateness
	for range 1000 {
		d := ms + time.Duration(rng.Int63n(int64(4*ms)))
		asked := time.Now()
		startDeadline(t, l, d, func() { m.note(asked, d) })
		if rng.Intn(20) == 0 {
			tick(t, l)
			burn(time.Duration(rng.Int63n(int64(300 * time.Microsecond))))
		}
	}
	run(t, l)
	m.check(t, "deadlines of 1 to 5 ms", 1000)
}

func TestDeadline_REACT09_AcrossTheLevelsOfTheWheelNeverEarly(t *testing.T) {
	rng := newRand(t)
	l := newLoop(t)
	var m lateness
	const n = 3000
	for range n {
		d := ms + time.Duration(rng.Int63n(int64(700*ms))) // around the borders at 256 and 512 ms
		asked := time.Now()
		startDeadline(t, l, d, func() { m.note(asked, d) })
		if rng.Intn(100) == 0 {
			tick(t, l)
		}
	}
	run(t, l)
	m.check(t, "deadlines of 1 to 700 ms", n)
}

func TestDeadline_REACT09_OneTurnFiresInTheOrderOfTheDelays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLoop(t)
		delays := drawDelays(t)
		for i, d := range delays {
			delays[i] = max(d, ms) // zero counts as one millisecond or as none, and has a test of its own
		}
		inCallback := rapid.Bool().Draw(t, "started in a callback")
		var fired []int
		start := func() {
			for i, d := range delays {
				startDeadline(t, l, d, func() { fired = append(fired, i) })
			}
		}
		if inCallback {
			startDeadline(t, l, ms, start)
		} else {
			start()
		}
		run(t, l)
		assert.Equal(t, inOrder(delays), fired)
	})
}

func TestDeadline_ZeroFiresInTheNextMillisecond(t *testing.T) {
	l := newLoop(t)
	fired := 0
	startDeadline(t, l, 0, func() { fired++ })
	assert.Zero(t, fired)
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 1, fired)
}

func TestDeadline_RestartedWithZeroFromItsOwnFunctionDoesNotStarveTheLoop(t *testing.T) {
	l := newLoop(t)
	done, zeros := false, 0
	lastTurn := uint32(0)
	var zero reactor.Deadline
	zero.Init(l, func(d *reactor.Deadline) {
		zeros++
		assert.NotEqual(t, lastTurn, l.Stats().Turns)
		lastTurn = l.Stats().Turns
		if !done {
			require.NoError(t, d.Start(0))
		}
	})
	require.NoError(t, zero.Start(0))
	startTimer(t, l, 5*ms, func() { done = true })
	run(t, l)
	assert.Positive(t, zeros)
}

func TestDeadline_EnormousOnesSaturate(t *testing.T) {
	l := newLoop(t)
	var long []*reactor.Deadline
	for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2, 200 * 365 * 24 * time.Hour} {
		long = append(long, startDeadline(t, l, d, func() { t.Errorf("%v are over", d) }))
	}
	fired := 0
	for range 3 {
		startDeadline(t, l, 2*ms, func() { fired++ })
		turnFor(t, l, 3*ms)
	}
	turnUntil(t, l, func() bool { return fired == 3 })
	for _, d := range long {
		assert.True(t, d.Stop())
	}
	run(t, l)
}

func TestDeadline_StopReportsWhetherItWasRunning(t *testing.T) {
	l := newLoop(t)
	var zero reactor.Deadline
	assert.False(t, zero.Stop(), "also before Init")
	assert.False(t, zero.Running())

	d := startDeadline(t, l, time.Hour, func() { t.Error("stopped") })
	assert.True(t, d.Running())
	assert.True(t, d.Stop())
	assert.False(t, d.Stop())
	assert.Zero(t, l.Live())

	require.NoError(t, d.Start(time.Hour))
	tick(t, l) // it has its place now
	assert.True(t, d.Running())
	assert.Equal(t, 1, l.Live())
	assert.True(t, d.Stop())
	assert.False(t, d.Running())
	assert.Zero(t, l.Live())
	run(t, l)
}

func TestDeadline_StoppedOnesDoNotWakeTheLoop(t *testing.T) {
	l := newLoop(t)
	var all []*reactor.Deadline
	for i := range 300 {
		all = append(all, startDeadline(t, l, time.Duration(20+i)*ms, func() { t.Error("stopped") }))
	}
	tick(t, l)
	for _, d := range all {
		d.Stop()
	}
	assert.Less(t, turnsDuring(t, l, 100*ms), 20, "turns in 100 ms in which nothing is over")
}

func TestDeadline_IsNotRunningWhenItsFunctionIsCalled(t *testing.T) {
	l := newLoop(t)
	called := 0
	var d reactor.Deadline
	d.Init(l, func(got *reactor.Deadline) {
		called++
		assert.Same(t, &d, got)
		assert.False(t, d.Running())
		assert.False(t, d.Stop())
		assert.Zero(t, l.Live())
		assert.Zero(t, l.Stats().Deadlines)
	})
	require.NoError(t, d.Start(ms))
	assert.Equal(t, 1, l.Stats().Deadlines)
	run(t, l)
	assert.Equal(t, 1, called)
}

func TestDeadline_StartWhileRunningStartsAnew(t *testing.T) {
	l := newLoop(t)
	fired := 0
	d := startDeadline(t, l, 2*ms, func() { fired++ })
	tick(t, l)
	asked := time.Now()
	require.NoError(t, d.Start(15*ms))
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 1, fired)
	assert.GreaterOrEqual(t, time.Since(asked), 15*ms)

	require.NoError(t, d.Start(time.Hour))
	tick(t, l)
	require.NoError(t, d.Start(ms))
	run(t, l)
	assert.Equal(t, 2, fired, "sooner than before")
}

func TestDeadline_StoppedByAnotherOfTheSameMillisecondIsNotCalled(t *testing.T) {
	l := newLoop(t)
	var b *reactor.Deadline
	startDeadline(t, l, 2*ms, func() {
		assert.True(t, b.Running())
		assert.True(t, b.Stop())
	})
	b = startDeadline(t, l, 2*ms, func() { t.Error("it was stopped") })
	run(t, l)
}

func TestDeadline_RestartedByAnotherOfTheSameMillisecondIsCalledLater(t *testing.T) {
	l := newLoop(t)
	var b *reactor.Deadline
	var asked time.Time
	called := 0
	startDeadline(t, l, 2*ms, func() {
		asked = time.Now()
		require.NoError(t, b.Start(10*ms))
	})
	b = startDeadline(t, l, 2*ms, func() {
		called++
		assert.GreaterOrEqual(t, time.Since(asked), 10*ms)
	})
	run(t, l)
	assert.Equal(t, 1, called)
}

func TestDeadline_TenThousandInOneMillisecond(t *testing.T) {
	l := newLoop(t)
	const n = 10_000
	var fired []int
	asked := time.Now()
	for i := range n {
		startDeadline(t, l, 3*ms, func() { fired = append(fired, i) })
	}
	assert.Equal(t, n, l.Live())
	run(t, l)
	assert.GreaterOrEqual(t, time.Since(asked), 3*ms)
	require.Len(t, fired, n)
	for i, got := range fired {
		require.Equal(t, i, got, "equal delays fire in the order of their start")
	}
}

func TestDeadline_MillionStartedAndStoppedWithoutGrowth(t *testing.T) {
	rng := newRand(t)
	l := newLoop(t)
	deadlines := make([]reactor.Deadline, 1000)
	for i := range deadlines {
		deadlines[i].Init(l, func(*reactor.Deadline) {})
	}
	round := func() {
		for i := range deadlines {
			require.NoError(t, deadlines[i].Start(time.Second+time.Duration(rng.Int63n(int64(time.Hour)))))
		}
		if rng.Intn(2) == 0 {
			tick(t, l)
		}
		for i := range deadlines {
			deadlines[i].Stop()
		}
	}
	n := scaledTo(t, 1_000_000)
	g := newGrowth(t, n)
	for range n / len(deadlines) {
		round()
		for range deadlines {
			g.done()
		}
	}
	g.check("starts and stops of a deadline")
	assert.Zero(t, l.Live())
}

func TestDeadline_MillionRunningAtOnce(t *testing.T) {
	l := newLoop(t)
	n := scaledTo(t, 1_000_000)
	deadlines := make([]reactor.Deadline, n)
	fired := 0
	asked := time.Now()
	for i := range deadlines {
		deadlines[i].Init(l, func(*reactor.Deadline) { fired++ })
		require.NoError(t, deadlines[i].Start(time.Duration(1+i%50)*ms+time.Duration(i)))
	}
	stopped := 0
	for i := 0; i < n; i += 3 {
		assert.True(t, deadlines[i].Stop())
		stopped++
	}
	assert.Equal(t, n-stopped, l.Live())
	run(t, l)
	assert.Equal(t, n-stopped, fired)
	assert.GreaterOrEqual(t, time.Since(asked), min(50, time.Duration(n))*ms)
}

func TestDeadline_PanicLeavesTheRestForTheNextTurn(t *testing.T) {
	l := newLoop(t)
	var calls []int
	for i := range 6 {
		startDeadline(t, l, 2*ms, func() {
			calls = append(calls, i)
			if i == 1 || i == 3 {
				panic(fmt.Sprint("deadline ", i))
			}
		})
	}
	assert.PanicsWithValue(t, "deadline 1", func() { _ = l.Run() })
	assert.Equal(t, []int{0, 1}, calls)
	assert.Equal(t, 4, l.Live())
	assert.PanicsWithValue(t, "deadline 3", func() { _ = l.Run() })
	assert.Equal(t, []int{0, 1, 2, 3}, calls)
	run(t, l)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, calls)
	assert.Zero(t, l.Live())
}

func TestDeadline_PanicThenTheRestInOneTick(t *testing.T) {
	l := newLoop(t)
	calls := 0
	startDeadline(t, l, 2*ms, func() { panic("first") })
	for range 5 {
		startDeadline(t, l, 2*ms, func() { calls++ })
	}
	assert.PanicsWithValue(t, "first", func() {
		for {
			_, _ = l.Tick(true)
		}
	})
	tick(t, l)
	assert.Equal(t, 5, calls, "the rest is called by the next turn, which does not sleep first")
}

// What was left after a panic may be stopped, restarted, or closed with the loop before the next turn.
func TestDeadline_ChangedBetweenAPanicAndTheNextTurn(t *testing.T) {
	l := newLoop(t)
	startDeadline(t, l, 2*ms, func() { panic("first") })
	stopped := startDeadline(t, l, 2*ms, func() { t.Error("it was stopped") })
	var asked time.Time
	again := startDeadline(t, l, 2*ms, func() { assert.GreaterOrEqual(t, time.Since(asked), 10*ms) })
	left := 0
	startDeadline(t, l, 2*ms, func() { left++ })
	assert.Panics(t, func() { _ = l.Run() })
	assert.Equal(t, 3, l.Live())
	assert.True(t, stopped.Stop())
	asked = time.Now()
	require.NoError(t, again.Start(10*ms))
	assert.Equal(t, 2, l.Live())
	run(t, l)
	assert.Equal(t, 1, left)
}

// A timer's callback panics while the completion of the deadlines waits in the same turn.
func TestDeadline_DueInTheTurnOfAPanicElsewhere(t *testing.T) {
	l := newLoop(t)
	startTimer(t, l, 2*ms, func() {
		// This one is due much later, and must not take the others with it.
		startDeadline(t, l, time.Hour, func() { t.Error("an hour") })
		panic("timer")
	})
	fired := 0
	for range 3 {
		startDeadline(t, l, 2*ms, func() { fired++ }) // equal delays of one turn are over in one turn
	}
	assert.PanicsWithValue(t, "timer", func() { _ = l.Run() })
	assert.Zero(t, fired)
	tick(t, l)
	assert.Equal(t, 3, fired, "the next turn delivers what was left")
}

// After a panic the next turn delivers what was left without asking libuv, so there is no fresh clock to count from.
func TestDeadline_REACT09_StartedInATurnThatPanickedIsNotEarly(t *testing.T) {
	l := newLoop(t)
	for range 5 {
		var m lateness
		startTimer(t, l, 30*ms, func() {
			asked := time.Now()
			startDeadline(t, l, 20*ms, func() { m.note(asked, 20*ms) })
			startDeadline(t, l, 5*ms, func() { m.note(asked, 5*ms) })
			panic("timer")
		})
		startTimer(t, l, 30*ms, func() {})
		require.Panics(t, func() {
			_ = l.Run()
		})
		run(t, l)
		m.check(t, "deadlines", 2)
	}
}

func TestDeadline_UsageErrors(t *testing.T) {
	l := newLoop(t)
	var usage *event.UsageError
	var invalid *event.InvalidArgumentError

	var d reactor.Deadline
	require.ErrorAs(t, d.Start(ms), &usage)
	assert.ErrorContains(t, usage, "Deadline.Start")
	d.Init(l, nil)
	require.ErrorAs(t, d.Start(ms), &usage, "no function")

	d.Init(l, func(*reactor.Deadline) {})
	require.ErrorAs(t, d.Start(-1), &invalid)
	assert.ErrorContains(t, invalid, "Deadline.Start")
	assert.False(t, d.Running())

	require.NoError(t, d.Start(ms))
	require.ErrorAs(t, d.Start(math.MinInt64), &invalid)
	assert.True(t, d.Running(), "a refused Start changes nothing")
	func() {
		defer func() {
			err, _ := recover().(error)
			require.ErrorAs(t, err, &usage)
			assert.ErrorContains(t, usage, "Deadline.Init")
		}()
		d.Init(l, func(*reactor.Deadline) {})
	}()
	assert.True(t, d.Running())
	d.Stop()
	d.Init(l, func(*reactor.Deadline) {})
	run(t, l)
}

func TestDeadline_EVT04_HiddenOnesAreNeverCounted(t *testing.T) {
	l := newLoop(t)
	var d reactor.Deadline
	fired := 0
	d.Init(l, func(*reactor.Deadline) { fired++ })
	d.SetHidden(true)
	require.NoError(t, d.Start(2*ms))
	assert.Zero(t, l.Live())
	assert.Equal(t, 1, l.Stats().Deadlines)
	d.SetHidden(false) // from the next Start on
	assert.Zero(t, l.Live())
	d.Stop()
	assert.Zero(t, l.Live())

	require.NoError(t, d.Start(2*ms))
	assert.Zero(t, l.Live(), "what was said while it was running was ignored")
	d.Stop()
	d.SetHidden(false)
	require.NoError(t, d.Start(2*ms))
	assert.Equal(t, 1, l.Live())
	run(t, l)
	assert.Equal(t, 1, fired)

	d.SetHidden(true)
	require.NoError(t, d.Start(2*ms))
	turnUntil(t, l, func() bool { return fired == 2 })
	assert.Zero(t, l.Live())
	assert.Zero(t, l.Stats().Deadlines)
}

func TestDeadline_LoopCloseEndsThemAll(t *testing.T) {
	l := newLoop(t)
	never := func() { t.Error("the loop is closed") }
	var all []*reactor.Deadline
	for _, d := range []time.Duration{100 * ms, 100*ms + 1, 300 * ms, time.Hour, 1000 * time.Hour, math.MaxInt64} {
		all = append(all, startDeadline(t, l, d, never))
	}
	tick(t, l)
	all = append(all, startDeadline(t, l, ms, never)) // not yet placed
	burn(110 * ms)                                    // some are over
	require.NoError(t, l.Close())
	for _, d := range all {
		assert.False(t, d.Running())
		assert.False(t, d.Stop())
		assert.ErrorIs(t, d.Start(ms), event.ErrClosed)
	}
	assert.Zero(t, l.Live())
	assert.Zero(t, l.Stats().Deadlines)
}

func TestDeadline_DroppedWhileRunningIsStillCalled(t *testing.T) {
	l := newLoop(t)
	fired := 0
	for range 100 {
		startDeadline(t, l, 5*ms, func() { fired++ })
	}
	runtime.GC()
	run(t, l)
	assert.Equal(t, 100, fired)
}

func TestNewDeadline_FiresOnceForEachStart(t *testing.T) {
	l := newLoop(t)
	fired := 0
	var d event.Deadline
	d = l.NewDeadline(func() {
		fired++
		assert.False(t, d.Running())
	})
	assert.False(t, d.Running(), "it is not started by being made")
	assert.False(t, d.Stop())
	assert.Zero(t, l.Live())
	for n := range 3 {
		asked := l.Now()
		require.NoError(t, d.Start(2*ms))
		assert.True(t, d.Running())
		assert.Equal(t, 1, l.Live())
		run(t, l)
		assert.Equal(t, n+1, fired)
		assert.GreaterOrEqual(t, l.Now().Sub(asked), 2*ms)
	}
}

func TestNewDeadline_EVT04_HiddenOnesAreNotCounted(t *testing.T) {
	l := newLoop(t)
	fired := false
	d := l.NewDeadline(func() { fired = true })
	d.SetHidden(true)
	require.NoError(t, d.Start(2*ms))
	assert.Zero(t, l.Live())
	turnUntil(t, l, func() bool { return fired })
	assert.Zero(t, l.Live())
}

func TestNewDeadline_UsageErrors(t *testing.T) {
	l := newLoop(t)
	func() {
		defer func() {
			var invalid *event.InvalidArgumentError
			err, _ := recover().(error)
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, "reactor: Loop.NewDeadline", invalid.Call)
		}()
		l.NewDeadline(nil)
	}()
	d := l.NewDeadline(func() { t.Error("it was never started") })
	assert.ErrorIs(t, d.Start(-1), event.ErrInvalidArgument)
	require.NoError(t, l.Close())
	assert.ErrorIs(t, d.Start(ms), event.ErrClosed)
	assert.ErrorIs(t, l.NewDeadline(func() {}).Start(ms), event.ErrClosed)
}

func TestNewDeadline_StartAndStopAllocateNothing(t *testing.T) {
	l := newLoop(t)
	fn := func() {}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { l.NewDeadline(fn) }), 2.0)
	d := l.NewDeadline(fn)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = d.Start(time.Hour)
		_, _ = l.Tick(false)
		d.Stop()
	}))
}

// modelDeadline is what the model knows about a deadline.
type modelDeadline struct {
	real    reactor.Deadline
	running bool
	hidden  bool          // as it was started
	asked   time.Time     // when it was started
	delay   time.Duration // what counts of it
	order   int           // of its start
	turn    int           // after which it was started
	due     uint64        // ns of the loop's clock; 0 until the turn that follows its start
	script  []func()      // what its function does when it is called next
}

// deadlineModel runs a few deadlines beside what is known about them.
type deadlineModel struct {
	t            *rapid.T
	l            *reactor.Loop
	all          [24]modelDeadline
	starts, turn int
	lastTurn     int // of the one that was called last in this turn: after which it was started
	lastDue      uint64
	lastOrder    int
}

func newDeadlineModel(t *rapid.T) *deadlineModel {
	s := &deadlineModel{t: t, l: newLoop(t)}
	for i := range s.all {
		m := &s.all[i]
		m.real.Init(s.l, func(*reactor.Deadline) { s.called(m) })
	}
	return s
}

func (s *deadlineModel) start(m *modelDeadline, d time.Duration, hide bool) {
	if m.running {
		hide = m.hidden
	}
	m.real.SetHidden(hide)
	s.starts++
	m.running, m.hidden, m.order, m.turn, m.due = true, hide, s.starts, s.turn, 0
	m.asked, m.delay = time.Now(), effective(d)
	require.NoError(s.t, m.real.Start(d))
}

func (s *deadlineModel) stop(m *modelDeadline) {
	require.Equal(s.t, m.running, m.real.Stop())
	m.running = false
}

// place gives their time to the deadlines that were started before this turn.
func (s *deadlineModel) place() {
	for i := range s.all {
		if m := &s.all[i]; m.running && m.due == 0 && m.turn < s.turn {
			m.due = s.l.Binding().Now() + uint64(m.delay)
		}
	}
}

func (s *deadlineModel) called(m *modelDeadline) {
	s.place()
	require.True(s.t, m.running, "called though it is not running")
	require.GreaterOrEqual(s.t, time.Since(m.asked), m.delay, "early")
	require.Less(s.t, m.turn, s.turn, "called in the turn that started it")
	if s.lastTurn == m.turn {
		require.LessOrEqual(s.t, s.lastDue, m.due, "the order of the delays")
		if s.lastDue == m.due {
			require.Less(s.t, s.lastOrder, m.order, "the order of the starts")
		}
	}
	s.lastTurn, s.lastDue, s.lastOrder = m.turn, m.due, m.order
	m.running = false
	script := m.script
	m.script = nil
	for _, act := range script {
		act()
	}
}

func (s *deadlineModel) tick() {
	s.turn++
	s.lastTurn = -1
	over := s.l.Binding().LoopTime()
	tick(s.t, s.l)
	s.place()
	for i := range s.all {
		if m := &s.all[i]; m.running && m.due != 0 {
			require.Greater(s.t, (m.due+uint64(ms)-1)/uint64(ms), over, "overdue, and not called")
		}
	}
}

func (s *deadlineModel) check() {
	running, visible := 0, 0
	for i := range s.all {
		m := &s.all[i]
		require.Equal(s.t, m.running, m.real.Running())
		if m.running {
			running++
			if !m.hidden {
				visible++
			}
		}
	}
	require.Equal(s.t, visible, s.l.Live())
	require.Equal(s.t, running, s.l.Stats().Deadlines)
}

// drawDelay returns delays for every level of the wheel; the long ones are never waited for.
func drawDelay(t *rapid.T) time.Duration {
	switch rapid.IntRange(0, 9).Draw(t, "size") {
	case 0, 1, 2, 3, 4:
		return time.Duration(rapid.Int64Range(1, int64(3*ms)).Draw(t, "short"))
	case 5, 6:
		return time.Duration(rapid.Int64Range(1, int64(20*ms)).Draw(t, "middle"))
	case 7:
		return time.Duration(rapid.Int64Range(int64(200*ms), int64(300*ms)).Draw(t, "around the first border"))
	default:
		bits := rapid.IntRange(34, 63).Draw(t, "bits")
		return time.Duration(rapid.Uint64Range(1<<(bits-1), 1<<bits-1).Draw(t, "long"))
	}
}

// TestDeadline_BehavesLikeItsModel does random things to a few deadlines and compares what happens with what must.
func TestDeadline_BehavesLikeItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newDeadlineModel(t)
		pick := func(t *rapid.T, label string) *modelDeadline {
			return &s.all[rapid.IntRange(0, len(s.all)-1).Draw(t, label)]
		}
		drawStart := func(t *rapid.T) func() {
			m, d, hide := pick(t, "which"), drawDelay(t), rapid.Bool().Draw(t, "hidden")
			return func() { s.start(m, d, hide) }
		}
		drawStop := func(t *rapid.T) func() {
			m := pick(t, "which")
			return func() { s.stop(m) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"start":      func(t *rapid.T) { drawStart(t)() },
			"start more": func(t *rapid.T) { drawStart(t)(); drawStart(t)() },
			"stop":       func(t *rapid.T) { drawStop(t)() },
			"script": func(t *rapid.T) {
				m := pick(t, "actor")
				m.script = nil
				for range rapid.IntRange(1, 3).Draw(t, "acts") {
					if rapid.Bool().Draw(t, "stops") {
						m.script = append(m.script, drawStop(t))
					} else {
						m.script = append(m.script, drawStart(t))
					}
				}
			},
			"turn": func(*rapid.T) { s.tick() },
			"turn after a while": func(t *rapid.T) {
				burn(time.Duration(rapid.IntRange(0, 3000).Draw(t, "us")) * time.Microsecond)
				s.tick()
			},
			"": func(*rapid.T) { s.check() },
		})
	})
}
