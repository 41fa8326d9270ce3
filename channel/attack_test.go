package channel_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestClose_GEN10_APanicOfASubscriberLosesNoWaiter(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		woken := 0
		err := e.Run(func(co *scheduler.Coroutine) error {
			c, err := channel.New[int](co, 0)
			require.NoError(t, err)
			f, err := c.RecvAsync(co)
			require.NoError(t, err)
			var cb event.Callback
			cb.Init(func(*event.Base, *event.Callback, any, error) { panic("subscriber") }, nil, nil)
			require.NoError(t, f.AsEvent().AddCallback(&cb))
			for range 3 {
				_, err := co.Spawn(func(co *scheduler.Coroutine) error {
					_, err := c.Recv(co)
					assert.ErrorIs(t, err, event.ErrClosed)
					woken++
					return nil
				})
				require.NoError(t, err)
			}
			require.NoError(t, co.Yield())
			func() {
				defer func() { _ = recover() }()
				_ = c.Close()
			}()
			_ = c.Close()
			return nil
		})
		assert.NoError(t, err)
		assert.Equal(t, 3, woken)
	})
}

func TestCancel_GEN10_APanicOfOnCancelLeavesNobodyWaiting(t *testing.T) {
	for name, do := range map[string]func(){"panic": func() { panic("on cancel") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
				var got error
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = e.Run(func(co *scheduler.Coroutine) error {
						c, f := future.New[int](co)
						c.OnCancel(do)
						waiter, err := co.Spawn(func(co *scheduler.Coroutine) error { _, got = f.Await(co); return nil })
						require.NoError(t, err)
						require.NoError(t, co.Yield())
						sc, err := co.Scope().New()
						require.NoError(t, err)
						_, err = sc.Spawn(func(*scheduler.Coroutine) error { return f.Cancel(errors.New("reason")) })
						require.NoError(t, err)
						sc.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { return nil })
						_, err = co.Await(waiter, scheduler.Timeout(time.Second))
						return err
					})
				}()
				<-done
				if name == "panic" {
					assert.ErrorContains(t, got, "reason")
				}
				assert.ErrorIs(t, got, context.Canceled)
			})
		})
	}
}
