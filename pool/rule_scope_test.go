package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_SCOPE_TheEndOfItsScopeClosesThePool(t *testing.T) {
	for name, end := range map[string]func(sc *scheduler.Scope) error{
		"cancelled":       func(sc *scheduler.Scope) error { return sc.Cancel(errReason) },
		"disposed":        func(sc *scheduler.Scope) error { return sc.Dispose(errReason) },
		"disposed safely": func(sc *scheduler.Scope) error { return sc.DisposeSafely(errReason) },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				sc, err := co.Scope().New()
				require.NoError(t, err)
				d.cfg.Scope = sc
				d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
				p := d.open(co)
				hs := d.take(co, 3)
				give(t, co, hs[0])
				awaiting := d.e.Spawn(co, func(co *scheduler.Coroutine) error { return p.AwaitClosed(co) })
				settle(co)
				require.NoError(t, end(sc))
				assert.True(t, p.Stats().Closed)
				settle(co)
				_, err = p.Acquire(co)
				assert.ErrorIs(t, err, event.ErrClosed)
				assert.ErrorIs(t, err, pool.ErrScopeDisposed)
				assert.False(t, event.IsCancellation(err), "who calls was not cancelled")
				until(t, co, func() bool { return len(d.gone) == 1 })
				assert.Equal(t, []int{1}, d.gone)
				give(t, co, hs[2], hs[1])
				assert.Equal(t, []int{1, 3, 2}, d.gone)
				_, err = co.Await(awaiting)
				require.NoError(t, err)
				d.has(0, 0, 0)
			})
		})
	}
}

func TestPool_SCOPE_TheEndOfItsScopeWakesWhoWaitsAndEndsFactories(t *testing.T) {
	for name, end := range map[string]func(sc *scheduler.Scope) error{
		"cancelled": func(sc *scheduler.Scope) error { return sc.Cancel(errReason) },
		"disposed":  func(sc *scheduler.Scope) error { return sc.Dispose(errReason) },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				sc, err := co.Scope().New()
				require.NoError(t, err)
				d.cfg.Scope = sc
				d.creates(func(co *scheduler.Coroutine, call int) error {
					if call == 1 {
						return nil
					}
					return co.Delay(3 * ms)
				})
				d.open(co)
				h := d.take(co, 1)[0]
				vs := d.queued(co, 3)
				require.NoError(t, end(sc))
				join(t, co, vs...)
				for _, v := range vs[1:] {
					assert.ErrorIs(t, v.err, event.ErrClosed)
					assert.ErrorIs(t, v.err, pool.ErrScopeDisposed)
				}
				if vs[0].err == nil { // its factory was under way (POOL-32)
					give(t, co, vs[0].h)
				}
				give(t, co, h)
				require.NoError(t, d.p.AwaitClosed(co))
				assert.ElementsMatch(t, d.made, d.gone)
				d.has(0, 0, 0)
			})
		})
	}
}

func TestPool_SCOPE25_DisposedSafelyItWorksUntilItsZombiesHaveEnded(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		sc, err := co.Scope().New()
		require.NoError(t, err)
		d.cfg.Scope = sc
		p := d.open(co)
		g := d.e.Gate()
		zombie := d.e.Spawn(sc, func(co *scheduler.Coroutine) error {
			if err := passes(co, g); err != nil {
				return err
			}
			return p.With(co, func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
		})
		settle(co)
		require.NoError(t, sc.DisposeSafely(nil))
		assert.False(t, p.Stats().Closed)
		g.Open(nil, nil)
		_, err = co.Await(zombie)
		require.NoError(t, err)
		settle(co)
		assert.True(t, p.Stats().Closed)
		require.NoError(t, p.AwaitClosed(co))
		assert.Equal(t, []int{1}, d.gone)
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

func TestPool_POOL33_WhatResourcesHaveStartedEndsWithThePool(t *testing.T) {
	for name, end := range map[string]func(p *pool.Pool[*part], co *scheduler.Coroutine) error{
		"close":   func(p *pool.Pool[*part], co *scheduler.Coroutine) error { return p.Close(co) },
		"dispose": func(p *pool.Pool[*part], _ *scheduler.Coroutine) error { p.AsEvent().Dispose(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				var reader *scheduler.Coroutine
				d.creates(func(co *scheduler.Coroutine, _ int) error {
					reader = d.e.Spawn(co, cotest.Sleeper(hour), scheduler.Hidden())
					return nil
				})
				p := d.open(co)
				d.stock(co, 1)
				require.NoError(t, end(p, co))
				settle(co)
				d.has(0, 0, 0)
				assert.True(t, reader.Completed())
			})
		})
	}
}

func TestPool_POOL37_WhatAResourceHasStartedKeepsNoRunAlive(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			d.e.Spawn(co, cotest.Sleeper(hour))
			return nil
		})
		d.open(co)
		d.stock(co, 1)
	})
}
