package cuv_test

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	pointer "github.com/mattn/go-pointer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/csignal"
	"github.com/uvasync/uvasync/internal/foreign"
)

func openSignal(t *testing.T, l *cuv.Loop, o cuv.Owner, num syscall.Signal) *cuv.Signal {
	t.Helper()
	s := &cuv.Signal{}
	require.NoError(t, s.Open(l, o, num, false))
	return s
}

func TestSignal_IsDeliveredWithItsNumber(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		before := csignal.Current(syscall.SIGUSR1)
		one, two := &owner{}, &owner{}
		a, b := openSignal(t, l, one, syscall.SIGUSR1), openSignal(t, l, two, syscall.SIGUSR2)
		assert.Equal(t, cuv.HandleCount{Opened: 2}, l.Handles(cuv.KindSignal))
		assert.Equal(t, map[string]int{"signal": 2}, l.Walk())
		csignal.Raise(syscall.SIGUSR1)
		csignal.Raise(syscall.SIGUSR2)
		csignal.Raise(syscall.SIGUSR2)
		turnUntil(t, l, func() bool { return len(two.statuses) == 2 })
		assert.Equal(t, []uint64{uint64(syscall.SIGUSR1)}, one.payloads)
		assert.Equal(t, []uint64{uint64(syscall.SIGUSR2), uint64(syscall.SIGUSR2)}, two.payloads)
		assert.Equal(t, []int{0, 0}, two.statuses)
		a.Close(l)
		b.Close(l)
		assert.Equal(t, before, csignal.Current(syscall.SIGUSR1), "as soon as Close returns")
		turnUntil(t, l, func() bool { return l.Handles(cuv.KindSignal).Closed == 2 })
		assert.Empty(t, l.Walk())
	})
}

func TestSignal_NothingIsDeliveredAfterClose(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		o := &owner{}
		s := openSignal(t, l, o, syscall.SIGUSR1)
		csignal.Raise(syscall.SIGUSR1)
		n, err := l.Tick(false)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		csignal.Raise(syscall.SIGUSR1) // in libuv's pipe
		s.Close(l)
		s.Close(l)
		s.Renew(l)
		s.Hide(l, true)
		l.Dispatch()
		turn(t, l, false)
		turn(t, l, false)
		assert.Empty(t, o.statuses)

		// The slot and its cell are used again, and the handle starts visible.
		again := &owner{}
		require.NoError(t, s.Open(l, again, syscall.SIGUSR2, false))
		assert.Equal(t, 1, foreign.Referenced(l.Handle())["signal"])
		csignal.Raise(syscall.SIGUSR2)
		turnUntil(t, l, func() bool { return len(again.statuses) == 1 })
		assert.Empty(t, o.statuses)
		s.Close(l)
	})
}

func TestSignal_Errors(t *testing.T) {
	child.Pass(t, func() {
		l, err := cuv.NewLoop(cuv.Options{})
		require.NoError(t, err)
		for _, num := range []syscall.Signal{0, -1, 65, 1 << 20, syscall.SIGKILL, syscall.SIGSTOP, 32} {
			s := &cuv.Signal{}
			var typed *cuv.Error
			require.ErrorAs(t, s.Open(l, &owner{}, num, false), &typed, "%d", int(num))
			assert.Equal(t, "uv_signal_start", typed.Op)
			assert.ErrorIs(t, typed, syscall.EINVAL)
			s.Close(l)
		}
		turn(t, l, false)
		turn(t, l, false)
		assert.Empty(t, l.Walk())
		count := l.Handles(cuv.KindSignal)
		assert.Equal(t, count.Opened, count.Closed)

		s := openSignal(t, l, &owner{}, syscall.SIGUSR1)
		s.Close(l)
		require.NoError(t, l.Close())
		assert.ErrorIs(t, s.Open(l, &owner{}, syscall.SIGUSR1, false), cuv.ErrClosed)
		s.Renew(l)
		s.Close(l)
	})
}

func TestSignal_AFailedOpenLeavesTheOthersAlone(t *testing.T) {
	child.Pass(t, func() {
		l := newLoop(t)
		o := &owner{}
		s := openSignal(t, l, o, syscall.SIGUSR1)
		require.Error(t, new(cuv.Signal).Open(l, &owner{}, syscall.SIGSTOP, false))
		csignal.Raise(syscall.SIGUSR1)
		turnUntil(t, l, func() bool { return len(o.statuses) == 1 })
		s.Close(l)
		turnUntil(t, l, func() bool { return len(l.Walk()) == 0 })
	})
}

type closer struct {
	owner
	loop   *cuv.Loop
	signal cuv.Signal
}

func (c *closer) LoopClosing() {
	c.owner.LoopClosing()
	c.signal.Close(c.loop)
}

func TestSignal_LoopCloseWithASignalOpen(t *testing.T) {
	child.Pass(t, func() {
		before := csignal.Current(syscall.SIGINT)
		l := newLoop(t)
		c := &closer{loop: l}
		require.NoError(t, c.signal.Open(l, c, syscall.SIGINT, false))
		csignal.Raise(syscall.SIGINT)
		require.NoError(t, l.Close())
		assert.Equal(t, 1, c.closings)
		assert.Empty(t, c.statuses)
		assert.Equal(t, before, csignal.Current(syscall.SIGINT))
	})
}

func TestSignal_DataOfItsHandleLeadsToItsOwner(t *testing.T) {
	l := newLoop(t)
	o := &owner{}
	s := openSignal(t, l, o, syscall.SIGWINCH)
	data := foreign.Data(l.Handle())
	require.Len(t, data, 1)
	token, ok := pointer.Restore(data[0]).(*cuv.Token)
	require.True(t, ok)
	assert.Same(t, o, token.Owner())
	s.Close(l)
	turnUntil(t, l, func() bool { return token.Owner() == nil })
}

func TestSignal_Hidden(t *testing.T) {
	l := newLoop(t)
	s := &cuv.Signal{}
	require.NoError(t, s.Open(l, &owner{}, syscall.SIGWINCH, true))
	referenced := func() int { l.Flush(); return foreign.Referenced(l.Handle())["signal"] }
	assert.Zero(t, referenced())
	s.Hide(l, false)
	assert.Equal(t, 1, referenced())
	s.Hide(l, true)
	assert.Zero(t, referenced())
	s.Close(l)
}

// What belongs to the process is counted right however the loops of several goroutines start and stop, and while signals
// come on any thread.
func TestSignal_SIG05_SeveralGoroutinesOpenAndCloseAtOnce(t *testing.T) {
	child.Pass(t, func() {
		nums := []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGCONT, 40}
		before := map[syscall.Signal]csignal.Disposition{}
		for _, num := range nums {
			before[num] = csignal.Current(num)
		}
		var over atomic.Bool
		var storm, users, loops sync.WaitGroup
		// One that stays, so that what comes too late for the others does not kill.
		stays := newLoop(t)
		kept := openSignal(t, stays, &owner{}, syscall.SIGINT)
		for _, num := range nums {
			storm.Go(func() {
				for !over.Load() {
					csignal.Storm(num, 20, 1)
				}
			})
		}
		users.Go(func() { // os/signal beside it
			for !over.Load() {
				c := make(chan os.Signal, 1)
				signal.Notify(c, nums[0], nums[1], nums[3])
				signal.Stop(c)
			}
		})
		for range 4 {
			loops.Go(func() {
				l, err := cuv.NewLoop(cuv.Options{})
				if !assert.NoError(t, err) {
					return
				}
				for range 300 {
					open := make([]cuv.Signal, len(nums))
					for i, num := range nums {
						assert.NoError(t, open[i].Open(l, &owner{}, num, false))
					}
					if _, err := l.Tick(false); err == nil {
						l.Dispatch()
					}
					for i := range open {
						open[i].Renew(l)
						open[i].Close(l)
					}
				}
				assert.NoError(t, l.Close())
			})
		}
		loops.Wait()
		over.Store(true)
		storm.Wait()
		users.Wait()
		kept.Close(stays)
		for _, num := range nums {
			assert.Equal(t, before[num], csignal.Current(num), "%v", num)
		}
	})
}
