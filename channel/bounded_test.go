package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestChannel_CHAN26_ATokenEndsTheWaitAndLeavesTheChannelUsable(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			token := tr.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(time.Millisecond) })
			_, err := c.Recv(co, scheduler.Token(token))
			assert.True(t, tokenFired(err), "%v", err)
			for range capacity {
				require.NoError(t, c.Send(co, 0, scheduler.Token(token)), "CANC-25: it need not wait")
			}
			assert.True(t, tokenFired(c.Send(co, 1, scheduler.Token(token))), "CANC-24: it has fired before")
			assert.Equal(t, channel.Stats{Cap: capacity, Len: capacity}, c.Stats())
			assert.False(t, c.Closed())
			for range capacity {
				_, err = c.Recv(co, scheduler.Token(token))
				require.NoError(t, err)
			}
			tr.receiver(co, c, "r")
			settle(t, co)
			require.NoError(t, c.Send(co, 2))
			settle(t, co)
			tr.is("r got 2")
		})
	}
}

func TestChannel_CHAN26_ATimeoutEndsTheWaitAndLeavesTheChannelUsable(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 1)
		_, err := c.Recv(co, scheduler.Timeout(time.Millisecond))
		assert.ErrorIs(t, err, event.ErrTimeout)
		_, err = c.Recv(co, scheduler.Timeout(0))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		assert.ErrorIs(t, c.Send(co, 1, scheduler.Timeout(-1)), event.ErrInvalidArgument)
		assert.Zero(t, c.Len(), "refused before it had an effect")
		require.NoError(t, c.Send(co, 1, scheduler.Timeout(time.Millisecond)))
		assert.ErrorIs(t, c.Send(co, 2, scheduler.Timeout(time.Millisecond)), event.ErrTimeout)
		assert.Equal(t, channel.Stats{Cap: 1, Len: 1}, c.Stats())
	})
}

func TestChannel_CANC26_ACancellationDuringAWaitWithATokenIsTheCoroutines(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		token := tr.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(time.Millisecond) })
		r := tr.spawn(co, func(co *scheduler.Coroutine) error {
			_, err := c.Recv(co, scheduler.Token(token))
			tr.add(short(err), tokenFired(err))
			return nil
		})
		settle(t, co)
		r.Cancel(errBoom)
		settle(t, co)
		tr.is("cancelled boomfalse")
	})
}
