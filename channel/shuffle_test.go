package channel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// ledger counts what was said to have been sent and received, on three channels at once.
type ledger struct {
	channels [3]*channel.Channel[int]
	next     int
	sent     map[int]bool // false: the sender failed
	unsure   map[int]bool // a rendezvous that was cancelled, and may have been taken before (CHAN-23)
	received map[int]int
}

func (l *ledger) value() int {
	l.next++
	return l.next
}

func (l *ledger) noteSend(c *channel.Channel[int], v int, err error) {
	l.sent[v] = err == nil
	l.unsure[v] = c.Cap() == 0 && errors.Is(err, context.Canceled)
}

// act is what one coroutine does: some operations, until one fails.
func (l *ledger) act(co *scheduler.Coroutine, rng *rand.Rand) error {
	for range 1 + rng.IntN(6) {
		c, d := l.channels[rng.IntN(3)], l.channels[rng.IntN(3)]
		var opts []scheduler.WaitOption
		if rng.IntN(3) == 0 {
			opts = append(opts, scheduler.Timeout(time.Millisecond))
		}
		var err error
		switch rng.IntN(5) {
		case 0, 1:
			v := l.value()
			err = c.Send(co, v, opts...)
			l.noteSend(c, v, err)
		case 2, 3:
			var v int
			if v, err = c.Recv(co, opts...); err == nil {
				l.received[v]++
			}
		case 4:
			err = l.choose(co, c, d, opts)
		}
		if err != nil && !errors.Is(err, event.ErrTimeout) {
			return nil
		}
	}
	return nil
}

func (l *ledger) choose(co *scheduler.Coroutine, c, d *channel.Channel[int], opts []scheduler.WaitOption) error {
	v := l.value()
	var got int
	i, err := channel.Select(co, []channel.Case{c.SendCase(v), d.RecvCase(&got)}, opts...)
	switch {
	case i == 1 && err == nil:
		l.received[got]++
		l.noteSend(c, v, event.ErrTimeout) // not taken
	case i == 0 || errors.Is(err, context.Canceled):
		l.noteSend(c, v, err)
	default:
		l.noteSend(c, v, event.ErrTimeout)
	}
	return err
}

// drain takes what is left when everybody has ended.
func (l *ledger) drain() {
	for _, c := range l.channels {
		for v, ok := c.TryRecv(); ok; v, ok = c.TryRecv() {
			l.received[v]++
		}
	}
}

func (l *ledger) check(t require.TestingT) {
	for v := 1; v <= l.next; v++ {
		switch n := l.received[v]; {
		case n > 1:
			require.Failf(t, "duplicated", "value %d was received %d times", v, n)
		case n == 0 && l.sent[v]:
			require.Failf(t, "lost", "value %d was sent and nobody received it", v)
		case n == 1 && !l.sent[v] && !l.unsure[v]:
			require.Failf(t, "split", "value %d was received, and its sender had an error", v)
		}
	}
	for _, c := range l.channels {
		s := c.Stats()
		require.Zero(t, s.Len+s.WaitingReceivers+s.WaitingSenders+s.ReservedReceivers+s.ReservedSenders, "%+v", s)
	}
}

func TestChannel_GEN03_NothingIsLostInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rng := rand.New(rand.NewPCG(seed, 0))
		r := simreactor.New(seed)
		defer r.Close()
		s := scheduler.New(r, scheduler.Options{Rand: rand.New(rand.NewPCG(seed, 1))})
		err := s.Run(t.Context(), func(co *scheduler.Coroutine) error {
			l := &ledger{sent: map[int]bool{}, unsure: map[int]bool{}, received: map[int]int{}}
			for i := range l.channels {
				c, err := channel.New[int](co, i)
				if err != nil {
					return err
				}
				l.channels[i] = c
			}
			var all []*scheduler.Coroutine
			for range 60 {
				switch rng.IntN(4) {
				case 0, 1:
					one, err := co.Spawn(func(co *scheduler.Coroutine) error { return l.act(co, rng) })
					if err != nil {
						return err
					}
					all = append(all, one)
				case 2:
					if len(all) > 0 {
						all[rng.IntN(len(all))].Cancel(nil)
					}
				case 3:
					if err := co.Yield(); err != nil {
						return err
					}
				}
			}
			for _, c := range l.channels {
				if err := c.Close(); err != nil {
					return err
				}
			}
			for _, one := range all {
				_, _ = co.Await(one)
			}
			l.drain()
			l.check(rt)
			return nil
		})
		require.NoError(rt, err)
	})
}
