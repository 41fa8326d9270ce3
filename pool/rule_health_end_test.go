package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL35_ClosedDuringACheck(t *testing.T) {
	for _, healthy := range []bool{true, false} {
		t.Run(fmt.Sprint("healthy ", healthy), func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					d := checked(e, 3)
					g, checks := e.Gate(), 0
					d.cfg.Min = 1
					d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
						checks++
						return healthy, passes(co, g)
					}
					p := d.open(co)
					d.stock(co, 3)
					until(t, co, func() bool { return checks == 1 })
					require.NoError(t, p.Close(co))
					assert.Equal(t, []int{2, 3}, d.gone)
					d.has(1, 0, 1)
					g.Open(nil, nil)
					require.NoError(t, p.AwaitClosed(co))
					assert.Equal(t, []int{2, 3, 1}, d.gone, "not put back")
					assert.Equal(t, 1, checks)
					assert.Len(t, d.made, 3, "no refill")
					d.has(0, 0, 0)
					return nil
				})
			})
		})
	}
}

func TestPool_POOL36_WhatAPassFreesGoesToWhoWaits(t *testing.T) {
	for name, c := range map[string]struct {
		answer func() (bool, error)
		ruin   error
		want   int
	}{
		"healthy":                 {answer: func() (bool, error) { return true, nil }, want: 1},
		"dead":                    {answer: func() (bool, error) { return false, nil }, want: 2},
		"error":                   {answer: func() (bool, error) { return true, errCheck }, want: 2},
		"panic":                   {answer: func() (bool, error) { panic(errCheck) }, want: 2},
		"dead, destructor failed": {answer: func() (bool, error) { return false, nil }, ruin: errRuin, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					d := checked(e, 1)
					checks := 0
					d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
						checks++
						assert.NoError(t, co.Delay(5*time.Millisecond))
						return c.answer()
					}
					d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
						return event.Join(c.ruin, co.Delay(time.Millisecond))
					}
					d.open(co)
					d.stock(co, 1)
					until(t, co, func() bool { return checks == 1 })
					h, err := d.p.Acquire(co)
					require.NoError(t, err)
					assert.Equal(t, []int{c.want}, ids(h))
					d.has(1, 0, 1)
					return nil
				})
			})
		})
	}
}

func TestPool_POOL37_AnIdlePoolKeepsNothingAlive(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		d := checked(e, 3)
		d.cfg.HealthInterval, d.cfg.MaxLifetime, d.cfg.MaxIdleTime, d.cfg.Min = time.Hour, 2*time.Hour, time.Hour, 2
		begin := e.W.Now()
		e.MustRun(func(co *scheduler.Coroutine) error { d.open(co); d.stock(co, 3); return nil })
		assert.Less(t, e.W.Now().Sub(begin), time.Second)
		assert.Equal(t, []int{1, 2, 3}, d.gone)

		d = checked(e, 1)
		d.cfg.HealthInterval = time.Hour
		begin = e.W.Now()
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			_, err := co.Await(e.Gate())
			return err
		})
		var dead *scheduler.DeadlockError
		assert.ErrorAs(t, err, &dead, "nor does it hide a deadlock (DEAD-04)")
		assert.Less(t, e.W.Now().Sub(begin), time.Second)
	})
}

func TestPool_POOL37_ACheckUnderWayAtTheEndOfTheRunIsFinished(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		d := checked(e, 2)
		finished := 0
		d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
			assert.NoError(t, co.Delay(20*time.Millisecond), "protected (POOL-41)")
			finished++
			return true, nil
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 2)
			return co.Delay(15 * time.Millisecond)
		})
		assert.Equal(t, 1, finished)
		assert.ElementsMatch(t, []int{1, 2}, d.gone)
	})
}

func TestPool_POOL37_WithoutACheckOrAnIntervalNothingIsChecked(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 2)
			d.cfg.HealthInterval = 0
			d.open(co)
			d.stock(co, 2)
			d.ruin(1, 2)
			total := e.S.Stats().Total
			pause(t, co, time.Hour)
			assert.Empty(t, d.gone)
			assert.Equal(t, total, e.S.Stats().Total)

			d = checked(e, 2)
			d.cfg.HealthCheck = nil
			d.open(co)
			d.stock(co, 2)
			turns := e.S.Stats().Turns
			pause(t, co, time.Minute)
			assert.Empty(t, d.gone)
			assert.Less(t, e.S.Stats().Turns-turns, uint64(100), "no timer fires")
			return nil
		})
	})
}
