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

type cases = []channel.Case

func TestChannel_CHAN39_SelectTakesAReadyCaseAndOnlyThat(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		a, b, full := newChannel[int](t, co, 1), newChannel[string](t, co, 1), newChannel[int](t, co, 1)
		require.True(t, full.TrySend(0))
		require.True(t, b.TrySend("b"))
		var n int
		var s string
		i, err := channel.Select(co, cases{a.RecvCase(&n), b.RecvCase(&s), full.SendCase(1)})
		require.NoError(t, err)
		assert.Equal(t, 1, i)
		assert.Equal(t, "b", s)
		assert.Zero(t, n)
		assert.Equal(t, []int{0, 0, 1}, []int{a.Len(), b.Len(), full.Len()})

		i, err = channel.Select(co, cases{full.SendCase(1), a.SendCase(5)})
		require.NoError(t, err)
		assert.Equal(t, 1, i)
		v, ok := a.TryRecv()
		assert.True(t, ok)
		assert.Equal(t, 5, v)
	})
}

func TestChannel_CHAN39_SelectWithADefaultNeverWaits(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 0)
		i, err := channel.Select(co, cases{channel.Default, c.RecvCase(nil), c.SendCase(1)})
		require.NoError(t, err)
		assert.Zero(t, i)
		assert.Equal(t, channel.Stats{}, c.Stats())
		require.True(t, c.TrySend(1))
		var v int
		i, err = channel.Select(co, cases{channel.Default, c.RecvCase(&v)})
		require.NoError(t, err)
		assert.Equal(t, 1, i, "a case that is ready comes before the default")
		assert.Equal(t, 1, v)
	})
}

func TestChannel_CHAN39_AParkedSelectReservesOnOneCase(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			tr := &trace{t: t}
			a, b, full := newChannel[int](t, co, capacity), newChannel[int](t, co, capacity), newChannel[int](t, co, capacity)
			for range capacity {
				require.True(t, full.TrySend(0))
			}
			tr.spawn(co, func(co *scheduler.Coroutine) error {
				var v int
				i, err := channel.Select(co, cases{a.RecvCase(&v), b.RecvCase(&v), full.SendCase(9)})
				tr.add(i, " ", v, " ", err)
				return nil
			})
			settle(t, co)
			assert.Equal(t, []int{1, 1, 1}, []int{a.Stats().WaitingReceivers, b.Stats().WaitingReceivers, full.Stats().WaitingSenders})
			require.True(t, b.TrySend(7))
			assert.Equal(t, channel.Stats{Cap: capacity, Len: 1, ReservedReceivers: 1}, b.Stats())
			assert.Equal(t, channel.Stats{Cap: capacity}, a.Stats(), "it left the other lines in the same step")
			assert.Zero(t, full.Stats().WaitingSenders)
			require.True(t, a.TrySend(8))
			settle(t, co)
			tr.is("1 7 <nil>")
			v, ok := a.TryRecv()
			assert.True(t, ok, "nothing is lost on the other cases")
			assert.Equal(t, 8, v)
		})
	}
}

func TestChannel_CHAN39_AParkedSelectSends(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, empty, tr := newChannel[int](t, co, capacity), newChannel[int](t, co, 0), &trace{t: t}
			for range capacity {
				require.True(t, c.TrySend(0))
			}
			tr.spawn(co, func(co *scheduler.Coroutine) error {
				i, err := channel.Select(co, cases{empty.RecvCase(nil), c.SendCase(9)})
				tr.add(i, " ", err)
				return nil
			})
			settle(t, co)
			for range capacity {
				v, err := c.Recv(co)
				require.NoError(t, err)
				assert.Zero(t, v)
			}
			v, err := c.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, 9, v)
			settle(t, co)
			tr.is("1 <nil>")
			assert.Equal(t, channel.Stats{}, empty.Stats())
		})
	}
}

func TestChannel_CHAN39_TwoSelectsMeet(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, d, tr := newChannel[int](t, co, 0), newChannel[int](t, co, 0), &trace{t: t}
		meet := func(name string, v int) {
			tr.spawn(co, func(co *scheduler.Coroutine) error {
				var got int
				i, err := channel.Select(co, cases{c.RecvCase(&got), c.SendCase(v), d.RecvCase(nil)})
				tr.add(name, " ", i, " ", got, " ", err)
				return nil
			})
		}
		meet("a", 1)
		settle(t, co)
		tr.is() // never with itself
		meet("b", 2)
		settle(t, co)
		if assert.Len(t, tr.got, 2) {
			assert.Subset(t, []string{"b 0 1 <nil>", "a 1 0 <nil>", "b 1 0 <nil>", "a 0 2 <nil>"}, tr.got)
		}
		assert.Equal(t, channel.Stats{}, c.Stats())
		assert.Equal(t, channel.Stats{}, d.Stats())
	})
}

func TestChannel_CHAN39_ACancelledSelectPassesOn(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		in, out, tr := newChannel[int](t, co, 0), newChannel[int](t, co, 1), &trace{t: t}
		require.True(t, out.TrySend(0))
		sel := func(name string, k ...channel.Case) *scheduler.Coroutine {
			return tr.spawn(co, func(co *scheduler.Coroutine) error {
				i, err := channel.Select(co, k)
				tr.add(name, " ", i, " ", short(err))
				return nil
			})
		}
		s := sel("in", in.RecvCase(nil), out.SendCase(1))
		settle(t, co)
		tr.receiver(co, in, "next")
		settle(t, co)
		require.NoError(t, in.Send(co, 5))
		s.Cancel(nil)
		assert.Equal(t, channel.Stats{Len: 1, ReservedReceivers: 1}, in.Stats())
		settle(t, co)
		tr.is("in -1 cancelled", "next got 5")

		s = sel("out", in.RecvCase(nil), out.SendCase(1))
		tr.sender(co, out, "next", 2)
		settle(t, co)
		_, _ = out.TryRecv()
		assert.Zero(t, in.Stats().WaitingReceivers)
		s.Cancel(nil)
		assert.Equal(t, channel.Stats{Cap: 1, ReservedSenders: 1}, out.Stats())
		settle(t, co)
		tr.is("out -1 cancelled", "next sent 2")

		s = sel("parked", in.RecvCase(nil), out.SendCase(1))
		settle(t, co)
		s.Cancel(nil)
		assert.Zero(t, in.Stats().WaitingReceivers+out.Stats().WaitingSenders)
		settle(t, co)
		tr.is("parked -1 cancelled")
	})
}

func TestChannel_CHAN39_ServesReadyCasesFairly(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		const rounds = 3000
		a, b, never, c := newChannel[int](t, co, rounds), newChannel[int](t, co, rounds), newChannel[int](t, co, 1), newChannel[int](t, co, rounds)
		k := cases{channel.Default, a.RecvCase(nil), b.RecvCase(nil), never.RecvCase(nil), c.SendCase(1)}
		for range rounds {
			a.TrySend(1)
			b.TrySend(1)
		}
		served := make([]int, len(k))
		for range rounds {
			i, err := channel.Select(co, k)
			require.NoError(t, err)
			served[i]++
		}
		assert.Zero(t, served[0]+served[3])
		for _, i := range []int{1, 2, 4} {
			assert.InDelta(t, rounds/3, served[i], rounds/10, "%v", served)
		}
	})
}

func TestChannel_CHAN39_AClosedChannelIsReady(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			closed, open, tr := newChannel[int](t, co, capacity), newChannel[int](t, co, 0), &trace{t: t}
			require.True(t, closed.TrySend(1))
			require.NoError(t, closed.Close())
			i, err := channel.Select(co, cases{open.RecvCase(nil), closed.RecvCase(nil)})
			assert.Equal(t, 1, i)
			assert.NoError(t, err, "there is a value left")
			i, err = channel.Select(co, cases{open.RecvCase(nil), closed.RecvCase(nil)})
			assert.Equal(t, 1, i)
			assert.Equal(t, "closed by-close", short(err))
			i, err = channel.Select(co, cases{open.RecvCase(nil), closed.SendCase(1)})
			assert.Equal(t, 1, i)
			assert.Equal(t, "closed by-close", short(err))

			c := newChannel[int](t, co, capacity)
			tr.spawn(co, func(co *scheduler.Coroutine) error {
				i, err := channel.Select(co, cases{open.RecvCase(nil), c.RecvCase(nil)})
				tr.add(i, " ", short(err))
				return nil
			})
			settle(t, co)
			require.NoError(t, c.Close())
			assert.Equal(t, channel.Stats{}, open.Stats())
			settle(t, co)
			tr.is("1 closed by-close")
		})
	}
}

func TestChannel_CHAN22_AWokenSelectFindsTheChannelClosed(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 1), &trace{t: t}
		require.True(t, c.TrySend(0))
		tr.spawn(co, func(co *scheduler.Coroutine) error {
			i, err := channel.Select(co, cases{c.SendCase(1)})
			tr.add(i, " ", short(err))
			return nil
		})
		settle(t, co)
		_, _ = c.TryRecv()
		require.NoError(t, c.Close())
		settle(t, co)
		tr.is("0 closed by-close")
		assert.Zero(t, c.Len())
	})
}

func TestChannel_CHAN39_SelectWithATokenAndATimeout(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		token := tr.spawn(co, func(*scheduler.Coroutine) error { return nil })
		for range 2 {
			i, err := channel.Select(co, cases{c.RecvCase(nil)}, scheduler.Token(token))
			assert.Equal(t, -1, i)
			assert.True(t, tokenFired(err))
		}
		i, err := channel.Select(co, cases{c.RecvCase(nil)}, scheduler.Timeout(time.Millisecond))
		assert.Equal(t, -1, i)
		assert.ErrorIs(t, err, event.ErrTimeout)
		_, err = channel.Select(co, cases{c.RecvCase(nil)}, scheduler.Timeout(-1))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		assert.Equal(t, channel.Stats{}, c.Stats())
	})
}

func TestChannel_CHAN39_RefusesWhatCannotBeSelected(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 0)
		k := c.RecvCase(nil)
		for _, bad := range []cases{nil, {k, nil}} {
			i, err := channel.Select(co, bad)
			assert.Equal(t, -1, i)
			assert.ErrorIs(t, err, event.ErrInvalidArgument)
		}
		i, err := channel.Select(co, cases{k, k})
		assert.Equal(t, -1, i)
		assert.ErrorIs(t, err, event.ErrUsage)
		require.True(t, c.TrySend(1))
		for range 2 {
			_, err = channel.Select(co, cases{k, channel.Default})
			require.NoError(t, err, "a case can be used again")
		}
	})
}

func TestChannel_CHAN29_ASelectThatWaitsIsAWaiter(t *testing.T) {
	simulated(t, func(co *scheduler.Coroutine) {
		c, d := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Second}), newChannel[int](t, co, 0)
		i, err := channel.Select(co, cases{d.RecvCase(nil), c.RecvCase(nil)}, scheduler.Timeout(10*time.Second))
		assert.Equal(t, 1, i)
		assert.NotNil(t, err)
		assert.True(t, c.Closed())
	})
}
