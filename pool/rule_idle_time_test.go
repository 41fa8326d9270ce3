package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_MaxIdleTime_BeginsAnewWithEveryUse(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 1)
			a.cfg.MaxIdleTime = 10 * time.Second
			a.open(co)
			for range 5 {
				h := a.take(co, 1)
				pause(t, co, 20*time.Second)
				give(t, co, h...)
				pause(t, co, 9*time.Second)
			}
			assert.Empty(t, a.gone)
			pause(t, co, time.Second-time.Millisecond)
			assert.Empty(t, a.gone)
			pause(t, co, time.Hour)
			assert.Equal(t, []int{1}, a.gone)
			assert.Equal(t, 5*29*time.Second+time.Second, a.age(1))
			return nil
		})
	})
}

func TestPool_MaxIdleTime_KeepsMin(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 4)
			a.cfg.MaxIdleTime, a.cfg.Min = 10*time.Second, 2
			a.open(co)
			hs := a.take(co, 4)
			give(t, co, hs[3], hs[0], hs[2], hs[1])
			pause(t, co, time.Hour)
			assert.Equal(t, []int{4, 1}, a.gone, "those that were idle for longest")
			a.has(2, 2, 0)
			assert.Equal(t, []int{1, 2, 3, 4}, a.made, "none is made anew")

			h := a.take(co, 1)
			pause(t, co, time.Hour)
			assert.Len(t, a.gone, 2, "what is out is one of Min")
			a.has(2, 1, 1)
			more := a.take(co, 2)
			give(t, co, more...)
			a.has(3, 2, 1)
			pause(t, co, 10*time.Second+time.Millisecond)
			assert.Len(t, a.gone, 3)
			a.has(2, 1, 1)
			give(t, co, h...)
			return nil
		})
	})
}

func TestPool_MaxIdleTime_WhatIsBeingDestroyedIsNoneOfMin(t *testing.T) {
	inVirtualTime(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.MaxIdleTime, d.cfg.Min, d.cfg.Jitter = 10*time.Second, 2, pool.NoJitter
		d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(time.Minute) })
		d.open(co)
		d.stock(co, 4)
		for d.p.Stats().Destroyed == 0 {
			pause(t, co, 10*time.Second)
			require.GreaterOrEqual(t, d.p.Stats().Idle, 2, "Min stay")
		}
		pause(t, co, hour)
		assert.Equal(t, []int{1, 2}, d.gone)
		d.has(2, 2, 0)
	})
}

func TestPool_MaxIdleTime_ChecksAndReservationsAreNoUse(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.MaxIdleTime, d.cfg.Jitter = 10*time.Second, pool.NoJitter
		d.cfg.HealthInterval, d.cfg.HealthCheck = 3*time.Second, fine
		d.open(co)
		d.stock(co, 1)
		pause(t, co, 10*time.Second-ms)
		assert.Empty(t, d.gone)
		pause(t, co, ms)
		assert.Equal(t, []int{1}, d.gone)

		h := d.take(co, 1)[0]
		v := d.queued(co, 1)[0]
		give(t, co, h)
		require.NoError(t, v.co.Cancel(nil))
		d.has(1, 1, 0)
		pause(t, co, 10*time.Second)
		assert.Equal(t, []int{1, 2}, d.gone)
	})
}

func TestPool_MaxIdleTime_ExpiredDuringACheck(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.MaxIdleTime, d.cfg.MaxLifetime, d.cfg.Jitter = 10*time.Second, hour, pool.NoJitter
		d.cfg.HealthInterval = 8 * time.Second
		d.cfg.HealthCheck = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(4 * time.Second) }
		d.open(co)
		d.stock(co, 1)
		pause(t, co, 12*time.Second-ms)
		assert.Empty(t, d.gone)
		pause(t, co, 2*ms)
		assert.Equal(t, []int{1}, d.gone, "as soon as it is back")
	})
}
