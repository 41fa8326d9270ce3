package scheduler_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SHUT_TheContextOfRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errStop)
		err := e.Start(e.Prepare(), ctx, func(co *scheduler.Coroutine) error {
			e.Say("main")
			return co.Delay(time.Hour)
		})
		cotest.IsCancelled(t, err, errStop)
		assert.Empty(t, e.Said(), "done before Run: nothing starts (SHUT-01)")
	})
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var got error
		err := e.Start(e.Prepare(), ctx, func(co *scheduler.Coroutine) error {
			go cancel(errStop)
			got = co.Delay(time.Hour)
			return got
		})
		cotest.IsCancelled(t, err, errStop)
		cotest.IsCancelled(t, got, errStop)
		assert.ErrorIs(t, err, context.Canceled)

		limited, cancelLimited := context.WithTimeout(context.Background(), 5*ms)
		defer cancelLimited()
		err = e.Start(e.Prepare(), limited, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestScheduler_SHUT_RunFromSeveralGoroutinesAndAgainOnTheSameLoop(t *testing.T) {
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			l, err := reactor.New(reactor.Options{})
			if !assert.NoError(t, err) {
				return
			}
			returned := false
			defer func() { assert.True(t, returned, "the goroutine was exited") }()
			for round := range 3 {
				ended := 0
				err := scheduler.New(l, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
					for i := range 50 {
						if _, err := co.Spawn(func(co *scheduler.Coroutine) error {
							defer func() { ended++ }()
							return errors.Join(co.Yield(), co.Delay(time.Duration(i%3)*ms), co.Yield())
						}); err != nil {
							return err
						}
					}
					if round == 1 {
						return errBoom
					}
					return nil
				})
				if round == 1 {
					assert.ErrorIs(t, err, errBoom)
					continue
				}
				assert.NoError(t, err)
				assert.Equal(t, 50, ended, "run %d of goroutine %d", round, n)
			}
			assert.NoError(t, l.Close())
			returned = true
		})
	}
	all.Wait()
}

func TestScheduler_SHUT_ASecondRunOfOneSchedulerIsRefused(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			cotest.IsUsage(t, e.S.Run(context.Background(), e.Sayer("no")), "Scheduler.Run", e.S.Name())
			return nil
		}, cotest.WithName("once"))
		cotest.IsUsage(t, e.S.Run(context.Background(), e.Sayer("no")), "once")
		assert.Empty(t, e.Said())
	})
}

func TestScheduler_SHUT_ALoopThatIsClosedUnderARunEndsIt(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		var got, stuck error
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error { got = co.Delay(time.Hour); return got })
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer e.Say("unwound")
				return co.Protect(func(context.Context) error { stuck = co.Delay(time.Hour); return stuck })
			})
			_ = co.Yield()
			require.NoError(t, e.W.Close())
			return nil
		})
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, got, context.Canceled)
		assert.Equal(t, []string{"unwound"}, e.Said())
	})
}

func TestScheduler_SHUT_PostStormsWhileCoroutinesRun(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		const goroutines, posts = 4, 500
		ran, resumed := 0, 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			x, err := e.S.NewExternal()
			require.NoError(t, err)
			var all sync.WaitGroup
			for range goroutines {
				all.Go(func() {
					for range posts {
						assert.NoError(t, x.Post(func() { ran++ }))
					}
				})
			}
			go func() {
				all.Wait()
				assert.NoError(t, x.Close())
			}()
			for range 50 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					for range 50 {
						resumed++
						if err := co.Yield(); err != nil {
							return err
						}
					}
					return nil
				})
			}
			for ran < goroutines*posts {
				if err := co.Delay(ms); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Equal(t, goroutines*posts, ran)
		assert.Equal(t, 50*50, resumed)
		reactortest.Until(t, e.W, func() bool { return !e.W.Pending() })
	})
}
