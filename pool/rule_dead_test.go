package pool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// DEAD-03, DEAD-10: nobody is left who could release.
func TestPool_DEAD03_NothingCanComeBack(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		d.cfg.Name = "printers"
		err := e.Run(func(co *scheduler.Coroutine) error {
			p := d.open(co)
			h := d.take(co, 1)[0]
			_, err := p.Acquire(co)
			var dead *scheduler.DeadlockError
			require.ErrorAs(t, err, &dead)
			assert.True(t, event.IsCancellation(err))
			d.line(0, 0, 0)
			give(t, co, h)
			assert.Zero(t, p.Stats().Active)
			return nil
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 1, dead.Waiting)
		assert.Contains(t, dead.Report, "pool printers 1/1: acquire, in use by main", "who has what is waited for")
		assert.Equal(t, []int{1}, d.gone)
	})
}

func TestPool_DEAD03_WhoWaitsForWhatNobodyReleasesIsFound(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		d.cfg.HealthInterval, d.cfg.HealthCheck = hour, fine
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.take(co, 1)
			_, err := d.p.Acquire(co)
			assert.ErrorIs(t, err, context.Canceled)
			return nil
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Contains(t, dead.Report, "pool")
	})
}

// DEAD-10: those who have what the others wait for are named, a few of many, and those who have forgotten it above all.
func TestPool_DEAD10_TheReportNamesTheHolders(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, forgetful := range []int{1, 20} {
			d := newDepot(e, forgetful)
			err := e.Run(func(co *scheduler.Coroutine) error {
				d.open(co)
				for range forgetful {
					_, err := co.Await(e.Spawn(co, func(co *scheduler.Coroutine) error { d.take(co, 1); return nil }, scheduler.Named("forgetful")))
					require.NoError(t, err)
				}
				_, err := d.p.Acquire(co)
				assert.Error(t, err)
				return nil
			})
			var dead *scheduler.DeadlockError
			require.ErrorAs(t, err, &dead)
			assert.Contains(t, dead.Report, "in use by forgetful (which has ended without a Release)")
			assert.Less(t, strings.Count(dead.Report, "forgetful"), 10, "no more than anybody reads")
		}
	})
}

// DEAD-01: of several, each is told, and the pool is not used up by it.
func TestPool_DEAD01_AllInTheLine(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		ended := 0
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			for range 5 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					return d.p.With(co, func(co *scheduler.Coroutine, _ *part) error {
						return d.p.With(co, func(*scheduler.Coroutine, *part) error { ended++; return nil })
					})
				})
			}
			return nil
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 5, dead.Waiting)
		assert.Zero(t, ended)
		assert.ElementsMatch(t, []int{1, 2}, d.gone, "all came back")
	})
}

// waitings are states of a pool, of one at most, in which a waiter is about to be woken.
var waitings = map[string]func(d *depot, co *scheduler.Coroutine) (release func(co *scheduler.Coroutine) error){
	"while one is made": func(d *depot, _ *scheduler.Coroutine) func(*scheduler.Coroutine) error {
		d.creates(func(co *scheduler.Coroutine, _ int) error { return co.Delay(5 * ms) })
		return nil
	},
	"while one is destroyed": func(d *depot, _ *scheduler.Coroutine) func(*scheduler.Coroutine) error {
		d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(5 * ms) })
		return func(co *scheduler.Coroutine) error { return d.take(co, 1)[0].Destroy(co) }
	},
	"while BeforeRelease looks": func(d *depot, _ *scheduler.Coroutine) func(*scheduler.Coroutine) error {
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(5 * ms) }
		return func(co *scheduler.Coroutine) error { return d.take(co, 1)[0].Release(co) }
	},
	"while BeforeAcquire looks": func(d *depot, co *scheduler.Coroutine) func(*scheduler.Coroutine) error {
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(5 * ms) }
		return func(co *scheduler.Coroutine) error { return d.take(co, 1)[0].Release(co) }
	},
	"while it is held": func(d *depot, _ *scheduler.Coroutine) func(*scheduler.Coroutine) error {
		return func(co *scheduler.Coroutine) error {
			return d.p.With(co, func(co *scheduler.Coroutine, _ *part) error { return co.Delay(5 * ms) })
		}
	},
	"while it is reserved": func(d *depot, _ *scheduler.Coroutine) func(*scheduler.Coroutine) error {
		return func(co *scheduler.Coroutine) error {
			h := d.take(co, 1)[0]
			settle(co)
			return h.Release(co)
		}
	},
}

func TestPool_DEAD09_NotWhileAWaiterIsAboutToBeWoken(t *testing.T) {
	for name, prepare := range waitings {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				holds := prepare(d, co)
				d.open(co)
				if holds != nil {
					d.e.Spawn(co, holds)
					settle(co)
				}
				v := d.visit(co)
				join(t, co, v)
				require.NoError(t, v.err)
				give(t, co, v.h)
			})
		})
	}
}

// The holder runs on, and is the only one who could be waited for.
func TestPool_DEAD09_WhileAHolderWaitsForTheLoop(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			return d.p.With(co, func(co *scheduler.Coroutine, _ *part) error { return co.Delay(3 * ms) })
		})
		settle(co)
		vs := d.queued(co, 1)
		join(t, co, vs...)
		got(t, vs, 1)
		give(t, co, vs[0].h)
	})
}

func TestPool_DEAD09_WhoIsServedByAHiddenFactoryIsNoDeadlock(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(co *scheduler.Coroutine, _ int) error { return co.Delay(5 * ms) })
		d.open(co)
		hs := d.take(co, 1)
		v := d.queued(co, 1)[0]
		give(t, co, hs...)
		join(t, co, v)
		require.NoError(t, v.err)
		give(t, co, v.h)
	})
}

// GEN-09: a creation that nobody waits for any more keeps no run alive, and does not hang it.
func TestPool_GEN09_WhatNobodyWaitsForKeepsNothingAlive(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(co *scheduler.Coroutine, _ int) error { return co.Delay(hour) })
		d.open(co)
		_, err := d.p.Acquire(co, scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		d.e.T.Cleanup(func() {
			assert.Less(t, d.e.W.Elapsed(), hour)
			assert.Empty(t, d.made)
		})
	})
}

func TestPool_EVT16_InfoSaysWhatItHolds(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name = "db"
		p := d.open(co)
		assert.Equal(t, "pool db 0/3, idle 0, active 0, reserved 0, waiting 0, breaker closed", p.Info())
		hs := d.take(co, 3)
		vs := d.queued(co, 2)
		assert.Equal(t, "pool db 3/3, idle 0, active 3, reserved 0, waiting 2, breaker closed, in use by main, main, main", p.Info())
		give(t, co, hs[0])
		assert.Equal(t, "pool db 3/3, idle 1, active 2, reserved 1, waiting 1, breaker closed, in use by main, main", p.Info())
		assert.Equal(t, "db", p.Name())
		assert.Contains(t, vs[1].co.WaitsFor(), "pool db")
		give(t, co, hs[1:]...)
		join(t, co, vs...)
		give(t, co, vs[0].h, vs[1].h)
		assert.Equal(t, "pool db 3/3, idle 3, active 0, reserved 0, waiting 0, breaker closed", p.Info())
		require.NoError(t, p.Deactivate())
		assert.Contains(t, p.Info(), "breaker open")
		require.NoError(t, p.Close(co))
		assert.Contains(t, p.Info(), ", closed")
		assert.Contains(t, p.AsEvent().Info(), "db")
	})
}

func TestPool_EVT16_WithoutAName(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.stocked(co)
		assert.Equal(t, "pool 1/2, idle 1, active 0, reserved 0, waiting 0, breaker closed", d.p.Info())
		assert.Equal(t, pool.Active, d.p.State())
	})
}
