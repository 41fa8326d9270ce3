package scheduler_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_DEAD12_AnExternalHandleCountsUntilItIsClosed(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			g := e.gate()
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			assert.Equal(t, 1, e.w.Live())
			go func() {
				for range 100 {
					assert.NoError(t, x.Post(func() { e.say("post") }))
				}
				assert.NoError(t, x.Post(func() { g.open(7, nil) }))
			}()
			result, err := co.Await(g)
			require.NoError(t, err)
			assert.Equal(t, 7, result)
			assert.Len(t, e.said(), 100)
			go func() {
				assert.NoError(t, x.Close())
				assert.NoError(t, x.Close())
				assert.ErrorIs(t, x.Post(func() { t.Error("posted through a closed handle") }), event.ErrClosed)
			}()
			return waiter(g)(co)
		})
		isDeadlock(t, err, 1)
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_AnExternalHandleClosedOnTheLoopCountsNoMore(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			require.NoError(t, x.Close())
			require.NoError(t, x.Close())
			assert.Zero(t, e.w.Live())
			assert.ErrorIs(t, x.Post(func() {}), event.ErrClosed)
			other, err := e.s.NewExternal()
			require.NoError(t, err)
			require.NoError(t, x.Close())
			assert.Equal(t, 1, e.w.Live(), "closing one twice is not closing two (GEN-06)")
			require.NoError(t, other.Close())
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		_, err = e.s.NewExternal()
		isUsage(t, err, "Scheduler.NewExternal")
	})
}

func TestScheduler_DEAD12_ADroppedExternalHandleIsClosedWhenCollected(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		stop := make(chan struct{})
		defer close(stop)
		err := e.run(func(co *scheduler.Coroutine) error {
			_, err := e.s.NewExternal()
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
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_AnExternalHandleDoesNotOutliveTheRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var x *scheduler.External
		e.mustRun(func(co *scheduler.Coroutine) (err error) {
			x, err = e.s.NewExternal()
			return err
		})
		assert.Zero(t, e.w.Live(), "SHUT-06")
		foreign(func() { assert.NoError(t, x.Close()) })
		isDeadlock(t, e.run(waiter(e.gate())), 1)
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_ExternalHandlesClosedWhileTheRunEnds(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		done := make(chan struct{})
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			x, err := e.s.NewExternal()
			require.NoError(t, err)
			go func() {
				defer close(done)
				assert.NoError(t, x.Post(func() { g.open(nil, nil) }))
				assert.NoError(t, x.Close())
			}()
			return waiter(g)(co)
		})
		<-done
		reactortest.Until(t, e.w, func() bool { return !e.w.Pending() })
		assert.Zero(t, e.w.Live())
	})
}

func TestScheduler_DEAD12_ABarePostDoesNotCountNorACancellableContext(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Post(func() { e.say("ran") }))
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"ran"}, e.said())
	})
}
