package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SHUT02_ALaterFailureDoesNotExtendTheGrace(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		if _, simulated := e.W.(reactortest.Simulated); !simulated {
			return // a machine that is slow for a moment lets all three times come at once
		}
		err := e.Run(func(co *scheduler.Coroutine) error {
			for _, d := range []time.Duration{15 * ms, 30 * ms} {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						_ = co.Delay(d)
						e.Say(d.String())
						return errBoom
					})
				})
			}
			_ = co.Yield()
			return e.S.Shutdown(errStop)
		}, cotest.WithGrace(20*ms))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 1)
		assert.Equal(t, []string{"15ms"}, e.Said())
	})
}

func TestScheduler_SHUT03_WhoSurvivesStageOneMayFinishWithinTheGrace(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.S.Shutdown(errStop))
			defer e.Say("finished")
			return co.Protect(func(context.Context) error { return co.Delay(10 * ms) })
		}, cotest.WithGrace(time.Hour))
		cotest.IsCancelled(t, err, errStop)
		assert.Equal(t, []string{"finished"}, e.Said())
	})
}

func TestScheduler_SHUT03_WhatRemainsWhenTheGraceEndsIsUnwoundAndNamed(t *testing.T) {
	for _, grace := range []time.Duration{-1, 5 * ms} {
		t.Run(grace.String(), func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				body := func(co *scheduler.Coroutine) error {
					defer e.Say("deferred")
					return co.Protect(func(context.Context) error {
						defer func() { _ = recover() }() // it cannot swallow this
						err := co.Delay(time.Hour)
						e.Say("went on")
						return err
					})
				}
				err := e.Run(func(co *scheduler.Coroutine) error {
					e.Spawn(co, body, scheduler.Named("late one"))
					e.Spawn(co, body, scheduler.Named("late two"))
					_ = co.Yield()
					require.NoError(t, e.S.Shutdown(errStop))
					return nil
				}, cotest.WithGrace(grace))
				assert.ErrorIs(t, err, errStop)
				var late *scheduler.ShutdownError
				require.ErrorAs(t, err, &late)
				assert.Equal(t, grace, late.Grace)
				if grace < 0 { // the caller of Shutdown had no time to end, either
					require.Contains(t, late.Coroutines[0], "coroutine 1")
					late.Coroutines = late.Coroutines[1:]
				}
				require.Len(t, late.Coroutines, 2)
				assert.Contains(t, late.Coroutines[0], "late one")
				assert.Contains(t, late.Coroutines[0], "Delay 1h0m0s")
				assert.Contains(t, late.Coroutines[0], "rule_shut_grace_test.go")
				assert.Contains(t, late.Coroutines[1], "late two")
				assert.Contains(t, late.Error(), "late one")
				assert.Equal(t, []string{"deferred", "deferred"}, e.Said())
			})
		})
	}
}

func TestScheduler_SHUT03_AFailureOfADeferredFunctionOfTheUnwoundIsKept(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer func() { panic(errBoom) }()
				return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
			})
			_ = co.Yield()
			return e.S.Shutdown(errStop)
		}, cotest.WithGrace(2*ms))
		assert.ErrorIs(t, err, errStop)
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScheduler_SHUT03_ADeferredFunctionThatSuspendsWhileUnwoundEnds(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer e.Say("outer")
				defer func() {
					e.Say("inner")
					_ = co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
					e.Say("not reached")
				}()
				return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
			})
			_ = co.Yield()
			return e.S.Shutdown(errStop)
		}, cotest.WithGrace(2*ms))
		assert.ErrorIs(t, err, errStop)
		assert.Equal(t, []string{"inner", "outer"}, e.Said())
	})
}

func TestScheduler_SHUT03_ZeroGraceMeansTheDefault(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.S.Shutdown(errStop))
			return co.Protect(func(context.Context) error { return co.Delay(20 * ms) })
		})
		var late *scheduler.ShutdownError
		assert.False(t, errors.As(err, &late), "%v", err)
	})
}
