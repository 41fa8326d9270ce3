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

func TestChannel_CHAN01_RefusesWhatIsNegative(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		for arg, try := range map[string]func() (*channel.Channel[int], error){
			"capacity": func() (*channel.Channel[int], error) { return channel.New[int](co, -1) },
			"NoProducerTimeout": func() (*channel.Channel[int], error) {
				return channel.New[int](co, 1, channel.Config{NoProducerTimeout: -1})
			},
			"NoConsumerTimeout": func() (*channel.Channel[int], error) {
				return channel.New[int](co, 1, channel.Config{NoConsumerTimeout: -1})
			},
		} {
			c, err := try()
			var invalid *event.InvalidArgumentError
			if assert.ErrorAs(t, err, &invalid, arg) {
				assert.Equal(t, arg, invalid.Arg)
			}
			assert.Nil(t, c)
		}
		_, err := channel.New[int](nil, 1)
		assert.ErrorIs(t, err, event.ErrUsage)
		_, err = channel.New[int](co, 1, channel.Config{}, channel.Config{})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = channel.New[int](co, 1<<40)
		assert.NoError(t, err, "a huge capacity costs nothing until it is used")
	})
}

func TestChannel_CHAN02_ABufferedSendReturnsAtOnceAndKeepsTheOrder(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, ran := newChannel[int](t, co, 3), false
		(&trace{t: t}).spawn(co, func(*scheduler.Coroutine) error { ran = true; return nil })
		for round := range 5 { // the ring wraps around
			for i := range 3 {
				require.NoError(t, c.Send(co, 10*round+i))
			}
			for i := range 3 {
				v, err := c.Recv(co)
				require.NoError(t, err)
				assert.Equal(t, 10*round+i, v)
			}
		}
		assert.False(t, ran, "nobody else ran")
	})
}

func TestChannel_CHAN03_AFullChannelParksTheSenderAndAnEmptyOneTheReceiver(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		tr.receiver(co, c, "r")
		settle(t, co)
		assert.Equal(t, channel.Stats{Cap: 1, WaitingReceivers: 1}, c.Stats())
		require.NoError(t, c.Send(co, 1))
		assert.Equal(t, channel.Stats{Cap: 1, Len: 1, ReservedReceivers: 1}, c.Stats(), "woken, and has not run")
		tr.sender(co, c, "s", 2)
		tr.is()
		settle(t, co)
		tr.is("r got 1", "s sent 2")

		tr.sender(co, c, "s", 3)
		settle(t, co)
		tr.is()
		assert.Equal(t, channel.Stats{Cap: 1, Len: 1, WaitingSenders: 1}, c.Stats())
		v, ok := c.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 2, v)
		assert.Equal(t, channel.Stats{Cap: 1, ReservedSenders: 1}, c.Stats(), "the slot is the sender's")
		settle(t, co)
		tr.is("s sent 3")
	})
}

func TestChannel_CHAN04_WaitersAreServedInTheOrderOfArrival(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			tr.receiver(co, c, "a")
			b := tr.receiver(co, c, "b")
			tr.receiver(co, c, "c")
			tr.receiver(co, c, "d")
			settle(t, co)
			b.Cancel(nil)
			for i := range 3 {
				require.NoError(t, c.Send(co, i))
			}
			settle(t, co)
			tr.is("b: cancelled", "a got 0", "c got 1", "d got 2")

			for capacity > c.Len() {
				require.NoError(t, c.Send(co, -1))
			}
			tr.sender(co, c, "a", 10)
			b = tr.sender(co, c, "b", 11)
			tr.sender(co, c, "c", 12)
			tr.sender(co, c, "d", 13)
			settle(t, co)
			b.Cancel(nil)
			settle(t, co)
			tr.is("b: cancelled")
			for range capacity {
				_, _ = c.TryRecv()
			}
			for _, want := range []int{10, 12, 13} {
				v, err := c.Recv(co)
				require.NoError(t, err)
				assert.Equal(t, want, v)
			}
			settle(t, co)
			tr.is("a sent 10", "c sent 12", "d sent 13")
		})
	}
}

func TestChannel_CHAN07_TrySendTakesOnlyAFreeSlotThatIsNobodys(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		assert.True(t, c.TrySend(1))
		assert.False(t, c.TrySend(2), "full")
		tr.sender(co, c, "s", 3)
		settle(t, co)
		v, ok := c.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 1, v)
		assert.Zero(t, c.Len())
		assert.False(t, c.TrySend(4), "the only free slot is set aside")
		settle(t, co)
		tr.is("s sent 3")
		_, ok = c.TryRecv()
		assert.True(t, ok)
		_, ok = c.TryRecv()
		assert.False(t, ok)
		require.NoError(t, c.Close())
		assert.False(t, c.TrySend(5), "closed")
	})
}

func TestChannel_GEN04_ANewcomerNeverOvertakes(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		require.NoError(t, c.Send(co, 0))
		tr.sender(co, c, "first", 1)
		settle(t, co)
		tr.spawn(co, func(co *scheduler.Coroutine) error {
			for v, err := range c.All(co) {
				if err != nil {
					return err
				}
				tr.add(v)
				if v == 2 {
					break
				}
			}
			return nil
		})
		_, ok := c.TryRecv()
		require.True(t, ok)
		assert.Zero(t, c.Len())
		require.NoError(t, c.Send(co, 2))
		settle(t, co)
		tr.is("first sent 1", "1", "2")
	})
}

func TestChannel_CHAN12_TheValueOfAReceiverThatLeavesStays(t *testing.T) {
	for _, capacity := range []int{0, 1, 3} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			r := tr.receiver(co, c, "r")
			settle(t, co)
			require.NoError(t, c.Send(co, 1))
			r.Cancel(errBoom)
			assert.Equal(t, channel.Stats{Cap: capacity, Len: 1}, c.Stats(), "in the step of the cancellation")
			settle(t, co)
			tr.is("r: cancelled boom")
			v, err := c.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, 1, v)
		})
	}
}

func TestChannel_CANC22_TheValueOfAReceiverThatLeavesPassesOn(t *testing.T) {
	for _, capacity := range []int{0, 3} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			a := tr.receiver(co, c, "a")
			tr.receiver(co, c, "b")
			tr.receiver(co, c, "c")
			settle(t, co)
			require.NoError(t, c.Send(co, 1))
			require.NoError(t, c.Send(co, 2))
			a.Cancel(nil)
			assert.Equal(t, channel.Stats{Cap: capacity, Len: 2, ReservedReceivers: 2}, c.Stats(), "in the same step")
			settle(t, co)
			tr.is("a: cancelled", "b got 1", "c got 2")
		})
	}
}

func TestChannel_CANC22_TheSlotOfASenderThatLeavesPassesOn(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		require.True(t, c.TrySend(0))
		a := tr.sender(co, c, "a", 1)
		b := tr.sender(co, c, "b", 2)
		settle(t, co)
		_, _ = c.TryRecv()
		a.Cancel(nil)
		assert.Equal(t, channel.Stats{Cap: 1, ReservedSenders: 1}, c.Stats())
		b.Cancel(nil)
		assert.Equal(t, channel.Stats{Cap: 1}, c.Stats())
		assert.True(t, c.TrySend(3), "nobody is left who wants it")
		settle(t, co)
		tr.is("a: cancelled", "b: cancelled")
	})
}

func TestChannel_CHAN14_AReservedValueIsNobodyElses(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 3), &trace{t: t}
		tr.receiver(co, c, "r")
		settle(t, co)
		require.NoError(t, c.Send(co, 1))
		_, ok := c.TryRecv()
		assert.False(t, ok)
		f, err := c.RecvAsync(co)
		require.NoError(t, err)
		assert.Equal(t, 1, c.Stats().WaitingReceivers)
		require.NoError(t, c.Send(co, 2))
		require.NoError(t, c.Send(co, 3))
		v, ok := c.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 3, v)
		v, err = f.Await(co)
		require.NoError(t, err)
		assert.Equal(t, 2, v, "the next one")
		settle(t, co)
		tr.is("r got 1")
	})
}

func TestChannel_CHAN37_CancellingOneDoesNotCloseTheChannel(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		r := tr.receiver(co, c, "r")
		s := tr.spawn(co, func(co *scheduler.Coroutine) error { return nil })
		settle(t, co)
		r.Cancel(nil)
		s.Cancel(nil)
		settle(t, co)
		tr.is("r: cancelled")
		assert.False(t, c.Closed())
		w := tr.sender(co, c, "w", 1)
		settle(t, co)
		w.Cancel(nil)
		assert.Zero(t, c.Len(), "its value is withdrawn")
		settle(t, co)
		tr.is("w: cancelled")
		assert.False(t, c.Closed())
	})
}

func TestChannel_CHAN38_AnyValueCanBeSent(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		anything := newChannel[any](t, co, 4)
		values := []any{nil, 1, "two", [3]int{1, 2, 3}}
		for _, v := range values {
			require.NoError(t, anything.Send(co, v))
		}
		for _, want := range values {
			v, err := anything.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, want, v)
		}
		nothing := newChannel[struct{}](t, co, 1)
		require.NoError(t, nothing.Send(co, struct{}{}))
		_, err := nothing.Recv(co)
		require.NoError(t, err)
		pointers := newChannel[*int](t, co, 0)
		require.True(t, pointers.TrySend(nil))
		p, err := pointers.Recv(co)
		require.NoError(t, err)
		assert.Nil(t, p)
	})
}
