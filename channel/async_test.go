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

func TestChannel_CHAN08_RecvAsyncOfWhatIsThere(t *testing.T) {
	for _, capacity := range []int{0, 2} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			require.True(t, c.TrySend(1))
			f, err := c.RecvAsync(co)
			require.NoError(t, err)
			assert.Contains(t, f.CreatedAt(), "async_test.go", "the line of the caller")
			assert.True(t, f.Completed())
			v, err := f.Await(co)
			require.NoError(t, err)
			assert.Equal(t, 1, v)

			for range capacity {
				require.NoError(t, c.Send(co, 0))
			}
			tr.sender(co, c, "s", 2)
			settle(t, co)
			for range capacity {
				_, _ = c.TryRecv()
			}
			settle(t, co)
			f, err = c.RecvAsync(co)
			require.NoError(t, err)
			assert.True(t, f.Completed())
			v, err = f.Await(co)
			require.NoError(t, err)
			assert.Equal(t, 2, v)
			settle(t, co)
			tr.is("s sent 2")

			require.NoError(t, c.Close())
			f, err = c.RecvAsync(co)
			require.NoError(t, err)
			assert.True(t, f.Completed())
			_, err = f.Await(co)
			assert.Equal(t, "closed by-close", short(err))
			_, err = c.RecvAsync(nil)
			assert.ErrorIs(t, err, event.ErrUsage)
		})
	}
}

func TestChannel_CHAN08_APendingFutureStandsInLineWithTheReceivers(t *testing.T) {
	for _, capacity := range []int{0, 3} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			tr.receiver(co, c, "a")
			settle(t, co)
			f, err := c.RecvAsync(co)
			require.NoError(t, err)
			tr.receiver(co, c, "b")
			settle(t, co)
			for i := range 3 {
				assert.Equal(t, i > 1, f.Completed())
				require.NoError(t, c.Send(co, i))
			}
			settle(t, co)
			tr.is("a got 0", "b got 2")
			v, err := f.Await(co)
			require.NoError(t, err)
			assert.Equal(t, 1, v)
		})
	}
}

func TestChannel_CHAN25_AFutureIsServedAtOnceAndTheSlotWakesASender(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		a := tr.receiver(co, c, "a")
		settle(t, co)
		f, err := c.RecvAsync(co)
		require.NoError(t, err)
		tr.sender(co, c, "s", 2)
		tr.spawn(co, func(*scheduler.Coroutine) error {
			assert.Equal(t, channel.Stats{Cap: 1, Len: 1, WaitingReceivers: 1, ReservedReceivers: 1, WaitingSenders: 1}, c.Stats())
			a.Cancel(nil)
			assert.True(t, f.Completed(), "the value went to the future")
			assert.Equal(t, channel.Stats{Cap: 1, ReservedSenders: 1}, c.Stats(), "and its slot to the sender")
			return nil
		})
		require.NoError(t, c.Send(co, 1)) // wakes a, behind the other two
		v, err := f.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		settle(t, co)
		assert.Equal(t, channel.Stats{Cap: 1, Len: 1}, c.Stats())
		tr.is("a: cancelled", "s sent 2")
	})
}

func TestChannel_EVT15_ACancelledFutureLeavesTheLine(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		f, err := c.RecvAsync(co)
		require.NoError(t, err)
		tr.receiver(co, c, "r")
		settle(t, co)
		assert.Equal(t, 2, c.Stats().WaitingReceivers)
		f.Cancel(nil)
		assert.Equal(t, 1, c.Stats().WaitingReceivers)
		require.NoError(t, c.Send(co, 1))
		settle(t, co)
		tr.is("r got 1")

		f, err = c.RecvAsync(co)
		require.NoError(t, err)
		f.Dispose()
		assert.Zero(t, c.Stats().WaitingReceivers)
		require.NoError(t, c.Send(co, 2))
		assert.Equal(t, 1, c.Len(), "the value stays")
	})
}

func TestChannel_GEN10_ACallbackOfAFutureMayUseTheChannel(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 1)
		first, err := c.RecvAsync(co)
		require.NoError(t, err)
		second, err := c.RecvAsync(co)
		require.NoError(t, err)
		_, err = first.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
			assert.Equal(t, channel.Stats{Cap: 1, WaitingReceivers: 1}, c.Stats())
			assert.True(t, c.TrySend(2))
			assert.True(t, c.TrySend(3))
			assert.NoError(t, c.Close())
		})
		require.NoError(t, err)
		require.NoError(t, c.Send(co, 1))
		v, err := second.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 2, v)
		v, err = c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 3, v)
	})
}
