package scheduler_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_DEAD12_AnExternalHandleCountsUntilItIsClosed(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			x, err := e.S.NewExternal()
			require.NoError(t, err)
			assert.Equal(t, 1, e.W.Live())
			go func() {
				for range 100 {
					assert.NoError(t, x.Post(func() { e.Say("post") }))
				}
				assert.NoError(t, x.Post(func() { g.Open(7, nil) }))
			}()
			result, err := co.Await(g)
			require.NoError(t, err)
			assert.Equal(t, 7, result)
			assert.Len(t, e.Said(), 100)
			go func() {
				assert.NoError(t, x.Close())
				assert.NoError(t, x.Close())
				assert.ErrorIs(t, x.Post(func() { t.Error("posted through a closed handle") }), event.ErrClosed)
			}()
			return cotest.Waiter(g)(co)
		})
		isDeadlock(t, err, 1)
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_DEAD12_AnExternalHandleClosedOnTheLoopCountsNoMore(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			x, err := e.S.NewExternal()
			require.NoError(t, err)
			require.NoError(t, x.Close())
			require.NoError(t, x.Close())
			assert.Zero(t, e.W.Live())
			assert.ErrorIs(t, x.Post(func() {}), event.ErrClosed)
			other, err := e.S.NewExternal()
			require.NoError(t, err)
			require.NoError(t, x.Close())
			assert.Equal(t, 1, e.W.Live(), "closing one twice is not closing two (GEN-06)")
			require.NoError(t, other.Close())
			return cotest.Waiter(e.Gate())(co)
		})
		isDeadlock(t, err, 1)
		_, err = e.S.NewExternal()
		cotest.IsUsage(t, err, "Scheduler.NewExternal")
	})
}

func TestScheduler_DEAD12_ADroppedExternalHandleIsClosedWhenCollected(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		stop := make(chan struct{})
		defer close(stop)
		err := e.Run(func(co *scheduler.Coroutine) error {
			_, err := e.S.NewExternal()
			require.NoError(t, err)
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						runtime.GC()
					}
				}
			}()
			return cotest.Waiter(e.Gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_DEAD12_AnExternalHandleDoesNotOutliveTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var x *scheduler.External
		e.MustRun(func(co *scheduler.Coroutine) (err error) {
			x, err = e.S.NewExternal()
			return err
		})
		assert.Zero(t, e.W.Live(), "SHUT-06")
		cotest.Foreign(func() { assert.NoError(t, x.Close()) })
		isDeadlock(t, e.Run(cotest.Waiter(e.Gate())), 1)
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_DEAD12_ExternalHandlesClosedWhileTheRunEnds(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		done := make(chan struct{})
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			x, err := e.S.NewExternal()
			require.NoError(t, err)
			go func() {
				defer close(done)
				assert.NoError(t, x.Post(func() { g.Open(nil, nil) }))
				assert.NoError(t, x.Close())
			}()
			return cotest.Waiter(g)(co)
		})
		<-done
		reactortest.Until(t, e.W, func() bool { return !e.W.Pending() })
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_DEAD12_ABarePostDoesNotCountNorACancellableContext(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := e.Start(e.Prepare(), ctx, func(co *scheduler.Coroutine) error {
			require.NoError(t, e.S.Post(func() { e.Say("ran") }))
			return cotest.Waiter(e.Gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"ran"}, e.Said())
	})
}
