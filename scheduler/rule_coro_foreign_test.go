package scheduler_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// It is a UsageError whatever the coroutine does meanwhile, without a data race.
func TestCoroutine_CORO30_ForeignGoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			foreign(func() { e.refusedAll(co, "goroutine") })
			foreign(func() {
				isUsage(t, co.Cancel(nil), "Cancel", "goroutine")
				isUsage(t, co.Scope().Cancel(nil), "Cancel", "goroutine")
				_, err := co.Scope().New()
				isUsage(t, err, "New", "goroutine")
				isUsage(t, e.s.Check("the call"), "the call", "goroutine")
				isUsage(t, e.s.Shutdown(nil), "Shutdown", "goroutine")
				isUsage(t, e.s.Microtask(func() error { return nil }), "Microtask", "goroutine")
				_, err = e.s.NewExternal()
				isUsage(t, err, "NewExternal", "goroutine")
				_, err = e.s.NewRoot()
				isUsage(t, err, "NewRoot", "goroutine")
			})
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					default:
						e.refusedAll(co, "goroutine")
						runtime.Gosched()
					}
				}
			}()
			for range 30 {
				e.spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
				require.NoError(t, co.Yield())
				require.NoError(t, co.Delay(ms))
			}
			close(stop)
			<-done
			return nil
		})
	})
}

// While nobody is on the loop's goroutine but Unpark is called: it is for the loop, too.
func TestCoroutine_CORO30_UnparkByForeignGoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
			require.NoError(t, co.Yield())
			foreign(func() {
				isUsage(t, child.Unpark(), "Unpark", "goroutine")
				isUsage(t, child.UnparkWith(errBoom), "Unpark", "goroutine")
			})
			assert.False(t, child.Queued())
			_ = child.Unpark()
			return nil
		})
	})
}

func TestCoroutine_GEN11_RunsKeepTheirCoroutinesApart(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(outer *scheduler.Coroutine) error {
			err := e.s.Run(context.Background(), returns(nil))
			isUsage(t, err, "Run", "outer")
			second := scheduler.New(e.w, scheduler.Options{Name: "inner"})
			for _, ctx := range []context.Context{outer, context.WithValue(outer, outer, 1)} {
				isUsage(t, second.Run(ctx, returns(nil)), "Run", "outer")
			}
			err = outer.Protect(func(ctx context.Context) error { return second.Run(ctx, returns(nil)) })
			isUsage(t, err, "Run", "outer")

			// A run of its own loop in a coroutine holds up the outer one, and works.
			w := reactortest.Simulated{Reactor: simreactor.New(1)}
			defer func() { assert.NoError(t, w.Close()) }()
			in := &env{t: t, w: w}
			e.spawn(outer, returns(nil), scheduler.Named("waiting"))
			require.NoError(t, in.run(func(inner *scheduler.Coroutine) error {
				require.NoError(t, inner.Delay(ms))
				in.refusedAll(outer, "outer")
				_, err := inner.Await(outer)
				isUsage(t, err, "outer", "inner")
				_, _, err = inner.AwaitFirst([]event.Event{in.gate(), outer})
				isUsage(t, err, "outer", "inner")
				_, err = inner.Await(in.gate(), scheduler.Token(outer))
				isUsage(t, err, "outer", "inner")
				_, err = outer.Spawn(returns(nil))
				isUsage(t, err, "outer")
				isUsage(t, outer.Cancel(nil), "outer")
				return inner.Delay(ms)
			}, withName("inner")))
			require.NoError(t, outer.Yield())
			return outer.Delay(ms)
		}, withName("outer"))
		isUsage(t, e.s.Run(context.Background(), returns(nil)), "Run", "outer")
		assert.Error(t, scheduler.New(e.w, scheduler.Options{}).Run(noContext, returns(nil)))
		assert.Error(t, scheduler.New(e.w, scheduler.Options{}).Run(context.Background(), nil))
		assert.Panics(t, func() { scheduler.New(nil, scheduler.Options{}) })
	})
}

// noContext is what a caller passes who has none.
var noContext context.Context
