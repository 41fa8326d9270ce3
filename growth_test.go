package uvasync_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/future"
)

func TestRun_GEN06_NothingGrowsInALongRun(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	cases := map[string]func(t *testing.T, co *uvasync.Coroutine){
		"spawn": func(t *testing.T, co *uvasync.Coroutine) {
			c, err := co.Spawn(func(*uvasync.Coroutine) error { return nil })
			require.NoError(t, err)
			_, _ = co.Await(c)
		},
		"finally": func(t *testing.T, co *uvasync.Coroutine) {
			c, _ := co.Spawn(func(*uvasync.Coroutine) error { return nil })
			_ = c.OnFinally(func(self, _ *uvasync.Coroutine) error { return self.Yield() })
			_, _ = co.Await(c)
		},
		"future": func(t *testing.T, co *uvasync.Coroutine) {
			c, f := future.New[int](co)
			g := future.Map(f, func(int) (int, error) { return 0, errors.New("x") }).Catch(func(error) (int, error) { return 1, nil })
			_ = c.Complete(1)
			_, _ = g.Await(co)
		},
		"failed future": func(t *testing.T, co *uvasync.Coroutine) {
			f := future.Go(co, func(co *uvasync.Coroutine) (int, error) { return 0, errors.New("x") })
			_, _ = f.Await(co)
		},
		"token": func(t *testing.T, co *uvasync.Coroutine) {
			c, f := future.New[int](co)
			_, err := f.Await(co, uvasync.Token(f), uvasync.Timeout(time.Hour), uvasync.Token(future.Completed(co, 1)))
			assert.Error(t, err)
			_ = c
			f.Dispose()
		},
		"channel": func(t *testing.T, co *uvasync.Coroutine) {
			c, _ := channel.New[int](co, 1, channel.Config{NoProducerTimeout: time.Hour})
			_ = c.Send(co, 1)
			_, _ = c.Recv(co)
			f, _ := c.RecvAsync(co)
			f.Dispose()
			_ = c.Close()
		},
		"scope": func(t *testing.T, co *uvasync.Coroutine) {
			sc, _ := co.Scope().New()
			_, _ = sc.Spawn(func(co *uvasync.Coroutine) error { return co.Delay(time.Hour) })
			c, _ := channel.New[int](sc, 1)
			_ = co.Yield()
			_ = sc.Dispose(nil)
			_ = co.Yield()
			_ = c
		},
		"foreach": func(t *testing.T, co *uvasync.Coroutine) {
			_ = future.ForEach(co, slices.Values([]int{1, 2}), func(co *uvasync.Coroutine, i int) error {
				_, err := co.Spawn(func(co *uvasync.Coroutine) error { return co.Delay(time.Hour) })
				return err
			}, future.Concurrency(2))
		},
		"combinators": func(t *testing.T, co *uvasync.Coroutine) {
			a := future.Go(co, func(co *uvasync.Coroutine) (int, error) { return 1, nil })
			_, f := future.New[int](co)
			_, _, _ = future.AwaitAnyOf(co, 1, future.Of(a, f))
			_ = f.Dispose()
		},
		"blocks": func(t *testing.T, co *uvasync.Coroutine) {
			_ = co.WithTimeout(time.Hour, func(co *uvasync.Coroutine) error {
				co.Done()
				ctx, cancel := context.WithTimeout(co, time.Hour)
				defer cancel()
				stop := context.AfterFunc(ctx, func() {})
				stop()
				return co.WithCancel(func(co *uvasync.Coroutine, cancel func(error)) error {
					co.Done()
					return co.Protect(func(context.Context) error { co.Done(); return nil })
				})
			})
		},
		"blocks that are over": func(t *testing.T, co *uvasync.Coroutine) {
			_ = co.WithTimeout(time.Nanosecond, func(co *uvasync.Coroutine) error {
				co.Done()
				return co.Delay(time.Hour)
			})
		},
		"external": func(t *testing.T, co *uvasync.Coroutine) {
			e, err := co.Scheduler().NewExternal()
			require.NoError(t, err)
			_ = e.Close()
		},
		"remote": func(t *testing.T, co *uvasync.Coroutine) {
			r, f := future.NewRemote[int](co)
			go r.Complete(1)
			_, err := f.Await(co)
			assert.NoError(t, err)
		},
		"locks": func(t *testing.T, co *uvasync.Coroutine) {
			var m cosync.RWMutex
			_ = m.Lock(co)
			c, _ := co.Spawn(func(co *uvasync.Coroutine) error { return m.RLock(co, uvasync.Timeout(time.Hour)) })
			_ = co.Yield()
			m.Unlock()
			_, _ = co.Await(c)
		},
		"from event": func(t *testing.T, co *uvasync.Coroutine) {
			loop, _ := uvasync.Loop(co)
			timer, err := loop.NewTimer(time.Hour)
			require.NoError(t, err)
			f := future.FromEvent(co, timer)
			_ = f.Dispose()
			timer.Dispose()
			_ = co.Yield()
		},
		"microtask and post": func(t *testing.T, co *uvasync.Coroutine) {
			_ = co.Scheduler().Microtask(func() error { return nil })
			_ = co.Scheduler().Post(func() {})
			_ = co.Yield()
		},
		"nested run": func(t *testing.T, co *uvasync.Coroutine) {
			_ = uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error { return co.Yield() })
		},
	}
	for name, fn := range cases {
		t.Run(name, func(t *testing.T) {
			n := 20000
			switch name {
			case "blocks that are over", "nested run":
				n = 500
			}
			before := runtime.NumGoroutine()
			require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
				for range n / 10 {
					fn(t, co)
				}
				g := runtime.NumGoroutine()
				// What is lost in every call is lost in every round; what the runtime itself takes now and then is not.
				grown := int64(math.MaxInt64)
				for round := 0; round < 5 && grown > int64(4*n); round++ {
					h := heap()
					for range n {
						fn(t, co)
					}
					grown = min(grown, heap()-h)
				}
				assert.LessOrEqual(t, grown, int64(4*n), "bytes lost in %d calls", n)
				assert.LessOrEqual(t, runtime.NumGoroutine(), g+3)
				_ = co.Cancel(nil)
				return nil
			}), "")
			// Eventually has a goroutine of its own for the condition.
			assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, time.Millisecond)
		})
	}
}
