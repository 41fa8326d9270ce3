package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_GEN11_ThingsOfAnotherRunAreRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var others *scheduler.Coroutine
		e.mustRun(func(co *scheduler.Coroutine) error { others = co; return nil }, withName("first run"))
		e.mustRun(func(co *scheduler.Coroutine) error {
			running := e.spawn(co, waiter(e.gate()))
			_, err := co.Await(others)
			isUsage(t, err, "first run", "second run")
			_, err = others.Spawn(e.sayer("no"))
			isUsage(t, err, "first run")
			isUsage(t, others.Cancel(nil), "first run")
			isUsage(t, others.Yield(), "first run")
			isUsage(t, others.Scope().Cancel(nil), "first run")
			_, err = others.Scheduler().NewExternal()
			isUsage(t, err, "first run")
			return running.Cancel(nil)
		}, withName("second run"))
		assert.Empty(t, e.said())
	})
	onLibuv(t, func(t *testing.T, e *env) { // a run inside a coroutine of another
		e.mustRun(func(outer *scheduler.Coroutine) error {
			inner, err := reactor.New(reactor.Options{})
			require.NoError(t, err)
			defer func() { assert.NoError(t, inner.Close()) }()
			stuck := e.spawn(outer, waiter(e.gate()), scheduler.Named("stuck"))
			_ = outer.Yield()
			s := scheduler.New(inner, scheduler.Options{Name: "inner run"})
			require.NoError(t, s.Run(context.Background(), func(co *scheduler.Coroutine) error {
				_, err := co.Await(stuck)
				isUsage(t, err, "stuck", "inner run", "outer run")
				_, _, err = co.AwaitFirst([]event.Event{e.outcome(), stuck})
				isUsage(t, err, "stuck", "inner run", "outer run")
				_, err = co.Await(e.outcome(), scheduler.Token(stuck))
				isUsage(t, err, "stuck", "inner run", "outer run")
				isUsage(t, outer.Yield(), "outer run")
				_, err = outer.Spawn(e.sayer("no"))
				isUsage(t, err, "outer run")
				return nil
			}))
			assert.Zero(t, stuck.AsEvent().Refs()-1)
			return stuck.Cancel(nil)
		}, withName("outer run"))
		assert.Empty(t, e.said())
	})
}

func TestScheduler_GEN11_EventsOfAnotherLoopAreRefused(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		other, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, other.Close()) }()
		timer, err := other.NewTimer(ms)
		require.NoError(t, err)
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(timer, scheduler.Timeout(20*ms))
			isUsage(t, err, "loop")
			_, err = co.Await(e.timer(time.Hour), scheduler.Token(timer), scheduler.Timeout(20*ms))
			isUsage(t, err, "loop")
			return nil
		})
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_GEN11_ARunWithACoroutineAsItsContextIsRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			ctx, cancel := context.WithCancel(co)
			defer cancel()
			for _, made := range []context.Context{co, ctx, context.WithValue(co, runKey{}, 1)} {
				isUsage(t, scheduler.New(e.w, scheduler.Options{}).Run(made, e.sayer("no")), "Scheduler.Run", "outer run")
			}
			return co.Protect(func(ctx context.Context) error {
				isUsage(t, scheduler.New(e.w, scheduler.Options{}).Run(ctx, e.sayer("no")), "outer run")
				return nil
			})
		}, withName("outer run"))
		assert.Empty(t, e.said())
	})
}

type runKey struct{}
