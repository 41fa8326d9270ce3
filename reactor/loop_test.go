package reactor_test

import (
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/foreign"
	"github.com/uvasync/uvasync/reactor"
)

func TestLoop_RunEndsAtOnceWhenNothingIsStarted(t *testing.T) {
	l := newLoop(t)
	run(t, l)
	newTimer(t, l, ms, func() { t.Error("it was not started") })
	run(t, l)
	assert.Zero(t, l.Stats().Turns)
}

func TestLoop_DEAD04_HiddenEventsDoNotKeepRunGoing(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	hide := func(e interface {
		SetHidden(bool)
		Start() error
	}) {
		e.SetHidden(true)
		require.NoError(t, e.Start())
		assert.Zero(t, l.Live())
	}
	hide(newPeriodic(t, l, ms, func() {}))
	hide(newRearming(t, l, time.Hour, func() {}))
	hide(newTrigger(t, l, func() {}))
	hide(newPoll(t, l, r, readable))
	var d reactor.Deadline
	d.Init(l, func(*reactor.Deadline) {})
	d.SetHidden(true)
	require.NoError(t, d.Start(time.Hour))
	assert.Zero(t, l.Live())
	run(t, l)

	asked := time.Now()
	startTimer(t, l, 5*ms, func() {})
	assert.Equal(t, 1, l.Live(), "a visible one does")
	run(t, l)
	assert.GreaterOrEqual(t, time.Since(asked), 5*ms)
	assert.Zero(t, l.Live())
}

func TestLoop_DEAD04_EveryVisibleEventCounts(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	starts := []func() (stop func()){
		func() func() {
			e := newTimer(t, l, time.Hour, func() {})
			_ = e.Start()
			return func() { _ = e.Stop() }
		},
		func() func() {
			e := newPeriodic(t, l, time.Hour, func() {})
			_ = e.Start()
			return func() { _ = e.Close() }
		},
		func() func() { e := newTrigger(t, l, func() {}); _ = e.Start(); return func() { _ = e.Stop() } },
		func() func() { e := newPoll(t, l, r, readable); _ = e.Start(); return func() { _ = e.Close() } },
		func() func() { e := newPoll(t, l, r, writable); _ = e.Start(); return func() { _ = e.Stop() } },
		func() func() { d := startDeadline(t, l, time.Hour, func() {}); return func() { d.Stop() } },
	}
	var stops []func()
	for i, start := range starts {
		stops = append(stops, start())
		assert.Equal(t, i+1, l.Live())
		assert.Equal(t, i+1, l.Stats().Live)
	}
	tick(t, l)
	for i, stop := range stops {
		stop()
		assert.Equal(t, len(stops)-i-1, l.Live())
	}
	run(t, l)
}

func TestLoop_EVT04_SetHiddenWhileStarted(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	events := map[string]interface {
		SetHidden(bool)
		Start() error
		Stop() error
		Close() error
	}{
		"timer": newRearming(t, l, time.Hour, func() {}), "async": newTrigger(t, l, func() {}), "poll": newPoll(t, l, r, readable),
	}
	for kind, e := range events {
		require.NoError(t, e.Start())
		tick(t, l)
		assert.Equal(t, 1, l.Live())
		referenced := func() int {
			n := foreign.Referenced(l.Binding().Handle())[kind]
			if kind == "async" {
				n-- // the loop's own wake-up handle
			}
			return n
		}
		assert.Equal(t, 1, referenced(), "C code that runs the loop waits for a visible %s", kind)
		e.SetHidden(true)
		e.SetHidden(true)
		assert.Zero(t, l.Live())
		tick(t, l)
		assert.Zero(t, referenced(), "but not for a hidden %s", kind)
		e.SetHidden(false)
		assert.Equal(t, 1, l.Live())
		tick(t, l)
		assert.Equal(t, 1, referenced())
		e.SetHidden(true)
		require.NoError(t, e.Stop())
		assert.Zero(t, l.Live())
		require.NoError(t, e.Start())
		assert.Zero(t, l.Live())
		tick(t, l)
		assert.Zero(t, referenced(), "%s, hidden before its start", kind)
		require.NoError(t, e.Close())
		assert.Zero(t, l.Live())
	}
	tick(t, l)
	tick(t, l)
	assertBalanced(t, l)
}

func TestLoop_EVT04_APollIsHiddenWhileAllOnItsDescriptorAre(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	referenced := func() int { tick(t, l); return foreign.Referenced(l.Binding().Handle())["poll"] }
	hidden, visible := newPoll(t, l, r, readable), newPoll(t, l, r, readable)
	hidden.SetHidden(true)
	require.NoError(t, hidden.Start())
	assert.Zero(t, referenced())
	require.NoError(t, visible.Start())
	assert.Equal(t, 1, referenced())
	assert.Equal(t, 1, l.Live())
	visible.SetHidden(true)
	assert.Zero(t, referenced())
	visible.SetHidden(false)
	assert.Equal(t, 1, referenced())
	require.NoError(t, visible.Stop())
	assert.Zero(t, referenced())
	assert.Zero(t, l.Live())
}

func TestLoop_CallsThatAreNotAllowedInACallback(t *testing.T) {
	l := newLoop(t)
	calls := map[string]func() error{
		"Loop.Tick":  func() error { _, err := l.Tick(false); return err },
		"Loop.Run":   l.Run,
		"Loop.Close": l.Close,
	}
	check := func() {
		for name, call := range calls {
			var usage *event.UsageError
			err := call()
			require.ErrorAs(t, err, &usage)
			assert.ErrorContains(t, err, name)
		}
	}
	checks := 0
	startTimer(t, l, ms, func() { check(); checks++ })
	startDeadline(t, l, ms, func() { check(); checks++ })
	require.NoError(t, l.Post(func() { check(); checks++ }))
	run(t, l)
	assert.Equal(t, 3, checks)
	startTimer(t, l, ms, func() { checks++ })
	run(t, l)
	assert.Equal(t, 4, checks, "the loop goes on")
}

// The refused call must not disturb what waits for delivery in the turn.
func TestLoop_RefusedTickLeavesTheDeadlinesOfTheTurnAlone(t *testing.T) {
	l := newLoop(t)
	fired := 0
	called := false
	startTimer(t, l, 2*ms, func() {
		called = true
		startDeadline(t, l, time.Hour, func() { t.Error("an hour") })
		_, err := l.Tick(false)
		assert.ErrorIs(t, err, event.ErrUsage)
	})
	for range 3 {
		startDeadline(t, l, 2*ms, func() { fired++ })
	}
	turnUntil(t, l, func() bool { return called })
	assert.Equal(t, 3, fired, "they were due in the same turn")
}

func TestLoop_CloseIsIdempotentAndEndsEveryCall(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	timer, every, again := newTimer(t, l, ms, func() {}), newPeriodic(t, l, ms, func() {}), newRearming(t, l, ms, func() {})
	trigger, poll := newTrigger(t, l, func() {}), newPoll(t, l, r, readable)
	var d reactor.Deadline
	d.Init(l, func(*reactor.Deadline) {})
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())

	err := func(_ any, err error) error { return err }
	for call, got := range map[string]error{
		"Loop.NewTimer":         err(l.NewTimer(ms)),
		"Loop.NewPeriodicTimer": err(l.NewPeriodicTimer(ms)),
		"Loop.NewRearmingTimer": err(l.NewRearmingTimer(ms)),
		"Loop.NewTrigger":       err(l.NewTrigger()),
		"Loop.NewPoll":          err(l.NewPoll(r.fd, readable)),
		"Poll.NewProxy":         err(poll.NewProxy(readable)),
		"Timer.Rearm":           again.Rearm(ms),
		"Loop.Tick":             err(l.Tick(false)),
		"Loop.Run":              l.Run(),
		"Loop.Post":             l.Post(func() {}),
		"Deadline.Start":        d.Start(ms),
	} {
		assert.ErrorIs(t, got, event.ErrClosed, call)
		var closed *event.ClosedError
		assert.ErrorAs(t, got, &closed, call)
		assert.ErrorContains(t, got, call)
	}
	for _, e := range []interface {
		Start() error
		Stop() error
		Close() error
	}{timer, every, again, trigger, poll} {
		assert.ErrorIs(t, e.Start(), event.ErrClosed)
		assert.NoError(t, e.Stop())
		assert.NoError(t, e.Close())
		assert.NoError(t, e.Close())
	}
	l.Stop()
	trigger.Fire()
	assert.Zero(t, l.Live())
	assert.NotPanics(t, func() { l.Stats() })
	assert.Nil(t, l.Binding().Handle())
	assert.Empty(t, l.Binding().Walk())
}

// REACT-19: with everything open, started or not, in every state.
func TestLoop_REACT19_CloseWithEverythingOpen(t *testing.T) {
	before := cuv.ProcessHandles()
	for _, turns := range []int{0, 1, 3} {
		l := newLoop(t)
		closing := false
		never := func() { assert.False(t, closing, "nothing fires when the loop closes, or afterwards") }
		a, b := socketpair(t)
		fd, _ := socketpair(t)
		fd.disown()
		write(t, b, "x")
		for _, start := range []bool{false, true} {
			owned, err := l.NewPoll(fd.fd, readable, reactor.CloseFD())
			require.NoError(t, err)
			on(t, owned, never)
			events := []interface{ Start() error }{
				newTimer(t, l, 0, never), newTimer(t, l, time.Hour, never), newPeriodic(t, l, ms, never), newRearming(t, l, ms, never),
				newTrigger(t, l, never), newPoll(t, l, a, readable), newPoll(t, l, a, writable|disconnect), owned,
			}
			for _, e := range events {
				on(t, e.(subscriber), never)
				if start {
					require.NoError(t, e.Start())
				}
			}
		}
		startDeadline(t, l, ms, never)
		startDeadline(t, l, time.Hour, never)
		for range turns {
			tick(t, l)
			burn(ms / 2)
		}
		// These are closed already, but not yet gone.
		closed := newTimer(t, l, ms, never)
		require.NoError(t, closed.Start())
		require.NoError(t, closed.Close())
		require.NoError(t, newPoll(t, l, b, readable).Close())
		closing = true
		require.NoError(t, l.Close())
		assert.Zero(t, l.Live())
		assert.Zero(t, l.Stats().Deadlines)
		assert.Zero(t, l.Stats().Orphans)
		assert.False(t, isOpen(fd))
	}
	after := cuv.ProcessHandles()
	for _, k := range cuv.Kinds {
		opened, closed := after[k].Opened-before[k].Opened, after[k].Closed-before[k].Closed
		assert.Equal(t, opened, closed, "%v handles", k)
		if k != cuv.KindSignal {
			assert.Positive(t, opened, "%v handles", k)
		}
	}
}

func TestLoop_REACT19_WhatAPanicLeftIsNotToldByClose(t *testing.T) {
	l := newLoop(t)
	startTimer(t, l, ms, func() { panic("first") })
	startTimer(t, l, ms, func() { t.Error("every event is closed without being told") })
	startDeadline(t, l, ms, func() { t.Error("every deadline is dropped without being called") })
	assert.PanicsWithValue(t, "first", func() { _ = l.Run() })
	require.NoError(t, l.Close())
	assert.Zero(t, l.Live())
}

func TestLoop_CloseWithAForeignHandleOpen(t *testing.T) {
	l := newLoop(t)
	theirs := foreign.NewTimer(l.Binding().Handle(), 3_600_000, 0, func() {})
	startTimer(t, l, time.Hour, func() { t.Error("closed") })
	for range 2 {
		err := l.Close()
		require.ErrorIs(t, err, syscall.EBUSY)
		var typed *cuv.Error
		require.ErrorAs(t, err, &typed)
		assert.Equal(t, "EBUSY", typed.Name)
		assert.ErrorContains(t, err, "timer", "it names what is open")
	}
	_, err := l.Tick(false)
	assert.ErrorIs(t, err, event.ErrClosed, "the loop is closed all the same")
	assert.ErrorIs(t, l.Post(func() {}), event.ErrClosed)
	theirs.Close()
	require.NoError(t, l.Close())
	assert.True(t, theirs.Closed())
	theirs.Free()
	require.NoError(t, l.Close())
}

func TestLoop_CCodeOnTheLoopMayCallGo(t *testing.T) {
	l := newLoop(t)
	calls := 0
	theirs := foreign.NewTimer(l.Binding().Handle(), 1, 1, func() {
		calls++
		startTimer(t, l, ms, func() { calls += 100 }) // even this: it is applied in the next turn
	})
	turnUntil(t, l, func() bool { return calls >= 103 })
	theirs.Close()
	tick(t, l)
	require.True(t, theirs.Closed())
	theirs.Free()
	run(t, l)
}

func TestLoop_TwoLoopsInTwoGoroutines(t *testing.T) {
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			l, err := reactor.New(reactor.Options{})
			if !assert.NoError(t, err) {
				return
			}
			fired := 0
			for i := range 200 {
				startTimer(t, l, time.Duration(i%5)*ms, func() { fired++ })
				startDeadline(t, l, time.Duration(i%5)*ms, func() { fired++ })
			}
			assert.NoError(t, l.Run())
			assert.Equal(t, 400, fired)
			assert.NoError(t, l.Close())
		})
	}
	group.Wait()
}

func TestLoop_LoopsTalkToEachOther(t *testing.T) {
	a, b := newLoop(t), newLoop(t)
	rounds := scaled(5000)
	done := make(chan struct{})
	var ping, pong func()
	n := 0
	ping = func() { _ = b.Post(pong) }
	pong = func() {
		n++
		if n < rounds {
			_ = a.Post(ping)
		} else {
			a.Stop()
			b.Stop()
		}
	}
	keep := startTimer(t, b, time.Hour, func() {})
	startTimer(t, a, time.Hour, func() {})
	require.NoError(t, a.Post(ping))
	go func() {
		defer close(done)
		assert.NoError(t, b.Run())
	}()
	run(t, a)
	<-done
	assert.Equal(t, rounds, n)
	require.NoError(t, keep.Close())
}

func TestLoop_TickReportsHowManyThingsHappened(t *testing.T) {
	l := newLoop(t)
	n, err := l.Tick(false)
	require.NoError(t, err)
	assert.Zero(t, n)
	for range 5 {
		startTimer(t, l, ms, func() {})
	}
	for n == 0 {
		n, err = l.Tick(true)
		require.NoError(t, err)
	}
	assert.Equal(t, 5, n)
}

func TestLoop_TickWithoutBlockDoesNotSleep(t *testing.T) {
	l := newLoop(t)
	startTimer(t, l, time.Hour, func() {})
	for range 1000 {
		tick(t, l) // it would not come back
	}
	require.NoError(t, l.Close())
}

func TestLoop_PanicInACallbackPassesThroughAndTheRestIsDelivered(t *testing.T) {
	inOrder := func(t *testing.T, turn func(l *reactor.Loop)) {
		l := newLoop(t)
		r, w := pipe(t)
		write(t, w, "x")
		var got []string
		startTimer(t, l, ms, func() { got = append(got, "a"); panic("a") })
		startTimer(t, l, ms, func() { got = append(got, "b") })
		startDeadline(t, l, ms, func() { got = append(got, "deadline") }) // in which place is not said
		startTimer(t, l, ms, func() { got = append(got, "c"); panic("c") })
		startTimer(t, l, ms, func() { got = append(got, "d") })
		p := startPoll(t, l, r, readable)
		on(t, p, func() {
			got = append(got, "poll")
			_ = p.Stop()
		})
		burn(2 * ms)
		assert.PanicsWithValue(t, "a", func() { turn(l) })
		assert.PanicsWithValue(t, "c", func() { turn(l) })
		run(t, l)
		assert.ElementsMatch(t, []string{"a", "b", "deadline", "c", "d", "poll"}, got)
		assert.Equal(t, []string{"a", "b", "c", "d"}, without(without(got, "poll"), "deadline"))
		assert.Zero(t, l.Live())
	}
	t.Run("Run", func(t *testing.T) { inOrder(t, func(l *reactor.Loop) { _ = l.Run() }) })
	t.Run("Tick", func(t *testing.T) {
		inOrder(t, func(l *reactor.Loop) {
			for {
				_, _ = l.Tick(true)
			}
		})
	})
}

func TestLoop_PanicWithAnErrorValueAndGoexit(t *testing.T) {
	l := newLoop(t)
	failure := errors.New("failure")
	startTimer(t, l, ms, func() { panic(failure) })
	assert.PanicsWithError(t, "failure", func() { _ = l.Run() })

	// t.FailNow in a callback is a Goexit.
	done := make(chan struct{})
	ran := false
	startTimer(t, l, ms, func() { runtime.Goexit() })
	startTimer(t, l, ms, func() { ran = true })
	go func() {
		defer close(done)
		_ = l.Run()
	}()
	<-done
	run(t, l)
	assert.True(t, ran)
}

func TestLoop_PanickingEventsStayUsable(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	write(t, w, "x")
	again := newRearming(t, l, ms, func() { panic("rearming") })
	trigger := newTrigger(t, l, func() { panic("trigger") })
	poll := newPoll(t, l, r, readable)
	on(t, poll, func() { panic("poll") })
	every := newPeriodic(t, l, ms, func() { panic("periodic") })
	one := newTimer(t, l, ms, func() { panic("one") })
	for range 2 {
		require.NoError(t, again.Start())
		assert.PanicsWithValue(t, "rearming", func() { _ = l.Run() })
		assert.False(t, again.Started())
		require.NoError(t, trigger.Start())
		trigger.Fire()
		assert.PanicsWithValue(t, "trigger", func() { _ = l.Run() })
		assert.True(t, trigger.Started())
		require.NoError(t, trigger.Stop())
		require.NoError(t, poll.Start())
		assert.PanicsWithValue(t, "poll", func() { _ = l.Run() })
		assert.True(t, poll.Started())
		require.NoError(t, poll.Stop())
		require.NoError(t, every.Start())
		assert.PanicsWithValue(t, "periodic", func() { _ = l.Run() })
		assert.True(t, every.Started())
		require.NoError(t, every.Stop())
	}
	require.NoError(t, one.Start())
	assert.PanicsWithValue(t, "one", func() { _ = l.Run() })
	assert.True(t, one.Closed())
	assert.Zero(t, l.Live())
	for _, e := range []interface{ Close() error }{again, trigger, poll, every, one} {
		require.NoError(t, e.Close())
	}
	tick(t, l)
	tick(t, l)
	assertBalanced(t, l)
}

func TestLoop_StopEndsRunAfterTheTurn(t *testing.T) {
	l := newLoop(t)
	fired := 0
	startTimer(t, l, ms, func() { fired++; l.Stop() })
	startTimer(t, l, ms, func() { fired++ })
	startTimer(t, l, time.Hour, func() { t.Error("an hour") })
	run(t, l)
	assert.Equal(t, 2, fired, "the turn it is in is finished")
	assert.Equal(t, 1, l.Live())

	l.Stop()
	l.Stop()
	run(t, l) // at once
	startTimer(t, l, ms, func() { fired++; l.Stop() })
	run(t, l)
	assert.Equal(t, 3, fired, "one Stop ends one Run")
}

// Against a Run that is about to sleep, sleeps, or is about to return: a lost Stop would leave it asleep.
func TestLoop_StopFromAnotherGoroutineAtAnyMoment(t *testing.T) {
	l := newLoop(t)
	startTimer(t, l, time.Hour, func() { t.Error("an hour") })
	rng := newRand(t)
	for range races(10_000) {
		pause := rng.Intn(200)
		begin, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			close(begin)
			for range pause {
				runtime.Gosched()
			}
			l.Stop()
		}()
		<-begin
		run(t, l)
		<-done
		tick(t, l)
	}
	require.NoError(t, l.Close())
}

func TestLoop_StatsCountWhatThereIs(t *testing.T) {
	l := newLoop(t, reactor.Options{IdleTime: true})
	startTimer(t, l, 5*ms, func() {})
	startDeadline(t, l, time.Hour, func() {})
	before := l.Stats()
	assert.Equal(t, 2, before.Live)
	assert.Equal(t, 1, before.Deadlines)
	tick(t, l)
	s := l.Stats()
	assert.Equal(t, before.Turns+1, s.Turns)
	assert.Equal(t, cuv.HandleCount{Opened: 2}, s.Handles[cuv.KindTimer], "the timer, and the one that all deadlines share")
	assert.Equal(t, map[string]int{"timer": 2}, l.Binding().Walk())
	turnUntil(t, l, func() bool { return l.Live() == 1 })
	assert.GreaterOrEqual(t, l.Stats().IdleTime, 3*ms, "it slept until the timer")
	assert.Zero(t, newLoop(t).Stats().IdleTime)
}

func TestLoop_OptionsOfLibuv(t *testing.T) {
	l := newLoop(t, reactor.Options{BlockSignal: syscall.SIGPROF})
	startTimer(t, l, ms, func() {})
	run(t, l)

	_, err := reactor.New(reactor.Options{BlockSignal: syscall.SIGUSR1})
	var typed *cuv.Error
	require.ErrorAs(t, err, &typed)
	assert.ErrorIs(t, err, syscall.EINVAL)
	assert.Contains(t, typed.Op, "uv_loop_configure")
}

func TestLoop_YieldsToOtherGoroutines(t *testing.T) {
	// Every option must leave the loop working; how often it yields is a matter of speed.
	for _, every := range []time.Duration{0, time.Nanosecond, ms, -1} {
		l := newLoop(t, reactor.Options{YieldEvery: every})
		startTimer(t, l, 3*ms, func() {})
		run(t, l)
	}
}

func TestLoop_DescriptorsHaveRunOut(t *testing.T) {
	child.Pass(t, func() {
		var limit syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
		l := newLoop(t)
		r, w := pipe(t)
		small := syscall.Rlimit{Cur: uint64(w.fd) + 1, Max: limit.Max}
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &small))
		var full []int
		for {
			fd, err := syscall.Dup(0)
			if err != nil {
				break
			}
			full = append(full, fd)
		}
		_, err := reactor.New(reactor.Options{})
		var typed *cuv.Error
		assert.ErrorAs(t, err, &typed)
		assert.ErrorIs(t, err, syscall.EMFILE)
		// A loop that is there goes on.
		p := startPoll(t, l, r, readable)
		on(t, p, func() { require.NoError(t, p.Close()) })
		write(t, w, "x")
		startTimer(t, l, ms, func() {})
		run(t, l)
		for _, fd := range full {
			require.NoError(t, syscall.Close(fd))
		}
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	})
}

// A turn that starts a poll must not come back empty-handed: each such turn would cost two.
func TestLoop_BlockingTickSleepsAlsoWhenAPollWasJustStarted(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	p := newPoll(t, l, r, readable)
	on(t, p, func() { read(t, r); require.NoError(t, p.Stop()) })
	for range 5 {
		require.NoError(t, p.Start())
		timer := time.AfterFunc(2*ms, func() { _ = writeByte(w.fd, []byte("x")) })
		n, err := l.Tick(true)
		timer.Stop()
		require.NoError(t, err)
		require.Equal(t, 1, n, "it waits until something happens")
		require.False(t, p.Started())
	}
}

func TestLoop_FlushGivesOwnedDescriptorsBackAtOnce(t *testing.T) {
	l := newLoop(t)
	a, b := socketpair(t)
	a.disown()
	p, err := l.NewPoll(a.fd, readable, reactor.CloseFD())
	require.NoError(t, err)
	on(t, p, func() { t.Error("it is closed") })
	require.NoError(t, p.Start())
	tick(t, l)
	flushed := false
	require.NoError(t, l.Post(func() {
		require.NoError(t, p.Close())
		l.Flush()
		assert.False(t, isOpen(a))
		n, err := syscall.Read(b.fd, make([]byte, 1))
		assert.NoError(t, err)
		assert.Zero(t, n, "the peer sees the end")
		flushed = true
	}))
	run(t, l)
	assert.True(t, flushed)
	tick(t, l)
	assertBalanced(t, l)
	require.NoError(t, l.Close())
	l.Flush() // does nothing
}

func TestLoop_REACT09_FlushDoesNotMakeAnythingEarly(t *testing.T) {
	l := newLoop(t)
	rng := newRand(t)
	var m lateness
	for range 200 {
		d := ms + time.Duration(rng.Int63n(int64(3*ms)))
		asked := time.Now()
		startTimer(t, l, d, func() { m.note(asked, d) })
		startDeadline(t, l, d, func() { m.note(asked, d) })
		if rng.Intn(3) == 0 {
			l.Flush()
		}
		if rng.Intn(20) == 0 {
			tick(t, l)
		}
	}
	run(t, l)
	m.check(t, "timers and deadlines between flushes", 400)
}

func TestLoop_TypedSubscriptions(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	write(t, w, "x")
	var got []any
	timer, err := l.NewTimer(ms)
	require.NoError(t, err)
	_, err = timer.OnFire(func() { got = append(got, "timer") })
	require.NoError(t, err)
	trigger, err := l.NewTrigger()
	require.NoError(t, err)
	_, err = trigger.OnFire(func() { got = append(got, "trigger"); require.NoError(t, trigger.Close()) })
	require.NoError(t, err)
	p := newPoll(t, l, r, readable)
	cb, err := p.OnReady(func(ready reactor.Readiness, err error) {
		got = append(got, ready, err)
		require.NoError(t, p.Close())
	})
	require.NoError(t, err)
	assert.Same(t, p.AsEvent(), cb.Event())
	for _, e := range []interface{ Start() error }{timer, trigger, p} {
		require.NoError(t, e.Start())
	}
	trigger.Fire()
	run(t, l)
	assert.ElementsMatch(t, []any{"timer", "trigger", readable, nil}, got)
}

func TestCount_WhatIsAddedKeepsRunGoing(t *testing.T) {
	l := newLoop(t)
	l.Count().Add(1) // something that lives in the loop without a handle of it
	assert.Equal(t, 1, l.Live())
	turns := 0
	var again func()
	again = func() {
		if turns++; turns == 3 {
			l.Count().Add(-1)
			return
		}
		startDeadline(t, l, ms, again)
	}
	startDeadline(t, l, ms, again)
	run(t, l)
	assert.Equal(t, 3, turns)
	assert.Zero(t, l.Live())
}

func TestNow_IsTheMonotonicClock(t *testing.T) {
	l := newLoop(t)
	before := time.Now()
	now := l.Now()
	assert.False(t, now.Before(before))
	assert.False(t, time.Now().Before(now))
	assert.NotEqual(t, now, now.Round(0), "it has a monotonic reading")
	require.NoError(t, l.Close())
	assert.False(t, l.Now().Before(now))
}

func TestLoop_OnWakeComesBetweenTheWaitAndTheCallbacks(t *testing.T) {
	l := newLoop(t)
	var order []string
	l.OnWake(func() { order = append(order, "wake") })
	startTimer(t, l, ms, func() { order = append(order, "timer") })
	for len(order) == 0 || order[len(order)-1] != "timer" {
		tick(t, l)
	}
	assert.Equal(t, "wake", order[len(order)-2])
	l.OnWake(nil)
	n := len(order)
	_, err := l.Tick(false)
	require.NoError(t, err)
	assert.Len(t, order, n)
}

func TestLoop_ElapsedNeverGoesBack(t *testing.T) {
	l := newLoop(t)
	from := l.Elapsed()
	assert.Positive(t, from)
	assert.GreaterOrEqual(t, l.Elapsed(), from)
}
