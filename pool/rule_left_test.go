package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_SHUT06_WhatWasNeverReleasedIsDestroyedAtTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 3)
			v := d.queued(co, 1)[0]
			require.NoError(t, v.err)
			d.take(co, 1)
			return nil
		})
		assert.ElementsMatch(t, []int{1, 2, 3}, d.gone, "each once")
		d.wasTold(pool.ErrNotReleased, pool.ErrNotReleased)
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

func TestPool_SHUT06_AHandleThatHasLeftItsScopeStaysGood(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		sc, err := co.Scope().New()
		require.NoError(t, err)
		d.cfg.Scope = sc
		d.open(co)
		v := d.visit(sc)
		join(t, co, v) // nothing runs in the scope now, which is open
		settle(co)
		require.NoError(t, v.err)
		assert.Empty(t, d.gone, "it is in use here")
		d.has(1, 0, 1)
		give(t, co, v.h)
		d.has(1, 1, 0)
		w := d.visit(sc)
		join(t, co, w)
		require.NoError(t, sc.Dispose(errReason))
		settle(co)
		assert.Empty(t, d.gone, "it is in use here")
		give(t, co, w.h)
		assert.Equal(t, []int{1}, d.gone)
		assert.Empty(t, d.told)
	})
}

func TestPool_HookError_NamesThePoolAndTheHook(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name = "cars"
		d.cfg.BeforeAcquire = func(*scheduler.Coroutine, *part) (bool, error) { return true, errCheck }
		d.open(co)
		d.stock(co, 1)
		h := d.take(co, 1)[0]
		assert.Equal(t, 2, h.Value().id)
		require.Len(t, d.told, 1)
		var hook *pool.HookError
		require.ErrorAs(t, d.told[0], &hook)
		assert.Equal(t, []string{"cars", "BeforeAcquire"}, []string{hook.Pool, hook.Hook})
		assert.ErrorIs(t, hook, errCheck)
		give(t, co, h)
	})
}
