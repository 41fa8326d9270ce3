package reactor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// openHandles is how many handles of the loop have not had their close callback.
func openHandles(l *reactor.Loop) int {
	n := 0
	for _, h := range l.Stats().Handles {
		n += int(h.Opened - h.Closed)
	}
	return n
}

func TestReference_DroppedBeforeItIsStarted(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	collected := 0
	for range 50 {
		timer := newTimer(t, l, ms, func() { t.Error("never started") })
		every, again, trigger := newPeriodic(t, l, ms, func() {}), newRearming(t, l, ms, func() {}), newTrigger(t, l, func() {})
		poll := newPoll(t, l, r, readable)
		// Callbacks that lead back to the reference do not keep it.
		on(t, timer, func() { runtime.KeepAlive(timer) })
		on(t, every, func() { _ = every.Stop() })
		on(t, again, func() { _ = again.Rearm(ms) })
		on(t, trigger, func() { trigger.Fire() })
		on(t, poll, func() { _ = poll.Stop() })
		for _, e := range []event.Event{timer, every, again, trigger, poll} {
			runtime.AddCleanup(e.AsEvent(), func(n *int) { _ = l.Post(func() { *n++ }) }, &collected)
		}
	}
	collectUntil(t, l, func() bool { return collected == 250 && openHandles(l) == 0 })
	assert.Zero(t, l.Stats().Orphans)
	assertBalanced(t, l)
	assert.Zero(t, l.Live())
}

func TestReference_DroppedOneShotFiresAndIsFreed(t *testing.T) {
	l := newLoop(t)
	fired := 0
	for range 50 {
		startTimer(t, l, 5*ms, func() { fired++ })
	}
	runtime.GC()
	runtime.GC()
	assert.Equal(t, 50, l.Live(), "collection does not stop a running timer")
	run(t, l)
	assert.Equal(t, 50, fired)
	tick(t, l)
	assertBalanced(t, l)
}

func TestReference_DroppedPeriodicGoesOnAndIsCounted(t *testing.T) {
	l := newLoop(t)
	fired := 0
	newPeriodicAndDrop := func() {
		timer := newPeriodic(t, l, ms, func() { fired++ })
		require.NoError(t, timer.Start())
	}
	newPeriodicAndDrop()
	assert.Zero(t, l.Stats().Orphans)
	collectUntil(t, l, func() bool { return l.Stats().Orphans == 1 })
	before := fired
	turnUntil(t, l, func() bool { return fired >= before+3 })
	assert.Equal(t, 1, l.Live())
	require.NoError(t, l.Close())
	assert.Zero(t, l.Stats().Orphans)
}

func TestReference_DroppedPeriodicThatIsStoppedByItsCallbackIsFreed(t *testing.T) {
	l := newLoop(t)
	left := 20
	start := func() {
		timer, err := l.NewPeriodicTimer(ms)
		require.NoError(t, err)
		_, err = timer.Subscribe(func(b *event.Base, _ *event.Callback, _ any, _ error) {
			if l.Stats().Orphans == left {
				left--
				_ = b.Stop()
			}
		})
		require.NoError(t, err)
		require.NoError(t, timer.Start())
	}
	for range left {
		start()
	}
	collectUntil(t, l, func() bool { return l.Live() == 0 })
	tick(t, l)
	assert.Zero(t, l.Stats().Orphans, "it is no orphan any more")
	assertBalanced(t, l)
}

func TestReference_DroppedPollAndTriggerGoOnWhileStarted(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	got := 0
	var fire func()
	start := func() {
		p := startPoll(t, l, r, readable)
		_, err := p.Subscribe(func(b *event.Base, _ *event.Callback, _ any, _ error) {
			got += len(read(t, r))
			if got == 3 {
				_ = b.Stop()
			}
		})
		require.NoError(t, err)
		trigger := newTrigger(t, l, func() { got += 100 })
		require.NoError(t, trigger.Start())
		fire = trigger.Fire
	}
	start()
	tick(t, l)
	fire()
	fire = nil
	collectUntil(t, l, func() bool { return l.Stats().Orphans == 2 })
	assert.Equal(t, 100, got)
	got = 0
	for range 3 {
		write(t, w, "x")
		tick(t, l)
	}
	assert.Equal(t, 3, got)
	assert.Equal(t, 1, l.Stats().Orphans, "the stopped one is gone")
	assert.Equal(t, 1, l.Live())
	collectUntil(t, l, func() bool { return l.Binding().Walk()["poll"] == 0 })
}

func TestReference_RearmingTimerThatLivesThroughItsOwnCallback(t *testing.T) {
	l := newLoop(t)
	fired := 0
	start := func() {
		var timer *reactor.Timer
		timer = newRearming(t, l, ms, func() {
			fired++
			runtime.GC()
			if fired < 20 {
				require.NoError(t, timer.Rearm(ms))
			}
		})
		require.NoError(t, timer.Start())
	}
	start()
	run(t, l)
	assert.Equal(t, 20, fired)
	collectUntil(t, l, func() bool { return openHandles(l) == 0 })
}

func TestReference_CollectedAfterTheLoopWasClosed(t *testing.T) {
	for range 20 {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		r, _ := pipe(t)
		for range 10 {
			newPeriodic(t, l, ms, func() {})
			newTrigger(t, l, func() {})
			startPoll(t, l, r, readable)
		}
		require.NoError(t, l.Close())
	}
	runtime.GC()
	runtime.GC()
}

func TestReference_CollectionRacesTheCloseOfTheLoop(t *testing.T) {
	for range scaled(200) {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		for range 20 {
			newPeriodic(t, l, ms, func() {})
			newTrigger(t, l, func() {})
		}
		go runtime.GC()
		tick(t, l)
		require.NoError(t, l.Close())
	}
}

func TestReference_TheLoopItselfCanBeCollectedAfterClose(t *testing.T) {
	gone := make(chan struct{})
	func() {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		timer := newPeriodic(t, l, ms, func() {})
		require.NoError(t, timer.Start())
		runtime.AddCleanup(l, func(c chan struct{}) { close(c) }, gone)
		tick(t, l)
		require.NoError(t, l.Close())
	}()
	for end := time.Now().Add(patience); ; {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-time.After(ms):
		}
		if time.Now().After(end) {
			t.Fatal("something still leads to the closed loop")
		}
	}
}

// oneOfEachKind makes one event of each kind.
func oneOfEachKind(t tester, l *reactor.Loop) map[string]referenced {
	t.Helper()
	r, _ := pipe(t)
	return map[string]referenced{
		"timer":          newTimer(t, l, time.Hour, func() {}),
		"periodic timer": newPeriodic(t, l, time.Hour, func() {}),
		"rearming timer": newRearming(t, l, time.Hour, func() {}),
		"trigger":        newTrigger(t, l, func() {}),
		"poll":           newPoll(t, l, r, readable),
		"poll proxy":     newProxy(t, newPoll(t, l, r, readable), readable),
	}
}

type referenced interface {
	event.Event
	subscriber
	Start() error
	Stop() error
	Started() bool
	SetHidden(bool)
	AddCallback(*event.Callback) error
	DelCallback(*event.Callback) bool
	Replay(*event.Callback) error
	Outcome() (any, bool, error)
	Close() error
	Closed() bool
	Dispose()
	Info() string
}

func TestReference_EVT06_DisposeAndCloseAreIdempotent(t *testing.T) {
	l := newLoop(t)
	for _, started := range []bool{false, true} {
		for kind, e := range oneOfEachKind(t, l) {
			if started {
				require.NoError(t, e.Start())
				tick(t, l)
			}
			require.NoError(t, e.Close(), kind)
			assert.Zero(t, l.Live(), kind)
			require.NoError(t, e.Close(), kind)
			e.Dispose()
			e.Dispose()
			require.NoError(t, e.Close(), kind)
			assert.Zero(t, e.AsEvent().Refs(), kind)
		}
		for kind, e := range oneOfEachKind(t, l) {
			if started {
				require.NoError(t, e.Start())
			}
			e.Dispose()
			e.Dispose()
			assert.NoError(t, e.Close(), kind)
			if started {
				assert.Equal(t, 1, l.Live(), "a started %s goes on without its reference", kind)
				assert.Equal(t, 1, e.AsEvent().Refs())
				require.NoError(t, e.AsEvent().Stop())
			}
			assert.Zero(t, l.Live(), kind)
			assert.Zero(t, e.AsEvent().Refs(), kind)
		}
	}
	runtime.GC()
	tick(t, l)
	collectUntil(t, l, func() bool { return openHandles(l) == 0 })
}

func TestReference_EVT06_TheLastOneOfSeveralReferencesCloses(t *testing.T) {
	l := newLoop(t)
	for kind, e := range oneOfEachKind(t, l) {
		if kind == "timer" || kind == "poll proxy" {
			continue
		}
		require.NoError(t, e.Start())
		e.AsEvent().AddRef()
		e.Dispose()
		assert.True(t, e.AsEvent().Started(), "%s: others still refer to it", kind)
		assert.Equal(t, 1, l.Live())
		require.NoError(t, e.AsEvent().Stop())
		assert.Equal(t, 1, e.AsEvent().Refs(), "the loop has given its own back")
		e.AsEvent().Dispose()
		assert.Zero(t, e.AsEvent().Refs())
		assert.True(t, e.AsEvent().Has(event.FlagClosed))
		assert.Zero(t, e.AsEvent().Callbacks(), "callbacks are freed")
	}
}

func TestReference_EveryCallOnAClosedOneAnswersErrClosed(t *testing.T) {
	l := newLoop(t)
	ends := map[string]func(e referenced){
		"Close":   func(e referenced) { require.NoError(t, e.Close()) },
		"Dispose": func(e referenced) { e.Dispose() },
	}
	for end, do := range ends {
		for kind, e := range oneOfEachKind(t, l) {
			cb := on(t, e, func() {})
			do(e)
			_, subscribed := e.Subscribe(func(*event.Base, *event.Callback, any, error) {})
			_, _, outcome := e.Outcome()
			fresh := event.NewCallback(func(*event.Base, *event.Callback, any, error) {}, nil)
			for call, err := range map[string]error{
				"Start": e.Start(), "Subscribe": subscribed, "AddCallback": e.AddCallback(fresh), "Replay": e.Replay(fresh), "Outcome": outcome,
			} {
				assert.ErrorIs(t, err, event.ErrClosed, "%s of a %s after %s", call, kind, end)
				var closed *event.ClosedError
				assert.ErrorAs(t, err, &closed)
				assert.ErrorContains(t, err, call)
			}
			assert.NoError(t, e.Stop())
			assert.False(t, e.Started())
			e.SetHidden(true)
			assert.True(t, e.Closed())
			assert.NotZero(t, e.Flags()&event.FlagReference)
			assert.NotEmpty(t, e.Info())
			e.DelCallback(cb)
			assert.Zero(t, l.Live())
		}
	}
	r, _ := pipe(t)
	poll := newPoll(t, l, r, readable)
	require.NoError(t, poll.Close())
	_, err := poll.NewProxy(readable)
	assert.ErrorIs(t, err, event.ErrClosed)
	assert.ErrorContains(t, err, "Poll.NewProxy")
}

func TestReference_StopOfADisposedOneDoesNotStopTheEvent(t *testing.T) {
	l := newLoop(t)
	fired := 0
	timer := startTimer(t, l, 2*ms, func() { fired++ })
	timer.Dispose()
	require.NoError(t, timer.Stop())
	run(t, l)
	assert.Equal(t, 1, fired)
}

func TestReference_ClosedFromItsOwnCallback(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	write(t, w, "x")
	calls := map[string]int{}
	var every, again *reactor.Timer
	var trigger *reactor.Trigger
	every = newPeriodic(t, l, ms, func() { calls["every"]++; require.NoError(t, every.Close()) })
	again = newRearming(t, l, ms, func() { calls["again"]++; require.NoError(t, again.Close()) })
	trigger = newTrigger(t, l, func() { calls["trigger"]++; require.NoError(t, trigger.Close()) })
	poll := newPoll(t, l, r, readable)
	on(t, poll, func() { calls["poll"]++; require.NoError(t, poll.Close()) })
	second := 0
	for _, e := range []referenced{every, again, trigger, poll} {
		on(t, e, func() { second++ })
		require.NoError(t, e.Start())
	}
	trigger.Fire()
	run(t, l)
	assert.Equal(t, map[string]int{"every": 1, "again": 1, "trigger": 1, "poll": 1}, calls)
	assert.Equal(t, 4, second, "EVT-10: whoever comes later in the same pass is still told")
	tick(t, l)
	assertBalanced(t, l)
}

func TestReference_HandlesOfStoppedEventsAreGivenBack(t *testing.T) {
	l := newLoop(t)
	for range 3 {
		for _, e := range oneOfEachKind(t, l) {
			require.NoError(t, e.Start())
			require.NoError(t, e.Stop())
		}
	}
	tick(t, l)
	tick(t, l)
	for _, k := range []cuv.Kind{cuv.KindTimer, cuv.KindAsync, cuv.KindSignal} {
		h := l.Stats().Handles[k]
		assert.Equal(t, h.Opened, h.Closed, "%v", k)
	}
}
