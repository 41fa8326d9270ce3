package channel_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestChannel_CANC00_TheCoroutinesOwnCancellationComesFirst(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 2), &trace{t: t}
		require.NoError(t, c.Send(co, 1))
		tr.spawn(co, func(co *scheduler.Coroutine) error {
			co.Cancel(errBoom)
			_, err := c.Recv(co)
			tr.add(short(err))
			tr.add(short(c.Send(co, 2)))
			_, err = channel.Select(co, []channel.Case{c.RecvCase(nil), channel.Default})
			tr.add(short(err))
			v, ok := c.TryRecv()
			tr.add(v, ok, c.TrySend(3), c.Close())
			return nil
		})
		settle(t, co)
		tr.is("cancelled boom", "cancelled boom", "cancelled boom", "1 true true <nil>")
	})
}

func TestChannel_OthersRunWhileOneNeverHasToWait(t *testing.T) {
	const many = 10_000
	for name, op := range map[string]func(co *scheduler.Coroutine, c *channel.Channel[int]) error{
		"send": func(co *scheduler.Coroutine, c *channel.Channel[int]) error { return c.Send(co, 1) },
		"receive": func(co *scheduler.Coroutine, c *channel.Channel[int]) error {
			c.TrySend(1)
			_, err := c.Recv(co)
			return err
		},
		"select": func(co *scheduler.Coroutine, c *channel.Channel[int]) error {
			_, err := channel.Select(co, []channel.Case{c.RecvCase(nil), channel.Default})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
				c, ran := newChannel[int](t, co, many), false
				(&trace{t: t}).spawn(co, func(*scheduler.Coroutine) error { ran = true; return nil })
				for range many {
					require.NoError(t, op(co, c))
				}
				assert.True(t, ran)
			})
		})
	}
}

func TestChannel_GEN11_BelongsToOneRun(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		var there *channel.Channel[int]
		require.NoError(t, e.Run(func(co *scheduler.Coroutine) error {
			there = newChannel[int](t, co, 1)
			inner := "inner of " + t.Name()
			done := make(chan error)
			go func() {
				r := simreactor.New(1)
				err := scheduler.New(r, scheduler.Options{Name: inner}).Run(t.Context(), func(co *scheduler.Coroutine) error {
					_, recv := there.Recv(co)
					_, sel := channel.Select(co, []channel.Case{there.SendCase(1)})
					_, await := co.Await(there)
					for call, err := range map[string]error{
						"channel: Send": there.Send(co, 1), "channel: Recv": recv, "channel: Select": sel, "scheduler: Await": await,
					} {
						var usage *event.UsageError
						if assert.ErrorAs(t, err, &usage, call) {
							assert.Equal(t, call, usage.Call)
							assert.Contains(t, usage.Problem, inner)
							assert.Contains(t, usage.Problem, t.Name())
						}
					}
					return nil
				})
				done <- errors.Join(err, r.Close())
			}()
			return <-done
		}, cotest.WithName(t.Name())))
	})
}

func TestChannel_CORO30_NoneCannotBeAwaited(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		for _, none := range []*channel.Channel[int]{nil, {}} {
			_, err := co.Await(none)
			cotest.IsUsage(t, err, "scheduler: Await", "not made by New")
			_, _, err = co.AwaitFirst([]event.Event{none})
			cotest.IsUsage(t, err, "scheduler: AwaitFirst", "not made by New")
		}
	})
}

func TestChannel_CORO30_RefusesForeignGoroutines(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, done := newChannel[int](t, co, 1), make(chan struct{})
		go func() {
			defer close(done)
			_, err := c.Recv(co)
			assert.ErrorIs(t, err, event.ErrUsage)
			assert.ErrorIs(t, c.Send(co, 1), event.ErrUsage)
			assert.ErrorIs(t, c.Close(), event.ErrUsage)
			_, err = c.RecvAsync(co)
			assert.ErrorIs(t, err, event.ErrUsage)
			_, err = channel.New[int](co, 1)
			assert.ErrorIs(t, err, event.ErrUsage)
			for name, call := range map[string]func(){
				"TrySend": func() { c.TrySend(1) }, "TryRecv": func() { c.TryRecv() }, "Len": func() { c.Len() },
				"Empty": func() { c.Empty() }, "Full": func() { c.Full() }, "Closed": func() { c.Closed() },
				"Reason": func() { _ = c.Reason() }, "Stats": func() { c.Stats() },
			} {
				func() {
					defer func() {
						err, _ := recover().(error)
						var usage *event.UsageError
						if assert.ErrorAs(t, err, &usage, name) {
							assert.Equal(t, "channel: "+name, usage.Call)
						}
					}()
					call()
				}()
			}
		}()
		<-done
		assert.ErrorIs(t, c.Send(nil, 1), event.ErrUsage)
		assert.Zero(t, c.Len())
	})
}
