package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// checked is a depot whose idle resources are checked after 10 ms, and every 10 ms.
func checked(e *cotest.Env, limit int) *depot {
	d := newDepot(e, limit)
	d.cfg.HealthInterval = 10 * time.Millisecond
	d.cfg.HealthCheck = fine
	return d
}

func TestPool_POOL34_HealthCheckDestroysTheDeadAndRefillsUpToMin(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 5)
			d.cfg.Min = 2
			d.cfg.HealthCheck = func(_ *scheduler.Coroutine, v *part) (bool, error) {
				switch v.id {
				case 1:
					return false, nil
				case 2:
					return true, errCheck
				case 3:
					panic("checked")
				}
				return true, nil
			}
			p := d.open(co)
			d.stock(co, 4)
			until(t, co, func() bool { return len(d.made) == 5 })
			assert.Equal(t, []int{1, 2, 3}, d.gone, "oldest first")
			d.has(2, 2, 0)
			assert.Equal(t, []int{1, 2, 3, 4, 5}, d.made, "one, which makes Min")
			require.Len(t, d.told, 2, "swallowed, not lost")
			assert.ErrorIs(t, d.told[0], errCheck)
			hs := d.take(co, 2)
			assert.Equal(t, []int{4, 5}, ids(hs...))
			give(t, co, hs...)
			return p.Close(co)
		})
	})
}

func TestPool_POOL34_OnlyIdleResourcesAreChecked(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 4)
			var seen []int
			d.cfg.HealthCheck = func(_ *scheduler.Coroutine, v *part) (bool, error) {
				seen = append(seen, v.id)
				return true, nil
			}
			d.open(co)
			hs := d.take(co, 4)
			give(t, co, hs[3], hs[1])
			pause(t, co, 11*time.Millisecond)
			assert.Equal(t, []int{4, 2}, seen)
			assert.Empty(t, d.gone)
			assert.Equal(t, []int{4, 2}, ids(d.take(co, 2)...), "the order is as before")
			pause(t, co, 10*time.Millisecond)
			assert.Equal(t, []int{4, 2}, seen)
			return nil
		})
	})
}

func TestPool_REACT02_TheHealthTimerIsPeriodicAndHidden(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			live := e.W.Live()
			d := checked(e, 1)
			begin := co.Now()
			var at []time.Duration
			d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
				at = append(at, co.Now().Sub(begin))
				assert.Equal(t, live+1, e.W.Live(), "the delay of the test is all that counts")
				return true, nil
			}
			p := d.open(co)
			assert.Equal(t, live, e.W.Live())
			d.stock(co, 1)
			pause(t, co, 45*time.Millisecond)
			tens := []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond}
			assert.Equal(t, tens, at)
			assert.Equal(t, live, e.W.Live())
			require.NoError(t, p.Close(co))
			assert.Equal(t, live, e.W.Live())
			pause(t, co, time.Second)
			assert.Equal(t, tens, at, "none after Close (POOL-27)")
			return nil
		})
	})
}

func TestPool_POOL34_ChecksRunOneAtATimeAndAreCountedAsActive(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 3)
			running, most, checks := 0, 0, 0
			d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
				running, checks = running+1, checks+1
				most = max(most, running)
				d.has(3, 2, 1)
				assert.NoError(t, co.Delay(25*time.Millisecond))
				if checks < 30 {
					d.has(3, 2, 1)
				}
				running--
				return true, nil
			}
			p := d.open(co)
			d.stock(co, 3)
			until(t, co, func() bool { return checks >= 30 && running == 0 })
			assert.Equal(t, 1, most, "a slow pass is not overtaken by the next")
			require.NoError(t, p.Close(co))
			return p.AwaitClosed(co)
		})
	})
}

func TestPool_POOL34_WhatIsBeingCheckedIsNotGiven(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 2)
			d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
				return true, co.Delay(5 * time.Millisecond)
			}
			p := d.open(co)
			d.stock(co, 2)
			pause(t, co, 12*time.Millisecond)
			h, ok, err := p.TryAcquire(co)
			require.NoError(t, err)
			require.True(t, ok)
			assert.Equal(t, []int{2}, ids(h))
			_, ok, err = p.TryAcquire(co)
			require.NoError(t, err)
			assert.False(t, ok, "the other one is being looked at, and counts")
			assert.Len(t, d.made, 2)
			return nil
		})
	})
}

func TestPool_POOL34_APassReachesWhatWasBorrowedMeanwhile(t *testing.T) {
	inVirtualTime(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		seen := map[int]int{}
		d.cfg.HealthInterval = 10 * ms
		d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
			seen[v.id]++
			return true, co.Delay(ms)
		}
		d.open(co)
		d.stock(co, 3)
		require.NoError(t, co.Delay(11*ms+ms/2)) // the second is being checked
		require.Equal(t, map[int]int{1: 1, 2: 1}, seen)
		hs := d.take(co, 2)
		assert.Equal(t, []int{3, 1}, ids(hs...))
		give(t, co, hs[1], hs[0])
		require.NoError(t, co.Delay(5*ms))
		assert.Equal(t, map[int]int{1: 1, 2: 1, 3: 1}, seen, "each that is idle, once")
	})
}

func TestPool_POOL34_ARefillThatFailsIsToldAndTriedAgain(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 2)
			d.cfg.Min = 1
			failing := false
			d.cfg.Create = func(*scheduler.Coroutine) (*part, error) {
				if failing {
					return nil, errMake
				}
				return d.make(), nil
			}
			d.open(co)
			d.ruin(1)
			failing = true
			pause(t, co, 11*time.Millisecond)
			d.has(0, 0, 0)
			d.wasTold(errMake)
			pause(t, co, 10*time.Millisecond)
			d.wasTold(errMake, errMake)
			failing = false
			pause(t, co, 10*time.Millisecond)
			d.has(1, 1, 0)
			assert.Equal(t, []int{1, 2}, d.made)
			return nil
		})
	})
}

func TestPool_POOL34_ADestructorThatFailsInTheBackgroundIsTold(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		for _, handler := range []bool{true, false} {
			d := checked(e, 2)
			d.cfg.HealthCheck = func(*scheduler.Coroutine, *part) (bool, error) { return false, nil }
			d.cfg.Destroy = func(_ *scheduler.Coroutine, v *part) error { return map[int]error{1: errRuin, 2: errOutcome}[v.id] }
			if !handler {
				d.cfg.OnError = nil
			}
			err := e.Run(func(co *scheduler.Coroutine) error {
				d.open(co)
				d.stock(co, 2)
				return co.Delay(15 * time.Millisecond)
			})
			if handler {
				require.NoError(t, err)
				assert.ErrorIs(t, event.Join(d.told...), errRuin)
				assert.ErrorIs(t, event.Join(d.told...), errOutcome)
			} else {
				assert.ErrorIs(t, err, errRuin, "as the failure of a coroutine that nobody awaits (GEN-08)")
				assert.ErrorIs(t, err, errOutcome)
			}
		}
	})
}
