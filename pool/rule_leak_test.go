package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// leaves is a holder that ends without a Release.
func leaves(d *depot, h *handle) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) (err error) {
		*h, err = d.p.Acquire(co)
		return err
	}
}

func TestPool_GEN06_WhatWasNeverReleasedIsTakenBackAtTheEndOfTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.cfg.Name = "desks"
		var told []error
		d.cfg.OnError = func(err error) { told = append(told, err) }
		d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(2 * ms) })
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 2)
			var h handle
			_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
			require.NoError(t, err)
			return nil
		})
		assert.ElementsMatch(t, []int{1, 2}, d.gone)
		if assert.Len(t, told, 1) {
			var failure *pool.HookError
			require.ErrorAs(t, told[0], &failure)
			assert.Equal(t, "desks", failure.Pool)
			assert.ErrorIs(t, told[0], pool.ErrNotReleased)
			assert.Contains(t, told[0].Error(), "careless")
		}
	})
}

func TestPool_GEN06_WithoutOnErrorTheRunFailsForWhatWasNeverReleased(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.cfg.Name, d.cfg.OnError = "desks", nil
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			var h handle
			for range 2 {
				_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
				require.NoError(t, err)
			}
			return nil
		})
		require.ErrorIs(t, err, pool.ErrNotReleased)
		assert.Contains(t, err.Error(), "pool desks: Release: ")
		assert.Contains(t, err.Error(), "by careless, started ")
		assert.Contains(t, err.Error(), "rule_leak_test.go:")
		assert.ElementsMatch(t, []int{1, 2}, d.gone)
	})
}

func TestPool_GEN06_TheEndOfTheScopeIsNotThatOfTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		err := e.Run(func(co *scheduler.Coroutine) error {
			in, err := co.Scope().New()
			require.NoError(t, err)
			d.cfg.Scope = in
			d.open(co)
			var h handle
			_, err = co.Await(e.Spawn(in, leaves(d, &h)))
			require.NoError(t, err)
			require.NoError(t, in.Dispose(errStop))
			settle(co)
			assert.Empty(t, d.gone, "somebody may have the handle")
			return nil
		})
		assert.NoError(t, err)
		assert.Equal(t, []int{1}, d.gone)
		d.wasTold(pool.ErrNotReleased)
	})
}

func TestPool_DEAD10_TheReportNamesWhoHasEndedWithoutARelease(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		err := e.Run(func(co *scheduler.Coroutine) error {
			p := d.open(co)
			var h handle
			_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
			require.NoError(t, err)
			_, err = p.Acquire(co)
			return err
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "in use by careless (which has ended without a Release)")
	})
}
