package uvasync_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
)

func TestRun_SHUT_TheContextEndsAtAnyMoment(t *testing.T) {
	for i := range 1000 {
		ctx, cancel := context.WithCancel(context.Background())
		r := rand.New(rand.NewPCG(uint64(i), 1))
		wait := time.Duration(r.IntN(300)) * time.Microsecond
		go func() {
			for t0 := time.Now(); time.Since(t0) < wait; {
				runtime.Gosched()
			}
			cancel()
		}()
		var begun, ended atomic.Int32
		err := uvasync.Run(ctx, func(co *uvasync.Coroutine) error {
			ch, _ := channel.New[int](co, 1)
			for k := range 10 {
				begun.Add(1)
				_, err := co.Spawn(func(co *uvasync.Coroutine) error {
					defer ended.Add(1)
					for range 3 {
						if k%2 == 0 {
							if err := ch.Send(co, 1); err != nil {
								return err
							}
						} else if _, err := ch.Recv(co); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return co.Delay(time.Millisecond)
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
	}
}

func TestRun_DEAD12_PostsFromManyGoroutines(t *testing.T) {
	const goroutines, each = 16, 2000
	n := 0
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		done, f := future.New[int](co)
		for range goroutines {
			e, err := co.Scheduler().NewExternal()
			require.NoError(t, err)
			go func() {
				for range each {
					if err := e.Post(func() {
						if n++; n == goroutines*each {
							_ = done.Complete(n)
						}
					}); err != nil {
						t.Error(err)
					}
				}
				_ = e.Close()
			}()
		}
		_, err := f.Await(co)
		return err
	}))
	assert.Equal(t, goroutines*each, n)
}

func TestRun_DEAD_WhatIsAboutToBeWokenIsNoDeadlock(t *testing.T) {
	for i := range 300 {
		err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
			switch i % 5 {
			case 0: // a remote future through every kind of wait
				r, f := future.NewRemote[int](co)
				go r.Complete(1)
				g := future.Map(f, func(v int) (int, error) { return v, nil })
				_, err := g.Await(co)
				return err
			case 1:
				r, f := future.NewRemote[int](co)
				go r.Complete(1)
				_, never := future.New[int](co)
				_, err := never.Await(co, uvasync.Token(f))
				assert.ErrorIs(t, err, context.Canceled)
				return never.Dispose()
			case 2:
				r, f := future.NewRemote[int](co)
				go r.Fail(errors.New("x"))
				_, never := future.New[int](co)
				_, _, err := future.AwaitAnyOf(co, 1, future.Events(never, f))
				_ = err
				return never.Dispose()
			case 3:
				e, _ := co.Scheduler().NewExternal()
				done, f := future.New[int](co)
				go func() { _ = e.Post(func() { _ = done.Complete(1) }); _ = e.Close() }()
				_, err := f.Await(co)
				return err
			case 4:
				c, f := future.New[int](co)
				r, err := c.Move()
				require.NoError(t, err)
				waiter, _ := co.Spawn(func(co *uvasync.Coroutine) error { _, err := f.Await(co); return err })
				go r.Complete(3)
				_, err = co.Await(waiter)
				return err
			}
			return nil
		})
		if i%5 == 2 {
			var d *uvasync.DeadlockError
			assert.False(t, errors.As(err, &d) && false)
			continue
		}
		require.NoError(t, err, i%5)
	}
}

func TestRun_SHUT_AllAreInProtect(t *testing.T) {
	const n = 10000
	unwound := 0
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		for range n {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				defer func() { unwound++ }()
				for {
					_ = co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
				}
			})
			require.NoError(t, err)
		}
		require.NoError(t, co.Yield())
		return co.Scheduler().Shutdown(errors.New("enough"))
	}, uvasync.WithGrace(5*time.Millisecond))
	var late *uvasync.ShutdownError
	require.ErrorAs(t, err, &late)
	assert.Len(t, late.Coroutines, n)
	assert.Equal(t, n, unwound)
}

func deep(co *uvasync.Coroutine, n int) (sum int, err error) {
	var pad [64]byte
	for i := range pad {
		pad[i] = byte(n + i)
	}
	if n%500 == 0 {
		if err := co.Yield(); err != nil {
			return 0, err
		}
	}
	if n == 0 {
		return 0, co.Delay(time.Millisecond)
	}
	sum, err = deep(co, n-1)
	for i := range pad {
		if pad[i] != byte(n+i) {
			return 0, errors.New("stack is damaged")
		}
	}
	return sum + 1, err
}

func TestRun_CORO12_StacksGrowAndShrinkDuringSwitches(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		for range 20 {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				for _, n := range []int{10, 5000, 100, 20000, 1} {
					sum, err := deep(co, n)
					if err != nil || sum != n {
						return fmt.Errorf("%d of %d: %w", sum, n, err)
					}
					runtime.GC()
				}
				return nil
			})
			require.NoError(t, err)
		}
		return nil
	}))
}

func TestRun_DepthOfSpawnAndBlocks(t *testing.T) {
	const depth = 1000
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		var spawn func(co *uvasync.Coroutine, n int) error
		spawn = func(co *uvasync.Coroutine, n int) error {
			if n == 0 {
				return co.Delay(time.Millisecond)
			}
			sc, err := co.Scope().New()
			if err != nil {
				return err
			}
			c, err := sc.Spawn(func(co *uvasync.Coroutine) error { return spawn(co, n-1) })
			if err != nil {
				return err
			}
			_, err = co.Await(c)
			return err
		}
		if err := spawn(co, depth); err != nil {
			return err
		}
		var block func(co *uvasync.Coroutine, n int) error
		block = func(co *uvasync.Coroutine, n int) error {
			if n == 0 {
				return co.Delay(time.Hour)
			}
			co.Done()
			return co.WithTimeout(time.Hour, func(co *uvasync.Coroutine) error {
				return co.WithCancel(func(co *uvasync.Coroutine, _ func(error)) error { return block(co, n-1) })
			})
		}
		err := co.WithTimeout(time.Millisecond, func(co *uvasync.Coroutine) error { return block(co, depth) })
		assert.ErrorIs(t, err, uvasync.ErrTimeout)
		return nil
	}))
}

func TestRun_TenThousandOfEverything(t *testing.T) {
	const n = 10000
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		completer, one := future.New[int](co)
		woken, sum := 0, 0
		all := make([]*future.Future[int], n)
		for i := range n {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				defer func() { woken++ }()
				_, err := one.Await(co)
				return err
			})
			require.NoError(t, err)
			c, f := future.New[int](co)
			all[i] = f
			r, err := c.Move()
			require.NoError(t, err)
			if i%100 == 0 {
				go func() {
					_ = r.Complete(i)
				}()
			} else {
				_ = r.Complete(i)
			}
		}
		_ = co.Yield()
		_ = completer.Complete(1)
		values, err := future.AwaitAllOrFail(co, future.Of(all...))
		require.NoError(t, err)
		for _, v := range values.All() {
			sum += v
		}
		assert.Equal(t, n*(n-1)/2, sum)
		ch, _ := channel.New[int](co, 0)
		got := 0
		for range n {
			_, _ = co.Spawn(func(co *uvasync.Coroutine) error {
				v, err := ch.Recv(co)
				got += v
				return err
			})
			_, _ = co.Spawn(func(co *uvasync.Coroutine) error { return ch.Send(co, 1) })
		}
		for got < n {
			if err := co.Delay(time.Millisecond); err != nil {
				return err
			}
		}
		assert.Equal(t, n, woken)
		return nil
	}))
}

func TestRun_UserCodeThatMeddles(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	defer signal.Stop(signals)
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := 0; ; i++ {
				if err := co.Yield(); !errors.Is(err, uvasync.ErrUsage) {
					t.Errorf("within iter.Pull: %v", err)
				}
				if !yield(i) {
					return
				}
			}
		})
		for i := range 10 {
			v, _ := next()
			assert.Equal(t, i, v)
			c, err := co.Spawn(func(co *uvasync.Coroutine) error { _, _ = next(); return nil })
			require.NoError(t, err)
			_ = c.Cancel(nil)
			if err := co.Delay(time.Millisecond); err != nil {
				return err
			}
		}
		stop()
		runtime.LockOSThread()
		runtime.UnlockOSThread()
		_ = syscall.Kill(os.Getpid(), syscall.SIGUSR2)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				assert.ErrorIs(t, co.Yield(), uvasync.ErrUsage)
				_, err := co.Spawn(func(*scheduler.Coroutine) error { return nil })
				assert.ErrorIs(t, err, uvasync.ErrUsage)
				assert.ErrorIs(t, co.Cancel(nil), uvasync.ErrUsage)
				_ = co.Err()
				_ = co.Done()
				_ = co.Value("x")
			})
		}
		for range 100 {
			_ = co.Yield()
			_ = co.Delay(time.Millisecond / 10)
		}
		wg.Wait()
		return nil
	}))
	<-signals
}
