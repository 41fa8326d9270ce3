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
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// It is a UsageError whatever the coroutine does meanwhile, without a data race.
func TestCoroutine_CORO30_ForeignGoroutines(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			cotest.Foreign(func() { refusedAll(e, co, "goroutine") })
			cotest.Foreign(func() {
				cotest.IsUsage(t, co.Cancel(nil), "Cancel", "goroutine")
				cotest.IsUsage(t, co.Scope().Cancel(nil), "Cancel", "goroutine")
				_, err := co.Scope().New()
				cotest.IsUsage(t, err, "New", "goroutine")
				cotest.IsUsage(t, e.S.Check("the call"), "the call", "goroutine")
				cotest.IsUsage(t, e.S.Shutdown(nil), "Shutdown", "goroutine")
				cotest.IsUsage(t, e.S.Microtask(func() error { return nil }), "Microtask", "goroutine")
				_, err = e.S.NewExternal()
				cotest.IsUsage(t, err, "NewExternal", "goroutine")
				_, err = e.S.NewRoot()
				cotest.IsUsage(t, err, "NewRoot", "goroutine")
			})
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					default:
						refusedAll(e, co, "goroutine")
						runtime.Gosched()
					}
				}
			}()
			for range 30 {
				e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
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
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
			require.NoError(t, co.Yield())
			cotest.Foreign(func() {
				cotest.IsUsage(t, child.Unpark(), "Unpark", "goroutine")
				cotest.IsUsage(t, child.UnparkWith(errBoom), "Unpark", "goroutine")
			})
			assert.False(t, child.Queued())
			_ = child.Unpark()
			return nil
		})
	})
}

func TestCoroutine_GEN11_RunsKeepTheirCoroutinesApart(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(outer *scheduler.Coroutine) error {
			err := e.S.Run(context.Background(), cotest.Fails(nil))
			cotest.IsUsage(t, err, "Run", "outer")
			second := scheduler.New(e.W, scheduler.Options{Name: "inner"})
			for _, ctx := range []context.Context{outer, context.WithValue(outer, outer, 1)} {
				cotest.IsUsage(t, second.Run(ctx, cotest.Fails(nil)), "Run", "outer")
			}
			err = outer.Protect(func(ctx context.Context) error { return second.Run(ctx, cotest.Fails(nil)) })
			cotest.IsUsage(t, err, "Run", "outer")

			// A run of its own loop in a coroutine holds up the outer one, and works.
			w := reactortest.Simulated{Reactor: simreactor.New(1)}
			defer func() { assert.NoError(t, w.Close()) }()
			in := &cotest.Env{T: t, W: w}
			e.Spawn(outer, cotest.Fails(nil), scheduler.Named("waiting"))
			require.NoError(t, in.Run(func(inner *scheduler.Coroutine) error {
				require.NoError(t, inner.Delay(ms))
				refusedAll(in, outer, "outer")
				_, err := inner.Await(outer)
				cotest.IsUsage(t, err, "outer", "inner")
				_, _, err = inner.AwaitFirst([]event.Event{in.Gate(), outer})
				cotest.IsUsage(t, err, "outer", "inner")
				_, err = inner.Await(in.Gate(), scheduler.Token(outer))
				cotest.IsUsage(t, err, "outer", "inner")
				_, err = outer.Spawn(cotest.Fails(nil))
				cotest.IsUsage(t, err, "outer")
				cotest.IsUsage(t, outer.Cancel(nil), "outer")
				return inner.Delay(ms)
			}, cotest.WithName("inner")))
			require.NoError(t, outer.Yield())
			return outer.Delay(ms)
		}, cotest.WithName("outer"))
		cotest.IsUsage(t, e.S.Run(context.Background(), cotest.Fails(nil)), "Run", "outer")
		assert.Error(t, scheduler.New(e.W, scheduler.Options{}).Run(noContext, cotest.Fails(nil)))
		assert.Error(t, scheduler.New(e.W, scheduler.Options{}).Run(context.Background(), nil))
		assert.Panics(t, func() { scheduler.New(nil, scheduler.Options{}) })
	})
}

// noContext is what a caller passes who has none.
var noContext context.Context
