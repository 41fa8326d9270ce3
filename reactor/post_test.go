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

func TestPost_OrderOfEachGoroutineIsKeptAndNothingIsLost(t *testing.T) {
	l := newLoop(t)
	const goroutines = 8
	each := scaled(5000)
	var got [goroutines][]int
	total := 0
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for i := range each {
				if err := l.Post(func() { got[g] = append(got[g], i); total++ }); err != nil {
					t.Errorf("Post: %v", err)
				}
			}
		})
	}
	turnUntil(t, l, func() bool { return total == goroutines*each })
	group.Wait()
	tick(t, l)
	for _, list := range got {
		require.Len(t, list, each)
		for i, n := range list {
			require.Equal(t, i, n)
		}
	}
}

func TestPost_OrderAcrossGoroutinesIsThatOfTheCalls(t *testing.T) {
	l := newLoop(t)
	var mu sync.Mutex
	n := 0
	var got []int
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range scaled(1000) {
				mu.Lock()
				mine := n
				n++
				_ = l.Post(func() { got = append(got, mine) })
				mu.Unlock()
			}
		})
	}
	turnUntil(t, l, func() bool { return len(got) == 4*scaled(1000) })
	group.Wait()
	for i, v := range got {
		require.Equal(t, i, v)
	}
}

func TestPost_RunWaitsForWhatIsPosted(t *testing.T) {
	l := newLoop(t)
	ran := false
	require.NoError(t, l.Post(func() { ran = true }))
	run(t, l)
	assert.True(t, ran, "though no event is started")
	run(t, l)
}

func TestPost_WithinAPostRunsInTheNextTurn(t *testing.T) {
	l := newLoop(t)
	turns := map[string]uint32{}
	require.NoError(t, l.Post(func() {
		turns["first"] = l.Stats().Turns
		require.NoError(t, l.Post(func() { turns["second"] = l.Stats().Turns }))
	}))
	require.NoError(t, l.Post(func() { turns["beside"] = l.Stats().Turns }))
	run(t, l)
	assert.Equal(t, turns["first"], turns["beside"])
	assert.Equal(t, turns["first"]+1, turns["second"])
}

func TestPost_ReposterDoesNotStarveTheOthers(t *testing.T) {
	l := newLoop(t)
	done := false
	var again func()
	again = func() {
		if !done {
			require.NoError(t, l.Post(again))
		}
	}
	again()
	startTimer(t, l, 3*ms, func() { done = true })
	run(t, l)
}

func TestPost_PanicKeepsTheRest(t *testing.T) {
	l := newLoop(t)
	var got []int
	for i := range 5 {
		require.NoError(t, l.Post(func() {
			got = append(got, i)
			if i == 1 {
				panic("post")
			}
		}))
	}
	assert.PanicsWithValue(t, "post", func() { _ = l.Run() })
	assert.Equal(t, []int{0, 1}, got)
	require.NoError(t, l.Post(func() { got = append(got, 5) }))
	run(t, l)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, got)
}

func TestPost_PanicThenClose(t *testing.T) {
	l := newLoop(t)
	ran := false
	require.NoError(t, l.Post(func() { panic("post") }))
	require.NoError(t, l.Post(func() { ran = true }))
	assert.Panics(t, func() { _ = l.Run() })
	require.NoError(t, l.Close())
	assert.True(t, ran, "what was accepted runs")
}

func TestPost_WakesABlockedTick(t *testing.T) {
	l := newLoop(t)
	for range scaled(200) {
		ran := false
		go func() { _ = l.Post(func() { ran = true }) }()
		for !ran {
			_, err := l.Tick(true)
			require.NoError(t, err)
		}
	}
	asleep := make(chan struct{})
	timer := time.AfterFunc(5*ms, func() { close(asleep); _ = l.Post(func() {}) })
	defer timer.Stop()
	n, err := l.Tick(true)
	require.NoError(t, err)
	assert.Zero(t, n, "a post is not something that happened on the loop")
	<-asleep
}

// Every moment at which the loop may fall asleep is raced by a post that must wake it.
func TestPost_NeverLostAgainstALoopThatFallsAsleep(t *testing.T) {
	l := newLoop(t)
	var ran atomic.Int64
	rounds := int64(scaled(5000))
	go func() {
		for i := range rounds {
			_ = l.Post(func() { ran.Add(1) })
			for ran.Load() <= i {
				runtime.Gosched()
			}
		}
	}()
	turnUntil(t, l, func() bool { return ran.Load() == rounds })
}

func TestPost_AfterCloseAnswersErrClosed(t *testing.T) {
	l := newLoop(t)
	require.NoError(t, l.Close())
	err := l.Post(func() { t.Error("it was refused") })
	assert.ErrorIs(t, err, event.ErrClosed)
	var closed *event.ClosedError
	assert.ErrorAs(t, err, &closed)
	assert.ErrorContains(t, err, "Loop.Post")
}

func TestPost_AcceptedBeforeCloseRunsInIt(t *testing.T) {
	l := newLoop(t)
	var refused error
	ran := 0
	for range 3 {
		require.NoError(t, l.Post(func() {
			ran++
			refused = l.Post(func() { t.Error("refused, so it must not run") })
		}))
	}
	require.NoError(t, l.Close())
	assert.Equal(t, 3, ran)
	assert.ErrorIs(t, refused, event.ErrClosed)
}

func TestPost_EveryAcceptedOneRunsHoweverCloseIsTimed(t *testing.T) {
	for range scaled(300) {
		l, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		var accepted atomic.Int64
		ran := int64(0)
		var group sync.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			group.Go(func() {
				<-begin
				for l.Post(func() { ran++ }) == nil {
					accepted.Add(1)
					runtime.Gosched()
				}
			})
		}
		close(begin)
		tick(t, l)
		require.NoError(t, l.Close())
		group.Wait()
		require.Equal(t, accepted.Load(), ran)
	}
}

func TestPost_StartedFromAPostInCloseIsClosedWithTheLoop(t *testing.T) {
	l := newLoop(t)
	require.NoError(t, l.Post(func() {
		startTimer(t, l, 0, func() { t.Error("the loop is closed") })
		startDeadline(t, l, 0, func() { t.Error("the loop is closed") })
	}))
	require.NoError(t, l.Close())
	assert.Zero(t, l.Live())
}

func TestPost_NilFunction(t *testing.T) {
	l := newLoop(t)
	var invalid *event.InvalidArgumentError
	require.ErrorAs(t, l.Post(nil), &invalid)
	assert.ErrorContains(t, invalid, "Loop.Post")
	run(t, l)
}

func TestPending_UntilWhatIsPostedHasRun(t *testing.T) {
	l := newLoop(t)
	assert.False(t, l.Pending())
	require.NoError(t, l.Post(func() { assert.True(t, l.Pending(), "the second has not run") }))
	require.NoError(t, l.Post(func() {
		assert.False(t, l.Pending(), "it is running")
		require.NoError(t, l.Post(func() {}))
		assert.True(t, l.Pending(), "the third runs in the next turn")
	}))
	assert.True(t, l.Pending())
	tick(t, l)
	assert.True(t, l.Pending())
	tick(t, l)
	assert.False(t, l.Pending())
}

func TestPending_WhatAPanicHasLeft(t *testing.T) {
	l := newLoop(t)
	require.NoError(t, l.Post(func() { panic("post") }))
	require.NoError(t, l.Post(func() {}))
	assert.PanicsWithValue(t, "post", func() { _, _ = l.Tick(false) })
	assert.True(t, l.Pending())
	tick(t, l)
	assert.False(t, l.Pending())
}

func TestPending_KnowsOfEveryPostThatHasReturned(t *testing.T) {
	l := newLoop(t)
	for range scaled(2000) {
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, l.Post(func() {})) })
		group.Wait()
		require.True(t, l.Pending())
		tick(t, l)
		require.False(t, l.Pending())
	}
}

func TestPending_NothingOnceTheLoopIsClosed(t *testing.T) {
	l := newLoop(t)
	require.NoError(t, l.Post(func() {}))
	require.NoError(t, l.Close())
	assert.False(t, l.Pending())
}
