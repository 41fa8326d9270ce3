package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCoroutine_CORO13_ACancelledErrorOfItsOwnIsACancellation(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, err := range map[string]error{
			"plain":   &event.CancelledError{Reason: errStop},
			"wrapped": fmt.Errorf("while working: %w", &event.CancelledError{Reason: errStop}),
			"context": context.Canceled,
		} {
			handled := 0
			e.MustRun(func(co *scheduler.Coroutine) error {
				co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { handled++; return nil })
				child := e.Spawn(co, cotest.Fails(err))
				require.NoError(t, co.Yield())
				assert.True(t, child.Cancelled(), name)
				assert.Equal(t, err, child.Error())
				return err // the main coroutine, too
			})
			assert.Zero(t, handled, name)
		}
	})
}

func TestCoroutine_CORO13_ACancellationBesideAFailureIsAFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, cotest.Fails(errors.Join(&event.CancelledError{}, errBoom)))
			return nil
		})
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestCoroutine_CORO14_ASettlerTakesTheFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		handled := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { handled++; return nil })
			var child *scheduler.Coroutine
			set := settler(func(settled *scheduler.Coroutine, err error) {
				assert.Same(t, child, settled)
				assert.True(t, child.Completed())
				assert.Equal(t, errBoom, err)
				assert.Nil(t, e.S.Current())
				cotest.IsUsage(t, settled.Yield(), "Yield")
				e.Say("settled")
			})
			child = e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Yield(); return errBoom }, scheduler.SettledBy(set))
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, err := co.Await(child)
				assert.Equal(t, errBoom, err)
				e.Say("awaited")
				return nil
			})
			cotest.Yields(co, 4)
			for range 3 {
				_, err := co.Await(child)
				assert.Equal(t, errBoom, err, "on every further await the very same")
			}
			return nil
		})
		assert.Zero(t, handled)
		assert.Equal(t, []string{"settled", "awaited"}, e.Said(), "once, and before the awaiters")
	})
}

func TestCoroutine_CORO14_ASettlerIsToldOfEveryEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		got := map[string]error{}
		into := func(name string) scheduler.SpawnOption {
			return scheduler.SettledBy(settler(func(_ *scheduler.Coroutine, err error) {
				assert.NotContains(t, got, name)
				got[name] = err
			}))
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, cotest.Fails(nil), into("value"))
			e.Spawn(co, func(*scheduler.Coroutine) error { panic(errBoom) }, into("panic"))
			require.NoError(t, e.Spawn(co, cotest.Fails(nil), into("unstarted")).Cancel(errStop))
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(1000 * ms) }, into("cancelled"))
			require.NoError(t, co.Yield())
			return child.Cancel(errStop)
		})
		assert.Len(t, got, 4)
		assert.NoError(t, got["value"])
		cotest.IsCancelled(t, got["unstarted"], errStop)
		cotest.IsCancelled(t, got["cancelled"], errStop)
		var p *event.PanicError
		require.ErrorAs(t, got["panic"], &p)
		assert.Equal(t, errBoom, p.Value)
	})
}

func TestCoroutine_CORO14_ASettlerThatPanicsFailsTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, cotest.Fails(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { panic(errBoom) })))
			return nil
		})
		var p *event.PanicError
		require.ErrorAs(t, err, &p)
		assert.Equal(t, errBoom, p.Value)
	})
}

func TestCoroutine_CORO15_AFailureNobodyAwaitsGoesToTheScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		t.Run("the handler", func(t *testing.T) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				var child *scheduler.Coroutine
				co.Scope().OnError(func(sc *scheduler.Scope, failed *scheduler.Coroutine, err error) error {
					assert.Same(t, co.Scope(), sc)
					assert.Same(t, child, failed)
					assert.Equal(t, errBoom, err)
					e.Say("handled")
					return nil
				})
				child = e.Spawn(co, cotest.Fails(errBoom))
				e.Spawn(co, func(co *scheduler.Coroutine) error { defer e.Say("sibling"); return co.Delay(ms) })
				require.NoError(t, co.Yield())
				assert.Equal(t, []string{"handled"}, e.Said(), "at once")
				_, err := co.Await(child)
				assert.Equal(t, errBoom, err, "a later await still gets it")
				return nil
			})
			assert.Equal(t, []string{"sibling"}, e.Said())
		})
		t.Run("the run", func(t *testing.T) {
			err := e.Run(func(co *scheduler.Coroutine) error {
				e.Spawn(co, cotest.Fails(errBoom), scheduler.Named("culprit"))
				cotest.IsCancelled(t, co.Delay(3600*1000*ms), errBoom)
				return nil
			})
			assert.ErrorIs(t, err, errBoom)
			var failure *scheduler.FailureError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, `coroutine 2 "culprit"`, failure.Coroutine)
		})
		t.Run("a scope in between", func(t *testing.T) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { e.Say("handled"); return nil })
				sub, err := co.Scope().New()
				require.NoError(t, err)
				e.Spawn(sub, func(co *scheduler.Coroutine) error {
					cotest.IsCancelled(t, co.Delay(3600*1000*ms), errBoom)
					e.Say("cancelled")
					return nil
				})
				e.Spawn(sub, cotest.Fails(errBoom))
				cotest.Yields(co, 3)
				assert.True(t, sub.Closed())
				return co.Err()
			})
			assert.Equal(t, []string{"handled", "cancelled"}, e.Said())
		})
	})
}

func TestCoroutine_SCOPE21_AnAwaiterGetsTheFailureAlone(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { e.Say("handled"); return nil })
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
			_, err := co.Await(child)
			assert.Equal(t, errBoom, err)
			return nil
		})
		assert.Empty(t, e.Said())
	})
}

// unseen is a thing with a failure that nobody has seen.
type unseen struct {
	scheduler.Owned
	err    error
	closed []error
	asked  int
}

func (b *unseen) ScopeClosed(reason error) { b.closed = append(b.closed, reason) }

func (b *unseen) ScopeDone() error { b.asked++; err := b.err; b.err = nil; return err }

func TestCoroutine_CORO16_WhatNobodyObservedIsReportedOnceByItsScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		b := &unseen{err: errBoom}
		err := e.Run(func(co *scheduler.Coroutine) error { co.Scope().Own(&b.Owned, b); return nil })
		assert.ErrorIs(t, err, errBoom)
		assert.Len(t, b.closed, 1)

		b, handled := &unseen{err: errBoom}, []error{}
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				handled = append(handled, err)
				return nil
			})
			sub, err := co.Scope().New()
			require.NoError(t, err)
			sub.Own(&b.Owned, b)
			return nil
		})
		assert.Equal(t, []error{errBoom}, handled)
	})
}
