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
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SHUT_TheContextOfRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errStop)
		err := e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
			e.say("main")
			return co.Delay(time.Hour)
		})
		isCancelled(t, err, errStop)
		assert.Empty(t, e.said(), "done before Run: nothing starts (SHUT-01)")
	})
	onLibuv(t, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var got error
		err := e.start(e.prepare(), ctx, func(co *scheduler.Coroutine) error {
			go cancel(errStop)
			got = co.Delay(time.Hour)
			return got
		})
		isCancelled(t, err, errStop)
		isCancelled(t, got, errStop)
		assert.ErrorIs(t, err, context.Canceled)

		limited, cancelLimited := context.WithTimeout(context.Background(), 5*ms)
		defer cancelLimited()
		err = e.start(e.prepare(), limited, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
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
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			isUsage(t, e.s.Run(context.Background(), e.sayer("no")), "Scheduler.Run", e.s.Name())
			return nil
		}, withName("once"))
		isUsage(t, e.s.Run(context.Background(), e.sayer("no")), "once")
		assert.Empty(t, e.said())
	})
}

func TestScheduler_SHUT_ALoopThatIsClosedUnderARunEndsIt(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		var got, stuck error
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { got = co.Delay(time.Hour); return got })
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("unwound")
				return co.Protect(func(context.Context) error { stuck = co.Delay(time.Hour); return stuck })
			})
			_ = co.Yield()
			require.NoError(t, e.w.Close())
			return nil
		})
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, got, context.Canceled)
		assert.Equal(t, []string{"unwound"}, e.said())
	})
}

func TestScheduler_SHUT_PostStormsWhileCoroutinesRun(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		const goroutines, posts = 4, 500
		ran, resumed := 0, 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			x, err := e.s.NewExternal()
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
				e.spawn(co, func(co *scheduler.Coroutine) error {
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
		reactortest.Until(t, e.w, func() bool { return !e.w.Pending() })
	})
}
