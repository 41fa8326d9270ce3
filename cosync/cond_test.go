package cosync_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// board is a condition, and coroutines that wait for it.
type board struct {
	*scene
	m cosync.Mutex
	c *cosync.Cond
}

func newBoard(t *testing.T, co *coroutine) *board {
	b := &board{scene: &scene{t: t, co: co}}
	b.c = cosync.NewCond(&b.m)
	return b
}

// waits starts a coroutine that waits once, and logs what it got, when it has the mutex.
func (b *board) waits(name string, opts ...option) *coroutine {
	co := b.spawn(name, func(co *coroutine) error {
		require.NoError(b.t, b.m.Lock(co))
		defer b.m.Unlock()
		err := b.c.Wait(co, opts...)
		assert.Same(b.t, co, b.m.Stats().Holder, "%s has the mutex", name)
		if err != nil {
			b.log = append(b.log, name+": "+short(err))
		} else {
			b.log = append(b.log, name)
		}
		return nil
	})
	b.yield()
	return co
}

func (b *board) settle() {
	for range 6 {
		b.yield()
	}
}

func TestCond_SignalWakesTheOldestAndBroadcastEverybody(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		b := newBoard(t, co)
		b.c.Signal() // nobody is there, nothing is kept
		for _, name := range []string{"a", "b", "c", "d"} {
			b.waits(name)
		}
		assert.Equal(t, cosync.CondStats{Waiting: 4}, b.c.Stats())
		b.c.Signal()
		assert.Equal(t, cosync.CondStats{Waiting: 3, Signalled: 1}, b.c.Stats())
		b.settle()
		b.is("a")
		require.NoError(t, b.m.Lock(co))
		b.c.Broadcast()
		b.settle()
		b.is()
		assert.Equal(t, cosync.MutexStats{Holder: co, Waiting: 3}, b.m.Stats())
		b.m.Unlock()
		b.settle()
		b.is("b", "c", "d")
	})
}

func TestCond_CANC03_ACancelledWaitHasTheMutexAgain(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		b := newBoard(t, co)
		a := b.waits("a")
		require.NoError(t, b.m.Lock(co))
		require.NoError(t, a.Cancel(errBoom))
		b.settle()
		b.is()
		assert.Equal(t, cosync.MutexStats{Holder: co, Waiting: 1}, b.m.Stats(), "it waits for the mutex, cancelled or not")
		b.m.Unlock()
		b.settle()
		b.is("a: cancelled boom")
		assert.Equal(t, cosync.CondStats{}, b.c.Stats())
	})
}

func TestCond_EVT13_ACancellationWhileATimedOutWaitGetsTheMutexBackIsKept(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		b := newBoard(t, co)
		a := b.waits("a", scheduler.Timeout(time.Millisecond))
		require.NoError(t, b.m.Lock(co))
		require.NoError(t, co.Delay(5*time.Millisecond))
		for b.m.Stats().Waiting == 0 {
			require.NoError(t, co.Delay(time.Millisecond))
		}
		require.NoError(t, a.Cancel(errBoom))
		b.m.Unlock()
		b.settle()
		b.is("a: cancelled timeout late boom")
	})
}

func TestCond_CANC22_ASignalIsPassedOnByWhoIsCancelledBeforeItRuns(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		b := newBoard(t, co)
		a := b.waits("a")
		b.waits("b")
		b.waits("c")
		b.c.Signal()
		require.NoError(t, a.Cancel(nil))
		assert.Equal(t, cosync.CondStats{Waiting: 1, Signalled: 1}, b.c.Stats(), "in the same step")
		b.settle()
		assert.Equal(t, []string{"a: cancelled", "b"}, sorted(b.log))
		b.c.Broadcast()
		b.settle()
	})
}

func TestCond_CANC22_ASignalIsPassedOnByWhoIsCancelledBeforeItHasTheMutex(t *testing.T) {
	for _, woken := range []bool{false, true} {
		cotest.EachMain(t, func(t *testing.T, co *coroutine) {
			b := newBoard(t, co)
			a := b.waits("a")
			b.waits("b")
			b.waits("c")
			require.NoError(t, b.m.Lock(co))
			b.c.Signal()
			b.yield()
			require.Equal(t, cosync.MutexStats{Holder: co, Waiting: 1}, b.m.Stats(), "a waits for the mutex")
			if woken {
				b.m.Unlock()
			}
			require.NoError(t, a.Cancel(nil))
			assert.Equal(t, cosync.CondStats{Waiting: 1, Signalled: 1}, b.c.Stats(), "in the same step")
			if !woken {
				b.m.Unlock()
			}
			b.settle()
			assert.Equal(t, []string{"a: cancelled", "b"}, sorted(b.log))
			b.c.Broadcast()
			b.settle()
		})
	}
}

// a is cancelled after the broadcast, when it has not run or when it waits for the mutex; late has begun to wait meanwhile.
func TestCond_ABroadcastIsNotPassedOn(t *testing.T) {
	for _, hasRun := range []bool{false, true} {
		cotest.EachMain(t, func(t *testing.T, co *coroutine) {
			b := newBoard(t, co)
			a := b.waits("a")
			require.NoError(t, b.m.Lock(co))
			b.spawn("late", func(co *coroutine) error {
				return b.m.With(co, func(co *coroutine) error { return b.c.Wait(co) })
			})
			b.yield()
			cancel := func(*coroutine) error {
				assert.Equal(t, 1, b.c.Stats().Waiting, "late waits")
				return a.Cancel(nil)
			}
			if hasRun {
				b.c.Broadcast()
				b.yield()
				b.m.Unlock()
				b.yield()
				require.Same(t, a, b.m.Stats().Holder)
				require.NoError(t, cancel(co))
			} else {
				b.m.Unlock()
				b.spawn("cancels", cancel)
				b.c.Broadcast()
			}
			b.settle()
			b.is("a: cancelled")
			assert.Equal(t, cosync.CondStats{Waiting: 1}, b.c.Stats())
			b.c.Broadcast()
			b.settle()
		})
	}
}

func TestCond_MisuseIsRefused(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		b := newBoard(t, co)
		err := b.c.Wait(co)
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.ErrorContains(t, err, "cosync: Cond.Wait: the caller does not hold the mutex: mutex, not locked; ")
		require.NoError(t, b.m.Lock(co))
		assert.ErrorIs(t, b.c.Wait(nil), event.ErrUsage)
		b.spawn("next", func(co *coroutine) error { return b.m.With(co, nothing) })
		b.yield()
		assert.ErrorIs(t, b.c.Wait(co, scheduler.Timeout(0)), event.ErrInvalidArgument)
		assert.Equal(t, cosync.MutexStats{Holder: co, Waiting: 1}, b.m.Stats(), "it was not given away")
		b.m.Unlock()
		b.settle()
		assert.ErrorIs(t, panicOf(func() { cosync.NewCond(nil) }), event.ErrInvalidArgument)
		var zero cosync.Cond
		assert.ErrorContains(t, zero.Wait(co), "make it with NewCond")
		refused(t, zero.Signal, "make it with NewCond")
		refused(t, zero.Broadcast, "make it with NewCond")
		assert.Equal(t, "condition without a mutex", zero.Info())
	})
}

func TestCond_CANC00_ACancelledCoroutineKeepsTheMutex(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		b := newBoard(t, co)
		b.spawn("a", func(co *coroutine) error {
			require.NoError(t, b.m.Lock(co))
			require.NoError(t, co.Cancel(nil))
			assert.ErrorIs(t, b.c.Wait(co), context.Canceled)
			b.m.Unlock() // does not panic
			return nil
		})
		b.settle()
		assert.Nil(t, b.m.Stats().Holder)
	})
}

// The verdict ends the protected wait for the mutex, too; Wait goes on waiting until it has it.
func TestCond_DEAD01_ADeadlockVerdictDoesNotCostTheMutex(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		var b *board
		err := e.Run(func(co *coroutine) error {
			b = newBoard(t, co)
			a := b.waits("a")
			b.hold2(a)
			return nil
		})
		var deadlock *scheduler.DeadlockError
		require.ErrorAs(t, err, &deadlock)
		assert.Equal(t, 2, deadlock.Waiting)
		b.is("a: cancelled boom")
	})
}

// hold2 starts a coroutine that locks the mutex, cancels a, and waits for ever: a waits for the mutex, protected.
func (b *board) hold2(a *coroutine) {
	b.spawn("holder", func(co *coroutine) error {
		return b.m.With(co, func(co *coroutine) error {
			require.NoError(b.t, a.Cancel(errBoom))
			err := b.gate.pass(co)
			// a has been woken by the verdict as well; it is to wait again.
			return errors.Join(err, co.Protect(func(context.Context) error { return co.Delay(time.Millisecond) }))
		})
	})
	b.settle()
}

// Whoever is unwound where it waits for the mutex has a deferred Unlock, which must not turn into a panic.
func TestCond_CANC18_UnwoundWithoutTheMutex(t *testing.T) {
	for name, prepare := range map[string]func(b *board, a *coroutine){
		"waiting for the signal, mutex free": func(*board, *coroutine) {},
		"waiting for the signal, mutex held": func(b *board, _ *coroutine) { b.keep() },
		"waiting for the mutex, signalled":   func(b *board, _ *coroutine) { b.keep(); b.c.Signal(); b.settle() },
		"waiting for the mutex, cancelled":   func(b *board, a *coroutine) { b.keep(); _ = a.Cancel(nil); b.settle() },
		"woken with the mutex":               func(b *board, _ *coroutine) { b.keep(); b.c.Signal(); b.settle(); b.gate.open(); b.yield() },
	} {
		t.Run(name, func(t *testing.T) {
			r := simreactor.New(1)
			defer r.Close()
			opts := steady
			opts.Grace = -1
			s := scheduler.New(r, opts)
			unlocked := 0
			err := s.Run(context.Background(), func(co *coroutine) error {
				b := newBoard(t, co)
				a := b.spawn("a", func(co *coroutine) error {
					require.NoError(t, b.m.Lock(co))
					defer func() { unlocked++ }()
					defer b.m.Unlock()
					return b.c.Wait(co)
				})
				b.yield()
				prepare(b, a)
				return s.Shutdown(errBoom)
			})
			var panicked *event.PanicError
			assert.False(t, errors.As(err, &panicked), "%v", err)
			assert.Equal(t, 1, unlocked)
		})
	}
}

// keep starts a coroutine that holds the mutex until the gate is opened.
func (b *board) keep() {
	b.spawn("keeper", func(co *coroutine) error { return b.m.With(co, b.gate.pass) })
	b.settle()
}
