package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_GEN11_ThingsOfAnotherRunAreRefused(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var others *scheduler.Coroutine
		e.MustRun(func(co *scheduler.Coroutine) error { others = co; return nil }, cotest.WithName("first run"))
		e.MustRun(func(co *scheduler.Coroutine) error {
			running := e.Spawn(co, cotest.Waiter(e.Gate()))
			_, err := co.Await(others)
			cotest.IsUsage(t, err, "first run", "second run")
			_, err = others.Spawn(e.Sayer("no"))
			cotest.IsUsage(t, err, "first run")
			cotest.IsUsage(t, others.Cancel(nil), "first run")
			cotest.IsUsage(t, others.Yield(), "first run")
			cotest.IsUsage(t, others.Scope().Cancel(nil), "first run")
			_, err = others.Scheduler().NewExternal()
			cotest.IsUsage(t, err, "first run")
			return running.Cancel(nil)
		}, cotest.WithName("second run"))
		assert.Empty(t, e.Said())
	})
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) { // a run inside a coroutine of another
		e.MustRun(func(outer *scheduler.Coroutine) error {
			inner, err := reactor.New(reactor.Options{})
			require.NoError(t, err)
			defer func() { assert.NoError(t, inner.Close()) }()
			stuck := e.Spawn(outer, cotest.Waiter(e.Gate()), scheduler.Named("stuck"))
			_ = outer.Yield()
			s := scheduler.New(inner, scheduler.Options{Name: "inner run"})
			require.NoError(t, s.Run(context.Background(), func(co *scheduler.Coroutine) error {
				_, err := co.Await(stuck)
				cotest.IsUsage(t, err, "stuck", "inner run", "outer run")
				_, _, err = co.AwaitFirst([]event.Event{newOutcome(), stuck})
				cotest.IsUsage(t, err, "stuck", "inner run", "outer run")
				_, err = co.Await(newOutcome(), scheduler.Token(stuck))
				cotest.IsUsage(t, err, "stuck", "inner run", "outer run")
				cotest.IsUsage(t, outer.Yield(), "outer run")
				_, err = outer.Spawn(e.Sayer("no"))
				cotest.IsUsage(t, err, "outer run")
				return nil
			}))
			assert.Zero(t, stuck.AsEvent().Refs()-1)
			return stuck.Cancel(nil)
		}, cotest.WithName("outer run"))
		assert.Empty(t, e.Said())
	})
}

func TestScheduler_GEN11_EventsOfAnotherLoopAreRefused(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		other, err := reactor.New(reactor.Options{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, other.Close()) }()
		timer, err := other.NewTimer(ms)
		require.NoError(t, err)
		e.MustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(timer, scheduler.Timeout(20*ms))
			cotest.IsUsage(t, err, "loop")
			_, err = co.Await(e.Timer(time.Hour), scheduler.Token(timer), scheduler.Timeout(20*ms))
			cotest.IsUsage(t, err, "loop")
			return nil
		})
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_GEN11_ARunWithACoroutineAsItsContextIsRefused(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			ctx, cancel := context.WithCancel(co)
			defer cancel()
			for _, made := range []context.Context{co, ctx, context.WithValue(co, runKey{}, 1)} {
				cotest.IsUsage(t, scheduler.New(e.W, scheduler.Options{}).Run(made, e.Sayer("no")), "Scheduler.Run", "outer run")
			}
			return co.Protect(func(ctx context.Context) error {
				cotest.IsUsage(t, scheduler.New(e.W, scheduler.Options{}).Run(ctx, e.Sayer("no")), "outer run")
				return nil
			})
		}, cotest.WithName("outer run"))
		assert.Empty(t, e.Said())
	})
}

type runKey struct{}
