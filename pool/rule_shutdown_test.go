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

// SHUT-01: a failure ends the run while some hold, some wait, and one is being made.
func TestPool_SHUT01_AFailureOfTheRun(t *testing.T) {
	for name, body := range map[string]func(co *scheduler.Coroutine) error{
		"an error": func(*scheduler.Coroutine) error { return errBoom },
		"a panic":  func(*scheduler.Coroutine) error { panic(errBoom) },
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				d := newDepot(e, 3)
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Yield() }
				d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
				released := 0
				err := e.Run(func(co *scheduler.Coroutine) error {
					d.open(co)
					for range 6 {
						e.Spawn(co, func(co *scheduler.Coroutine) error {
							h, err := d.p.Acquire(co)
							if err != nil {
								assert.Error(t, co.Err())
								return err
							}
							defer func() {
								if err := h.Release(co); err != nil {
									cotest.IsCancelled(t, err, nil)
								}
								released++
							}()
							return co.Delay(hour)
						})
					}
					settle(co)
					return body(co)
				})
				assert.ErrorIs(t, err, errBoom)
				assert.Equal(t, 3, released)
				assert.ElementsMatch(t, d.made, d.gone)
			})
		})
	}
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
