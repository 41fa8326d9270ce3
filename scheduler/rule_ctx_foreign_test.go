package scheduler_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// Package context asks Err of a parent whose Done is closed, in a function of AfterFunc or in the call that derives, and
// panics when it is nil.
func TestContext_ErrIsThereWhenAfterFuncCalls(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		// The function's goroutine begins when the block is long over.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		child.Pass(t, func() {
			e.MustRun(func(co *scheduler.Coroutine) error {
				for range 50 {
					_ = co.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
						derived, stop := context.WithCancel(co)
						defer stop()
						cancel(errStop)
						_ = derived
						return nil
					})
					var kept context.Context
					var stop context.CancelFunc
					_ = co.WithTimeout(ms, func(co *scheduler.Coroutine) error {
						kept, stop = context.WithCancel(co)
						return co.Delay(hour)
					})
					<-kept.Done()
					assert.Error(t, kept.Err())
					stop()
				}
				return nil
			})
		})
	})
}

// hammer has goroutines use the coroutine as a context until it ends.
func hammer(t *testing.T, co *scheduler.Coroutine, n int) (wait func()) {
	var wg sync.WaitGroup
	var stop atomic.Bool
	for i := range n {
		wg.Go(func() {
			for !stop.Load() {
				switch i % 5 {
				case 0:
					_, cancel := context.WithCancel(co)
					cancel()
				case 1:
					ctx, cancel := context.WithTimeout(co, hour)
					if closed(ctx.Done()) && ctx.Err() == nil {
						t.Error("a derived context is done and has no Err")
					}
					cancel()
				case 2:
					done := co.Done()
					_ = closed(done)
					_, _ = co.Deadline()
				case 3:
					co.AfterFunc(func() {})()
					_ = co.Err()
				case 4:
					stop := context.AfterFunc(co, func() {})
					stop()
				}
				runtime.Gosched()
			}
		})
	}
	return func() { stop.Store(true); wg.Wait() }
}

func TestContext_ForeignGoroutinesAcrossTheEndsOfBlocks(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		child.Pass(t, func() {
			e.MustRun(func(co *scheduler.Coroutine) error {
				victim := e.Spawn(co, func(self *scheduler.Coroutine) error {
					wait := hammer(t, self, 5)
					defer wait()
					for range 300 {
						_ = self.WithTimeout(hour, func(self *scheduler.Coroutine) error { return self.Yield() })
						_ = self.WithCancel(func(self *scheduler.Coroutine, cancel func(error)) error {
							cancel(errStop)
							runtime.Gosched()
							return self.Protect(func(context.Context) error { runtime.Gosched(); return nil })
						})
						_ = self.WithDeadline(e.W.Now().Add(hour), func(self *scheduler.Coroutine) error {
							return self.WithCancel(func(self *scheduler.Coroutine, cancel func(error)) error {
								cancel(nil)
								return self.Yield()
							})
						})
						runtime.Gosched()
					}
					require.NoError(t, self.Err())
					_ = self.Cancel(errStop)
					for range 50 {
						_ = self.Protect(func(context.Context) error { runtime.Gosched(); return self.Yield() })
					}
					return self.Err()
				})
				_, err := co.Await(victim)
				cotest.IsCancelled(t, err, errStop)
				return nil
			})
		})
	})
}

// What a foreign goroutine waits for comes when the coroutine is cancelled or has ended, whatever blocks there were.
func TestContext_ForeignGoroutinesAreTold(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		for _, cancel := range []bool{true, false} {
			var wg sync.WaitGroup
			e.MustRun(func(co *scheduler.Coroutine) error {
				victim := e.Spawn(co, func(self *scheduler.Coroutine) error {
					for range 100 {
						wg.Go(func() { <-self.Done() })
						wg.Go(func() {
							ctx, stop := context.WithCancel(self)
							defer stop()
							<-ctx.Done()
							assert.Error(t, ctx.Err())
						})
						_ = self.WithTimeout(hour, func(self *scheduler.Coroutine) error {
							runtime.Gosched()
							return self.Protect(func(context.Context) error { runtime.Gosched(); return self.Yield() })
						})
					}
					if cancel {
						_ = self.Cancel(errStop)
					}
					return nil
				})
				_, _ = co.Await(victim)
				wg.Wait()
				return nil
			})
		}
	})
}
