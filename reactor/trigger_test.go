package reactor_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

func newTrigger(t tester, l *reactor.Loop, fn func()) *reactor.Trigger {
	t.Helper()
	trigger, err := l.NewTrigger()
	require.NoError(t, err)
	on(t, trigger, fn)
	return trigger
}

func TestTrigger_REACT14_FiredFromAnotherGoroutineRunsOnTheLoop(t *testing.T) {
	l := newLoop(t)
	var trigger *reactor.Trigger
	onLoop := 0 // unguarded: the race detector sees a callback on another goroutine
	trigger = newTrigger(t, l, func() {
		onLoop++
		assert.True(t, trigger.Started(), "it goes on")
		require.NoError(t, trigger.Stop())
	})
	require.NoError(t, trigger.Start())
	assert.Equal(t, 1, l.Live())
	go trigger.Fire()
	run(t, l)
	assert.Equal(t, 1, onLoop)
}

func TestTrigger_REACT14_EveryFiringIsFollowedByACallback(t *testing.T) {
	l := newLoop(t)
	const goroutines = 8
	each := scaled(5000)
	var fired atomic.Int64
	seen, calls := int64(0), 0
	trigger := newTrigger(t, l, func() {
		calls++
		seen = fired.Load()
	})
	require.NoError(t, trigger.Start())
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for i := range each {
				fired.Add(1)
				trigger.Fire()
				if i%7 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	// A lost one would leave the loop asleep.
	turnUntil(t, l, func() bool { return seen == int64(goroutines*each) })
	group.Wait()
	assert.LessOrEqual(t, calls, goroutines*each, "firings merge, and never multiply")
	t.Logf("%d firings, %d callbacks", goroutines*each, calls)
}

func TestTrigger_REACT14_FiringsBeforeATurnMerge(t *testing.T) {
	l := newLoop(t)
	calls := 0
	trigger := newTrigger(t, l, func() { calls++ })
	require.NoError(t, trigger.Start())
	for range 100 {
		trigger.Fire()
	}
	tick(t, l)
	tick(t, l)
	assert.Equal(t, 1, calls)
	trigger.Fire()
	tick(t, l)
	assert.Equal(t, 2, calls)
}

func TestTrigger_REACT14_FiredFromItsOwnCallbackHappensAgain(t *testing.T) {
	l := newLoop(t)
	calls, lastTurn := 0, uint32(0)
	var trigger *reactor.Trigger
	trigger = newTrigger(t, l, func() {
		calls++
		assert.NotEqual(t, lastTurn, l.Stats().Turns, "in another turn, so it starves nobody")
		lastTurn = l.Stats().Turns
		if calls == 5 {
			require.NoError(t, trigger.Stop())
			return
		}
		trigger.Fire()
	})
	require.NoError(t, trigger.Start())
	trigger.Fire()
	run(t, l)
	assert.Equal(t, 5, calls)
}

func TestTrigger_REACT14_FiredBeforeItIsStarted(t *testing.T) {
	l := newLoop(t)
	calls := 0
	trigger := newTrigger(t, l, func() { calls++ })
	trigger.Fire()
	trigger.Fire()
	tick(t, l)
	assert.Zero(t, calls)
	require.NoError(t, trigger.Start())
	turnUntil(t, l, func() bool { return calls > 0 })
	tick(t, l)
	assert.Equal(t, 1, calls)

	require.NoError(t, trigger.Stop())
	trigger.Fire()
	tick(t, l)
	assert.Equal(t, 1, calls, "nor while it is stopped")
	require.NoError(t, trigger.Start())
	turnUntil(t, l, func() bool { return calls == 2 })
}

func TestTrigger_REACT14_StoppedWithAFiringUnderWay(t *testing.T) {
	l := newLoop(t)
	calls := 0
	trigger := newTrigger(t, l, func() { calls++ })
	require.NoError(t, trigger.Start())
	trigger.Fire()
	require.NoError(t, trigger.Stop())
	turnFor(t, l, ms)
	assert.Zero(t, calls)
	require.NoError(t, trigger.Start())
	turnUntil(t, l, func() bool { return calls == 1 })
	assert.Equal(t, 1, calls, "a firing is not lost by a stop")
}

func TestTrigger_REACT14_FireAfterCloseDoesNothing(t *testing.T) {
	l := newLoop(t)
	trigger := newTrigger(t, l, func() { t.Error("closed") })
	never := newTrigger(t, l, func() { t.Error("never started") })
	require.NoError(t, trigger.Start())
	trigger.Fire()
	require.NoError(t, trigger.Close())
	trigger.Fire()
	tick(t, l)
	tick(t, l)
	assertBalanced(t, l)
	trigger.Fire()
	require.NoError(t, l.Close())
	trigger.Fire()
	never.Fire()
}

func TestTrigger_REACT14_FireRacesClose(t *testing.T) {
	l := newLoop(t)
	calls := 0
	for range races(10_000) {
		trigger := newTrigger(t, l, func() { calls++ })
		require.NoError(t, trigger.Start())
		var group sync.WaitGroup
		begin := make(chan struct{})
		for range 2 {
			group.Go(func() {
				<-begin
				trigger.Fire()
				trigger.Fire()
			})
		}
		close(begin)
		if calls%3 == 0 {
			tick(t, l)
		}
		require.NoError(t, trigger.Close())
		after := calls
		tick(t, l)
		require.Equal(t, after, calls, "none after Close")
		group.Wait()
	}
	tick(t, l)
	assertBalanced(t, l)
}

func TestTrigger_REACT14_FireRacesTheCloseOfTheLoop(t *testing.T) {
	for range scaled(1000) {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		trigger := newTrigger(t, l, func() {})
		require.NoError(t, trigger.Start())
		var stop atomic.Bool
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for !stop.Load() {
					trigger.Fire()
				}
			})
		}
		tick(t, l)
		require.NoError(t, l.Close())
		stop.Store(true)
		group.Wait()
	}
}

func TestTrigger_REACT14_FireRacesStartAndStop(t *testing.T) {
	l := newLoop(t)
	calls := 0
	trigger := newTrigger(t, l, func() { calls++ })
	var stop atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for !stop.Load() {
			trigger.Fire()
			runtime.Gosched()
		}
	})
	for range scaled(3000) {
		require.NoError(t, trigger.Start())
		tick(t, l)
		require.NoError(t, trigger.Stop())
		before := calls
		tick(t, l)
		require.Equal(t, before, calls)
	}
	stop.Store(true)
	group.Wait()
	trigger.Fire()
	require.NoError(t, trigger.Start())
	before := calls
	turnUntil(t, l, func() bool { return calls > before })
}

func TestTrigger_WakesALoopThatSleeps(t *testing.T) {
	l := newLoop(t)
	woken := false
	trigger := newTrigger(t, l, func() { woken = true })
	require.NoError(t, trigger.Start())
	timer := time.AfterFunc(3*ms, trigger.Fire)
	defer timer.Stop()
	for !woken {
		_, err := l.Tick(true)
		require.NoError(t, err)
	}
}

func TestTrigger_EVT04_HiddenOneDoesNotCount(t *testing.T) {
	l := newLoop(t)
	calls := 0
	trigger := newTrigger(t, l, func() { calls++ })
	trigger.SetHidden(true)
	require.NoError(t, trigger.Start())
	assert.Zero(t, l.Live())
	trigger.Fire()
	tick(t, l)
	assert.Equal(t, 1, calls)
	trigger.SetHidden(false)
	assert.Equal(t, 1, l.Live())
	require.NoError(t, trigger.Close())
	assert.Zero(t, l.Live())
}

func TestTrigger_ResultIsNilAndInfoSaysTheState(t *testing.T) {
	l := newLoop(t)
	trigger, err := l.NewTrigger()
	require.NoError(t, err)
	called := false
	_, err = trigger.Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
		called = true
		assert.Nil(t, result)
		assert.NoError(t, err)
	})
	require.NoError(t, err)
	assert.Equal(t, "trigger, not started", trigger.Info())
	require.NoError(t, trigger.Start())
	assert.Equal(t, "trigger, started", trigger.Info())
	trigger.Fire()
	tick(t, l)
	assert.True(t, called)
	require.NoError(t, trigger.Close())
	assert.Equal(t, "trigger, closed", trigger.Info())
}
