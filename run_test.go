package uvasync_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/leak"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestRun_CORO05_WaitsForAllCoroutines(t *testing.T) {
	ended := 0
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		for range 10 {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				defer func() { ended++ }()
				return co.Delay(time.Millisecond)
			})
			require.NoError(t, err)
		}
		return nil
	}))
	assert.Equal(t, 10, ended)
}

func TestRun_AgainAndFromSeveralGoroutinesAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 5 {
				sum := 0
				err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
					for n := range 10 {
						if _, err := co.Spawn(func(co *uvasync.Coroutine) error {
							err := co.Delay(time.Millisecond)
							sum += n
							return err
						}); err != nil {
							return err
						}
					}
					return nil
				}, uvasync.WithName(fmt.Sprint(g, "/", i)))
				assert.NoError(t, err)
				assert.Equal(t, 45, sum)
			}
		})
	}
	all.Wait()
}

func TestRun_CancellingTheContextShutsDownInOrder(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cleaned := false
	err := uvasync.Run(ctx, func(co *uvasync.Coroutine) error {
		cancel(enough)
		err := co.Delay(time.Hour)
		assert.ErrorIs(t, err, enough)
		return co.Protect(func(context.Context) error {
			cleaned = co.Delay(time.Millisecond) == nil
			return err
		})
	})
	assert.ErrorIs(t, err, enough)
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, cleaned)
}

func TestRun_SHUT03_NamesWhoDidNotEndInTime(t *testing.T) {
	unwound := false
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		_, err := co.Spawn(func(co *uvasync.Coroutine) error {
			defer func() { unwound = true }()
			return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
		}, uvasync.Named("stubborn"))
		require.NoError(t, err)
		require.NoError(t, co.Yield())
		return errors.New("boom")
	}, uvasync.WithGrace(10*time.Millisecond))
	var late *uvasync.ShutdownError
	require.ErrorAs(t, err, &late)
	require.Len(t, late.Coroutines, 1)
	assert.Contains(t, late.Coroutines[0], `coroutine 2 "stubborn", waits for Delay 1h0m0s at github.com/uvasync/uvasync_test.TestRun_SHUT03`)
	assert.ErrorContains(t, err, "boom")
	assert.True(t, unwound)
}

func TestRun_GEN11_NotWithinACoroutineAsItsContext(t *testing.T) {
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		again := func(*uvasync.Coroutine) error { return nil }
		assert.ErrorIs(t, uvasync.Run(co, again), uvasync.ErrUsage)
		derived, cancel := context.WithCancel(co)
		defer cancel()
		assert.ErrorIs(t, uvasync.Run(derived, again), uvasync.ErrUsage)
		assert.NoError(t, uvasync.Run(context.Background(), again))
		return nil
	}))
	assert.ErrorIs(t, uvasync.Run(context.Background(), nil), event.ErrInvalidArgument)
	var none context.Context
	assert.ErrorIs(t, uvasync.Run(none, func(*uvasync.Coroutine) error { return nil }), event.ErrInvalidArgument)
}

func TestRun_FailNowEndsTheTestAfterTheCleanUp(t *testing.T) {
	done, cleaned := make(chan struct{}), false
	go func() {
		defer close(done)
		_ = uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				defer func() { cleaned = true }()
				return co.Delay(time.Hour)
			})
			require.NoError(t, err)
			require.NoError(t, co.Yield())
			runtime.Goexit() // what t.FailNow does
			return nil
		})
		t.Error("Run returned")
	}()
	<-done
	assert.True(t, cleaned)
}

func TestRun_LockedThread(t *testing.T) {
	n := 0
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		for range 100 {
			if _, err := co.Spawn(func(co *uvasync.Coroutine) error {
				n++
				return co.Delay(time.Millisecond)
			}); err != nil {
				return err
			}
		}
		return nil
	}, uvasync.WithLockedThread()))
	assert.Equal(t, 100, n)
}

func TestRun_TheLoopIsThere(t *testing.T) {
	require.NoError(t, uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		loop, err := uvasync.Loop(co)
		require.NoError(t, err)
		timer, err := loop.NewTimer(2 * time.Millisecond)
		require.NoError(t, err)
		_, err = co.Await(timer)
		require.NoError(t, err)
		forgotten, err := loop.NewPeriodicTimer(time.Hour)
		require.NoError(t, err)
		return forgotten.Start()
	}, uvasync.WithLoop(reactor.Options{IdleTime: true})), "what is still started is closed")
	_, err := uvasync.Loop(nil)
	assert.ErrorIs(t, err, uvasync.ErrUsage)
}

func TestRun_OptionsReachTheScheduler(t *testing.T) {
	var b bytes.Buffer
	l := slog.New(slog.NewTextHandler(&b, nil))
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		_, err := co.Spawn(func(*uvasync.Coroutine) error { panic("ouch") }, uvasync.Named("worker"))
		return err
	}, uvasync.WithLogger(l), uvasync.WithName("mine"), uvasync.WithScheduler(func(o *scheduler.Options) { o.SpawnLines = true }))
	var f *uvasync.FailureError
	require.ErrorAs(t, err, &f)
	assert.Contains(t, f.Started, "run_test.go:")
	assert.True(t, strings.Contains(b.String(), "run=mine") && strings.Contains(b.String(), `worker\" failed`), b.String())
}
