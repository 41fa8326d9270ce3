package channel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestChannel_CHAN05_ARendezvousSendReturnsWhenAReceiverIsMatched(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		tr.sender(co, c, "s", 1)
		settle(t, co)
		tr.is()
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		tr.is()
		settle(t, co)
		tr.is("s sent 1")

		tr.receiver(co, c, "a")
		tr.receiver(co, c, "b")
		settle(t, co)
		require.NoError(t, c.Send(co, 2))
		require.NoError(t, c.Send(co, 3))
		tr.is()
		settle(t, co)
		tr.is("a got 2", "b got 3")
	})
}

func TestChannel_CHAN05_ASendWaitsForAReceiverOfItsOwn(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		tr.receiver(co, c, "r")
		settle(t, co)
		require.NoError(t, c.Send(co, 1))
		tr.sender(co, c, "s", 2)
		settle(t, co)
		tr.is("r got 1")
		assert.Equal(t, 1, c.Stats().WaitingSenders)
		_, err := c.Recv(co)
		require.NoError(t, err)
		settle(t, co)
		tr.is("s sent 2")
	})
}

func TestChannel_CHAN06_TheSlotOfARendezvous(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		state := func() []any { return []any{c.Len(), c.Full(), c.Empty(), c.Cap()} }
		assert.Equal(t, []any{0, false, true, 0}, state())
		a := tr.sender(co, c, "a", 1)
		tr.sender(co, c, "b", 2)
		settle(t, co)
		assert.Equal(t, []any{1, true, false, 0}, state(), "one value stands in the slot, whoever else waits")
		a.Cancel(nil)
		assert.Equal(t, []any{1, true, false, 0}, state(), "the next one")
		_, _ = c.TryRecv()
		assert.Equal(t, []any{0, false, true, 0}, state())
		settle(t, co)
		tr.is("a: cancelled", "b sent 2")

		tr.receiver(co, c, "r")
		settle(t, co)
		assert.Equal(t, []any{0, false, true, 0}, state())
		require.NoError(t, c.Send(co, 3))
		assert.Equal(t, []any{1, true, false, 0}, state(), "until the receiver has taken it")
		settle(t, co)
		assert.Equal(t, []any{0, false, true, 0}, state())
	})
}

func TestChannel_CHAN07_TrySendNeedsOnlyTheSlotOfARendezvous(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		assert.True(t, c.TrySend(1))
		assert.Equal(t, 1, c.Len())
		assert.False(t, c.TrySend(2))
		tr.sender(co, c, "s", 3)
		settle(t, co)
		for _, want := range []int{1, 3} {
			v, err := c.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, want, v)
		}
		settle(t, co)
		tr.is("s sent 3")
		tr.sender(co, c, "s", 4)
		settle(t, co)
		assert.False(t, c.TrySend(5), "the value of a sender stands in the slot")
		_, _ = c.TryRecv()
		tr.receiver(co, c, "r")
		settle(t, co)
		assert.True(t, c.TrySend(6))
		assert.False(t, c.TrySend(7), "what the receiver has not taken yet is in the slot")
		settle(t, co)
		tr.is("s sent 4", "r got 6")
		require.NoError(t, c.Close())
		assert.False(t, c.TrySend(8))
	})
}

func TestChannel_CHAN20_CloseWithdrawsTheValueOfAParkedSender(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		tr.sender(co, c, "s", 1)
		settle(t, co)
		require.NoError(t, c.Close())
		assert.Zero(t, c.Len())
		_, err := c.Recv(co)
		assert.Equal(t, "closed by-close", short(err), "before the sender runs")
		settle(t, co)
		tr.is("s: closed by-close")
		_, ok := c.TryRecv()
		assert.False(t, ok)
	})
}

func TestChannel_CHAN20_WhatTrySendPutThereWasSent(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 0)
		require.True(t, c.TrySend(1))
		require.NoError(t, c.Close())
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		_, err = c.Recv(co)
		assert.Equal(t, "closed by-close", short(err))
	})
}

func TestChannel_CHAN20_ASenderWhoseValueWasTakenHasSentIt(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		tr.sender(co, c, "s", 1)
		settle(t, co)
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		require.NoError(t, c.Close())
		settle(t, co)
		tr.is("s sent 1")
	})
}

func TestChannel_CHAN23_ASenderCancelledAfterItsValueWasTaken(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		s := tr.sender(co, c, "s", 1)
		settle(t, co)
		v, ok := c.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 1, v)
		assert.Equal(t, channel.Stats{}, c.Stats(), "nothing is set aside for a sender that is served")
		s.Cancel(nil)
		assert.Equal(t, channel.Stats{}, c.Stats())
		settle(t, co)
		tr.is("s: cancelled")
		_, ok = c.TryRecv()
		assert.False(t, ok, "not duplicated")
	})
}

func TestChannel_GEN03_ASenderCancelledBeforeItsValueWasTakenHasNotSentIt(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		s := tr.sender(co, c, "s", 1)
		tr.sender(co, c, "next", 2)
		settle(t, co)
		s.Cancel(nil)
		v, ok := c.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 2, v)
		settle(t, co)
		tr.is("s: cancelled", "next sent 2")
	})
}

func TestChannel_CHAN12_ReceiversThatWereMatchedAndLeaveLoseNothing(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		a, b := tr.receiver(co, c, "a"), tr.receiver(co, c, "b")
		settle(t, co)
		require.NoError(t, c.Send(co, 1))
		require.NoError(t, c.Send(co, 2))
		tr.sender(co, c, "s", 3)
		b.Cancel(nil)
		a.Cancel(nil)
		settle(t, co)
		assert.Equal(t, 2, c.Len(), "both were sent")
		for _, want := range []int{1, 2, 3} {
			v, err := c.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, want, v)
		}
		settle(t, co)
		assert.Equal(t, []string{"s sent 3"}, tr.got[2:])
	})
}
