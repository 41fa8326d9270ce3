package channel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestChannel_CHAN09_CloseDrains(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 3)
		require.NoError(t, c.Send(co, 1))
		require.NoError(t, c.Send(co, 2))
		require.NoError(t, c.Close())
		assert.True(t, c.Closed())
		assert.False(t, c.TrySend(3))
		assert.Equal(t, "closed by-close", short(c.Send(co, 3)))
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		v, ok := c.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 2, v)
		_, err = c.Recv(co)
		var closed *event.ClosedError
		require.ErrorAs(t, err, &closed)
		assert.Equal(t, "channel: Recv", closed.Call)
		assert.Equal(t, channel.ErrCloseCalled, closed.Reason)
		require.NoError(t, c.Close(), "a second one does nothing")
		assert.Equal(t, channel.ErrCloseCalled, c.Reason())
	})
}

func TestChannel_GEN07_TheFirstReasonWins(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		scope, err := co.Scope().New()
		require.NoError(t, err)
		a, b := newChannel[int](t, scope, 0), newChannel[int](t, scope, 0)
		require.NoError(t, a.Close())
		scope.Cancel(nil)
		require.NoError(t, b.Close())
		assert.Equal(t, channel.ErrCloseCalled, a.Reason())
		assert.Equal(t, channel.ErrScopeDisposed, b.Reason())
	})
}

func TestChannel_CHAN10_CloseWakesEverybodyWhoWaits(t *testing.T) {
	for _, capacity := range []int{0, 2} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			tr.receiver(co, c, "a")
			tr.receiver(co, c, "b")
			settle(t, co)
			f, err := c.RecvAsync(co)
			require.NoError(t, err)
			require.NoError(t, c.Send(co, 1))
			require.NoError(t, c.Close())
			assert.Equal(t, channel.Stats{Cap: capacity, Len: 1, ReservedReceivers: 1, Closed: true}, c.Stats())
			assert.True(t, f.Completed())
			_, err = f.Await(co)
			assert.Equal(t, "closed by-close", short(err))
			settle(t, co)
			tr.is("a got 1", "b: closed by-close")

			c = newChannel[int](t, co, capacity)
			for range capacity {
				require.NoError(t, c.Send(co, 0))
			}
			tr.sender(co, c, "a", 1)
			tr.sender(co, c, "b", 2)
			settle(t, co)
			require.NoError(t, c.Close())
			assert.Equal(t, channel.Stats{Cap: capacity, Len: capacity, Closed: true}, c.Stats())
			settle(t, co)
			tr.is("a: closed by-close", "b: closed by-close")
		})
	}
}

func TestChannel_CHAN12_AReceiverThatLeavesAClosedChannelLeavesItsValue(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 2), &trace{t: t}
		a := tr.receiver(co, c, "a")
		settle(t, co)
		require.NoError(t, c.Send(co, 1))
		require.NoError(t, c.Send(co, 2))
		require.NoError(t, c.Close())
		a.Cancel(nil)
		for _, want := range []int{1, 2} {
			v, err := c.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, want, v)
		}
		_, err := c.Recv(co)
		assert.Equal(t, "closed by-close", short(err))
	})
}

func TestChannel_CHAN22_AWokenSenderFindsTheChannelClosed(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		require.NoError(t, c.Send(co, 0))
		tr.sender(co, c, "s", 1)
		settle(t, co)
		_, _ = c.TryRecv()
		require.NoError(t, c.Close())
		assert.Equal(t, 1, c.Stats().ReservedSenders)
		settle(t, co)
		tr.is("s: closed by-close")
		assert.Equal(t, channel.Stats{Cap: 1, Closed: true}, c.Stats())
	})
}

func TestChannel_EVT13_ACancellationAfterTheClosingDoesNotHideIt(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		r := tr.receiver(co, c, "r")
		settle(t, co)
		require.NoError(t, c.Close())
		r.Cancel(errBoom)
		settle(t, co)
		tr.is("r: closed by-close cancelled boom")
	})
}

func TestChannel_EVT07_IsAnEventThatHappensWhenItIsClosed(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		tr.spawn(co, func(co *scheduler.Coroutine) error {
			_, err := co.Await(c)
			tr.add("await: ", err)
			return nil
		})
		settle(t, co)
		tr.is()
		require.NoError(t, c.Close())
		settle(t, co)
		tr.is("await: <nil>")
		_, err := co.Await(c)
		assert.NoError(t, err, "replayed")

		scope, err := co.Scope().New()
		require.NoError(t, err)
		c = newChannel[int](t, scope, 0)
		scope.Cancel(nil)
		_, err = co.Await(c)
		assert.Equal(t, "closed scope-disposed", short(err))
		assert.True(t, c.Flags()&event.FlagClosed != 0)
	})
}
