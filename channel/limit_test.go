package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// simulated runs body in virtual time, where a delay is exact.
func simulated(t *testing.T, body func(co *scheduler.Coroutine)) {
	r := simreactor.New(1)
	defer func() { assert.NoError(t, r.Close()) }()
	require.NoError(t, scheduler.New(r, scheduler.Options{}).Run(t.Context(), func(co *scheduler.Coroutine) error {
		body(co)
		return nil
	}))
}

func delay(t *testing.T, co *scheduler.Coroutine, d time.Duration) {
	require.NoError(t, co.Delay(d))
}

func TestChannel_CHAN29_NoProducerTimeoutRunsWhileAReceiverWaits(t *testing.T) {
	simulated(t, func(co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 4, channel.Config{NoProducerTimeout: time.Second}), &trace{t: t}
		delay(t, co, 10*time.Second)
		assert.False(t, c.Closed(), "nobody waited")
		tr.receiver(co, c, "a")
		delay(t, co, 900*time.Millisecond)
		require.NoError(t, c.Send(co, 1))
		delay(t, co, 10*time.Second)
		assert.False(t, c.Closed(), "nobody waits any more")
		tr.is("a got 1")

		b := tr.receiver(co, c, "b")
		delay(t, co, 900*time.Millisecond)
		b.Cancel(nil)
		delay(t, co, 10*time.Second)
		assert.False(t, c.Closed(), "who waited has left")
		tr.is("b: cancelled")

		tr.receiver(co, c, "c")
		tr.receiver(co, c, "d")
		delay(t, co, 900*time.Millisecond)
		require.NoError(t, c.Send(co, 2))
		delay(t, co, 900*time.Millisecond)
		assert.False(t, c.Closed(), "an exchange starts it again from zero")
		tr.is("c got 2")
		delay(t, co, 99*time.Millisecond)
		assert.False(t, c.Closed())
		delay(t, co, 2*time.Millisecond)
		assert.Equal(t, channel.ErrNoProducers, c.Reason())
		settle(t, co)
		tr.is("d: closed no-producers")
	})
}

func TestChannel_CHAN29_WhoIsWokenDoesNotWait(t *testing.T) {
	simulated(t, func(co *scheduler.Coroutine) {
		live := co.Scheduler().Reactor().Live
		before := live()
		c, tr := newChannel[int](t, co, 1, channel.Config{NoProducerTimeout: time.Second, NoConsumerTimeout: time.Second, Hard: true}), &trace{t: t}
		r := tr.receiver(co, c, "r")
		settle(t, co)
		assert.Equal(t, 1, live()-before)
		require.NoError(t, c.Send(co, 1))
		assert.Zero(t, live()-before, "stopped in the same step")
		r.Cancel(nil)
		delay(t, co, time.Minute)
		assert.False(t, c.Closed())
		assert.Equal(t, 1, c.Len())

		s := tr.sender(co, c, "s", 2)
		settle(t, co)
		assert.Equal(t, 1, live()-before)
		_, _ = c.TryRecv()
		assert.Zero(t, live()-before, "stopped in the same step")
		s.Cancel(nil)
		delay(t, co, time.Minute)
		assert.False(t, c.Closed())
	})
}

func TestChannel_CHAN29_NoConsumerTimeoutRunsWhileASenderWaits(t *testing.T) {
	for _, capacity := range []int{0, 2} {
		simulated(t, func(co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity, channel.Config{NoConsumerTimeout: time.Second}), &trace{t: t}
			for range capacity {
				require.NoError(t, c.Send(co, 0))
			}
			delay(t, co, 10*time.Second)
			assert.False(t, c.Closed(), "nobody waited")
			a := tr.sender(co, c, "a", 1)
			delay(t, co, 900*time.Millisecond)
			a.Cancel(nil)
			delay(t, co, 10*time.Second)
			assert.False(t, c.Closed(), "who waited has left")
			tr.is("a: cancelled")
			tr.sender(co, c, "b", 2)
			tr.sender(co, c, "c", 3)
			delay(t, co, 900*time.Millisecond)
			_, ok := c.TryRecv()
			require.True(t, ok)
			delay(t, co, 900*time.Millisecond)
			assert.False(t, c.Closed(), "an exchange starts it again from zero")
			tr.is("b sent 2")
			delay(t, co, 101*time.Millisecond)
			assert.Equal(t, channel.ErrNoConsumers, c.Reason())
			settle(t, co)
			tr.is("c: closed no-consumers")
		})
	}
}

func TestChannel_CHAN29_ZeroIsNever(t *testing.T) {
	simulated(t, func(co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		tr.receiver(co, c, "r")
		delay(t, co, 1000*time.Hour)
		assert.False(t, c.Closed())
		require.NoError(t, c.Close())
	})
}

func TestChannel_CHAN30_ATimeoutClosesForAllWhoWait(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Millisecond, Hard: true}), &trace{t: t}
		a, b := tr.receiver(co, c, "a"), tr.receiver(co, c, "b")
		f, err := c.RecvAsync(co)
		require.NoError(t, err)
		_, err = f.Await(co)
		assert.Equal(t, "closed no-producers", short(err))
		_, _ = co.Await(a)
		_, _ = co.Await(b)
		tr.is("a: closed no-producers", "b: closed no-producers")

		c = newChannel[int](t, co, 0, channel.Config{NoConsumerTimeout: time.Millisecond, Hard: true})
		a, b = tr.sender(co, c, "a", 1), tr.sender(co, c, "b", 2)
		_, _ = co.Await(a)
		_, _ = co.Await(b)
		tr.is("a: closed no-consumers", "b: closed no-consumers")
		assert.Equal(t, channel.ErrNoConsumers, c.Reason())
		_, err = c.Recv(co)
		assert.Equal(t, "closed no-consumers", short(err))
	})
}

func TestChannel_CHAN31_SoftTimeoutsDoNotCountAndHardOnesDo(t *testing.T) {
	for _, hard := range []bool{false, true} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			live := co.Scheduler().Reactor().Live
			before := live()
			c, tr := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Hour, NoConsumerTimeout: time.Hour, Hard: hard}), &trace{t: t}
			tr.receiver(co, c, "r")
			settle(t, co)
			want := 0
			if hard {
				want = 1
			}
			assert.Equal(t, want, live()-before)
			require.NoError(t, c.Close())
			assert.Zero(t, live()-before)
		})
	}
}

func TestChannel_CHAN31_AHardTimeoutKeepsTheRunWaiting(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		assert.NoError(t, e.Run(func(co *scheduler.Coroutine) error {
			c := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: 5 * time.Millisecond, Hard: true})
			_, err := c.Recv(co)
			assert.Equal(t, "closed no-producers", short(err))
			return nil
		}))
	})
}

func TestChannel_CHAN32_ASoftTimeoutEndsAtOnceWhenNothingCanGoOn(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		assert.NoError(t, e.Run(func(co *scheduler.Coroutine) error {
			c, tr := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Hour}), &trace{t: t}
			d := newChannel[int](t, co, 0, channel.Config{NoConsumerTimeout: time.Hour})
			tr.sender(co, d, "s", 1)
			began := co.Scheduler().Reactor().Now()
			_, err := c.Recv(co)
			assert.Equal(t, "closed deadlock", short(err))
			assert.Less(t, co.Scheduler().Reactor().Now().Sub(began), time.Hour)
			assert.False(t, d.Closed(), "the first to starve let the run go on")
			_, err = c.Recv(co)
			assert.Equal(t, "closed deadlock", short(err))
			_, err = newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Hour}).Recv(co)
			assert.Equal(t, "closed deadlock", short(err))
			return nil
		}), "no DeadlockError for the run")
	})
}

func TestChannel_CHAN32_WhatCanGoOnGoesOn(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Hour}), &trace{t: t}
		tr.spawn(co, func(co *scheduler.Coroutine) error {
			if err := co.Delay(5 * time.Millisecond); err != nil {
				return err
			}
			return c.Send(co, 1)
		})
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
	})
}

func TestChannel_CHAN32_NobodyStarvesWithoutASoftTimeout(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		assert.Error(t, e.Run(func(co *scheduler.Coroutine) error {
			c := newChannel[int](t, co, 0, channel.Config{NoConsumerTimeout: time.Hour})
			_, err := c.Recv(co) // the other side's timeout is of no help
			assert.NotErrorIs(t, err, channel.ErrDeadlock)
			return err
		}), "a DeadlockError")
	})
}

func TestChannel_DEAD09_AWokenReceiverIsNoDeadlock(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 0), &trace{t: t}
		r := tr.receiver(co, c, "r")
		settle(t, co)
		require.NoError(t, c.Send(co, 1))
		_, err := co.Await(r)
		require.NoError(t, err)
		tr.is("r got 1")
	})
}

func TestChannel_SHUT05_ASoftTimeoutDoesNotDelayTheEnd(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		require.NoError(t, e.Run(func(co *scheduler.Coroutine) error {
			c := newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Hour})
			f, err := c.RecvAsync(co)
			require.NoError(t, err)
			f.Ignore()
			return nil
		}))
	})
}
