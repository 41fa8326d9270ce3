package uvtest_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/uvtest"
)

// teller is a T that notes what it is told.
type teller struct{ failed bool }

func (*teller) Helper()                 {}
func (r *teller) Errorf(string, ...any) { r.failed = true }
func (r *teller) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }
func (*teller) Logf(string, ...any)     {}
func (r *teller) Failed() bool          { return r.failed }

// ends runs a simulation and reports whether it failed; one that does not end panics.
func ends(t *testing.T, main func(co *scheduler.Coroutine) error, opts ...uvtest.Option) (failed bool) {
	r := &teller{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		uvtest.Run(r, main, opts...)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the simulation does not end")
	}
	return r.failed
}

func TestRun_ExternalsAndRemoteFuturesThatNobodyServesEnd(t *testing.T) {
	assert.True(t, ends(t, func(co *scheduler.Coroutine) error {
		e, err := co.Scheduler().NewExternal()
		require.NoError(t, err)
		defer runtime.KeepAlive(e)
		_, f := future.New[int](co)
		_, err = f.Await(co)
		return err
	}))
	assert.True(t, ends(t, func(co *scheduler.Coroutine) error {
		r, f := future.NewRemote[int](co)
		defer runtime.KeepAlive(r)
		_, err := f.Await(co)
		return err
	}))
	assert.True(t, ends(t, func(co *scheduler.Coroutine) error {
		r, f := future.NewRemote[int](co)
		defer runtime.KeepAlive(r)
		for range 5 {
			_ = co.Protect(func(context.Context) error { _, err := f.Await(co); return err })
		}
		return errors.New("x")
	}))
}

func TestRun_AFinallyHandlerThatWaitsForWhatNeverComesEnds(t *testing.T) {
	assert.True(t, ends(t, func(co *scheduler.Coroutine) error {
		r, f := future.NewRemote[int](co)
		defer runtime.KeepAlive(r)
		_, err := co.Spawn(func(co *scheduler.Coroutine) error {
			_ = co.OnFinally(func(self, _ *scheduler.Coroutine) error {
				for range 5 {
					_ = self.Protect(func(context.Context) error { _, err := f.Await(self); return err })
				}
				return nil
			})
			return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
		})
		require.NoError(t, err)
		_ = co.Yield()
		return errors.New("x")
	}))
}

func TestRun_HooksThatFail(t *testing.T) {
	for name, do := range map[string]func(){"panic": func() { panic("x") }, "exit": runtime.Goexit} {
		for where, h := range map[string]*scheduler.SwitchHandlers{
			"enter":  {Enter: func(*scheduler.Coroutine) { do() }},
			"leave":  {Leave: func(*scheduler.Coroutine) { do() }},
			"finish": {Finish: func(*scheduler.Coroutine) { do() }},
		} {
			t.Run(name+" in "+where, func(t *testing.T) {
				r := &teller{}
				done := make(chan struct{})
				go func() {
					defer close(done)
					uvtest.Run(r, func(co *scheduler.Coroutine) error {
						for range 40 {
							_, err := co.Spawn(func(co *scheduler.Coroutine) error { return co.Delay(time.Second) })
							if err != nil {
								return err
							}
						}
						return co.Delay(time.Minute)
					}, uvtest.Scheduler(func(o *scheduler.Options) { o.Switch = h }))
				}()
				select {
				case <-done:
				case <-time.After(10 * time.Second):
					t.Fatal("the simulation does not end")
				}
			})
		}
	}
}

func TestRun_NilOptionsAndFunctions(t *testing.T) {
	assert.NotPanics(t, func() {
		assert.Error(t, uvasync.Run(context.Background(), nil))
	})
	assert.NotPanics(t, func() {
		assert.NoError(t, uvasync.Run(context.Background(), func(*scheduler.Coroutine) error { return nil }, nil), "a nil option is none, or an error")
	})
	assert.NotPanics(t, func() {
		assert.NoError(t, uvasync.Run(context.Background(), func(*scheduler.Coroutine) error { return nil }, uvasync.WithScheduler(nil)))
	})
	assert.NotPanics(t, func() {
		assert.NoError(t, uvasync.Run(context.Background(), func(*scheduler.Coroutine) error { return nil }, uvasync.WithLogger((*slog.Logger)(nil))))
	})
}
