package pool_test

import (
	"fmt"
	"testing"
	"time"

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
			d.stock(co, 3)
			var h handle
			_, err := co.Await(e.Spawn(co, leaves(d, &h), scheduler.Named("careless")))
			require.NoError(t, err)
			d.take(co, 1)
			return nil
		})
		assert.ElementsMatch(t, []int{1, 2, 3}, d.gone, "each once")
		require.Len(t, told, 2)
		for i, who := range []string{"careless", "main"} {
			var failure *pool.HookError
			require.ErrorAs(t, told[i], &failure)
			assert.Equal(t, "desks", failure.Pool)
			assert.ErrorIs(t, told[i], pool.ErrNotReleased)
			assert.Contains(t, told[i].Error(), "by "+who)
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

func TestPool_SHUT06_WhoeverWasHandedAResourceReleasesIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			h := d.take(co, 1)[0]
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				require.NoError(t, co.Delay(5*ms)) // longer than who acquired it
				assert.Empty(t, d.gone)
				return h.Release(co)
			})
			return nil
		})
		assert.Equal(t, []int{1}, d.gone)
		assert.Empty(t, d.told)
	})
}

func TestPool_GEN06_WhatACallbackHasAcquiredIsTakenBack(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 1)
			e.After(time.Millisecond, func() { _, _ = d.p.AcquireAllIdle() })
			return co.Delay(time.Second)
		})
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

func TestPool_GEN06_WhatIsLeftOfAPoolThatEndedBefore(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		err := e.Run(func(co *scheduler.Coroutine) error {
			sc, _ := co.Scope().New()
			d.cfg.Scope = sc
			d.open(co)
			d.take(co, 1)
			return sc.Dispose(nil)
		})
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

// A handle that nobody released, an idle resource whose Destroy takes time, and a shutdown (Ctrl-C).
func TestPool_GEN06_WhatIsLeftWhileAnotherIsBeingDestroyed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.destroys(func(co *scheduler.Coroutine, v *part) error { return co.Delay(ms) })
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 2)
			d.take(co, 1)
			return e.S.Shutdown(nil)
		}, cotest.WithGrace(time.Second))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.ElementsMatch(t, d.made, d.gone)
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
