package future_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/uvtest"
)

type sliceError []error

func (sliceError) Error() string { return "several" }

func TestForEach_GEN08_ErrorsThatCannotBeCompared(t *testing.T) {
	uvtest.Search(t, func(co *scheduler.Coroutine) error {
		bad := sliceError{errors.New("x")}
		err := future.ForEach(co, slices.Values([]int{1}), func(co *scheduler.Coroutine, _ int) error {
			_, err := co.Spawn(func(co *scheduler.Coroutine) error {
				_ = co.Delay(time.Second)
				return bad
			})
			return err
		}, future.AwaitPending())
		var s sliceError
		assert.ErrorAs(t, err, &s)
		return nil
	})
}

func TestForEach_ITER05_WaitsForWhatWasSpawnedInChildScopes(t *testing.T) {
	uvtest.Search(t, func(co *scheduler.Coroutine) error {
		ended := false
		err := future.ForEach(co, slices.Values([]int{1}), func(co *scheduler.Coroutine, _ int) error {
			sc, err := co.Scope().New()
			require.NoError(t, err)
			_, err = sc.Spawn(func(co *scheduler.Coroutine) error {
				_ = co.Protect(func(context.Context) error { return co.Delay(time.Second) })
				ended = true
				return nil
			})
			require.NoError(t, err)
			return co.Delay(time.Millisecond)
		})
		require.NoError(t, err)
		assert.True(t, ended, "what was cancelled ends before ForEach returns")
		return nil
	})
}

func TestAwait_CORO30_TypedNils(t *testing.T) {
	uvtest.Run(t, func(co *scheduler.Coroutine) error {
		var f *future.Future[int]
		var c *scheduler.Coroutine
		for name, call := range map[string]func() error{
			"Await future":      func() error { _, err := co.Await(f); return err },
			"Await coroutine":   func() error { _, err := co.Await(c); return err },
			"AwaitFirst":        func() error { _, _, err := co.AwaitFirst([]event.Event{f, c}); return err },
			"token future":      func() error { _, err := co.Await(future.Completed(co, 1), scheduler.Token(f)); return err },
			"token coroutine":   func() error { _, err := co.Await(future.Completed(co, 1), scheduler.Token(c)); return err },
			"Events coroutine":  func() error { _, _, err := future.AwaitAll(co, future.Events(c)); return err },
			"Events future":     func() error { _, _, err := future.AwaitAll(co, future.Events(f)); return err },
			"Cancel":            func() error { return f.Cancel(nil) },
			"Ignore":            func() error { return f.Ignore() },
			"Dispose":           func() error { return f.Dispose() },
			"zero completer":    func() error { return new(future.Completer[int]).Complete(1) },
			"zero remote":       func() error { return new(future.RemoteCompleter[int]).Complete(1) },
			"zero future await": func() error { _, err := new(future.Future[int]).Await(co); return err },
		} {
			var err error
			if assert.NotPanics(t, func() { err = call() }, name) {
				assert.Error(t, err, name)
			}
		}
		return nil
	})
}

func TestOfMap_TheSameSeedGivesTheSameRun(t *testing.T) {
	first := -1
	for range 20 {
		uvtest.Run(t, func(co *scheduler.Coroutine) error {
			m := map[int]*future.Future[int]{}
			for i := range 20 {
				m[i] = future.Completed(co, i)
			}
			v, err := future.AwaitAnyOrFail(co, future.OfMap(m))
			require.NoError(t, err)
			if first < 0 {
				first = v
			}
			assert.Equal(t, first, v)
			return nil
		})
	}
}

func TestFinally_FUT06_RunsAtTheEndOfTheGraceToo(t *testing.T) {
	done := make(chan error, 1)
	go func() {
		_ = done
	}()
	called := 0
	var tt fakeT
	uvtest.Run(&tt, func(co *scheduler.Coroutine) error {
		f := future.Go(co, func(co *scheduler.Coroutine) (int, error) {
			return 0, co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
		})
		f.Finally(func() error { called++; return nil })
		require.NoError(t, co.Yield())
		return errors.New("boom")
	}, uvtest.Scheduler(func(o *scheduler.Options) { o.Grace = time.Millisecond }))
	assert.Equal(t, 1, called)
}

type fakeT struct{ msgs []string }

func (*fakeT) Helper()                     {}
func (f *fakeT) Errorf(s string, a ...any) { f.msgs = append(f.msgs, s) }
func (f *fakeT) Fatalf(s string, a ...any) { f.msgs = append(f.msgs, s) }
func (*fakeT) Logf(string, ...any)         {}
func (f *fakeT) Failed() bool              { return len(f.msgs) > 0 }
