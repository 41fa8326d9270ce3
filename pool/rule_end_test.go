package pool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_SHUT05_IdleResourcesAreDestroyedBeforeRunReturns(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.cfg.HealthInterval, d.cfg.HealthCheck = hour, fine
		d.cfg.MaxLifetime, d.cfg.MaxIdleTime = hour, hour
		gone := d.cfg.Destroy
		d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
			if err := co.Delay(2 * ms); err != nil { // it can wait, and is waited for
				return err
			}
			return gone(co, v)
		}
		begin := e.W.Now()
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 3)
			return nil
		})
		assert.Equal(t, []int{1, 2, 3}, d.gone, "in idle order")
		assert.Less(t, e.W.Now().Sub(begin), time.Minute)
	})
}

func TestPool_SHUT05_FailuresOfTheLastDestructorsAreNotLost(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, handler := range []bool{true, false} {
			d := newDepot(e, 2)
			d.destroys(func(_ *scheduler.Coroutine, v *part) error { return map[int]error{1: errRuin}[v.id] })
			if !handler {
				d.cfg.OnError = nil
			}
			err := e.Run(func(co *scheduler.Coroutine) error {
				d.open(co)
				d.stock(co, 2)
				return nil
			})
			assert.Equal(t, []int{1, 2}, d.gone)
			if handler {
				assert.NoError(t, err)
				assert.ErrorIs(t, event.Join(d.told...), errRuin)
			} else {
				assert.ErrorIs(t, err, errRuin)
			}
		}
	})
}

func TestPool_SHUT01_AtAShutdownHoldersReleaseInTheirDefers(t *testing.T) {
	for name, shut := range map[string]func(e *cotest.Env) error{
		"shutdown": func(e *cotest.Env) error { return e.S.Shutdown(errReason) },
		"failure":  func(e *cotest.Env) error { e.S.Fail(errReason); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				d := newDepot(e, 3)
				d.cfg.BeforeRelease = suspends
				d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
				released := 0
				err := e.Run(func(co *scheduler.Coroutine) error {
					d.open(co)
					d.stock(co, 3)
					for range 2 {
						e.Spawn(co, func(co *scheduler.Coroutine) error {
							h := d.take(co, 1)[0]
							defer func() {
								assert.NoError(t, h.Release(co))
								released++
							}()
							return co.Delay(hour)
						})
					}
					settle(co)
					d.has(3, 1, 2)
					require.NoError(t, shut(e))
					return nil
				})
				assert.ErrorIs(t, err, errReason)
				assert.Equal(t, 2, released)
				assert.ElementsMatch(t, []int{1, 2, 3}, d.gone)
				assert.Empty(t, d.told)
			})
		})
	}
}

func TestPool_SHUT01_AtAShutdownWaitersLeaveAndFactoriesEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		d.creates(func(co *scheduler.Coroutine, _ int) error { return co.Delay(hour) })
		var vs []*visit
		begin := e.W.Now()
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			vs = d.queued(co, 3)
			return e.S.Shutdown(errReason)
		})
		assert.ErrorIs(t, err, errReason)
		for _, v := range vs {
			assert.True(t, v.over)
			assert.Error(t, v.err)
		}
		assert.Less(t, e.W.Now().Sub(begin), time.Minute, "the factory is cancelled by the pool (POOL-41)")
		assert.Empty(t, d.made)
	})
}

func TestPool_CANC18_ADestructorIsProtectedUntilTheGraceEnds(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		for _, c := range []struct {
			takes    time.Duration
			finishes bool
		}{{900 * ms, true}, {hour, false}} {
			d := newDepot(e, 1)
			finished, unwound := false, false
			d.cfg.Destroy = func(co *scheduler.Coroutine, _ *part) error {
				defer func() { unwound = true }()
				err := co.Delay(c.takes)
				finished = err == nil
				return err
			}
			begin := e.W.Now()
			err := e.Run(func(co *scheduler.Coroutine) error {
				d.open(co)
				d.stock(co, 1)
				return e.S.Shutdown(errReason)
			}, cotest.WithGrace(time.Second))
			assert.ErrorIs(t, err, errReason)
			assert.True(t, unwound)
			assert.Equal(t, c.finishes, finished)
			assert.LessOrEqual(t, e.W.Now().Sub(begin), 2*time.Second)
			var late *scheduler.ShutdownError
			assert.Equal(t, !c.finishes, errors.As(err, &late), "who did not end in time is named: %v", err)
		}
	})
}

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

func TestPool_GEN09_AFactoryThatNobodyWaitsForKeepsNoRunAlive(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		var ends []error
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			err := co.Delay(hour)
			ends = append(ends, err)
			return err
		})
		begin := e.W.Now()
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.tries(co)
			v := d.queued(co, 1)[0]
			require.NoError(t, v.co.Cancel(nil))
			settle(co)
			assert.Equal(t, 1, d.p.Stats().Constructing, "who waits takes what is being made over")
			return nil
		})
		assert.Less(t, e.W.Now().Sub(begin), time.Minute)
		require.Len(t, ends, 1)
		for _, err := range ends {
			assert.ErrorIs(t, err, context.Canceled)
		}
		assert.Empty(t, d.made)
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
