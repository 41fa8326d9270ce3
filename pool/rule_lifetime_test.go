package pool_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_MaxLifetime_EndsAnIdleResourceAtItsLimit(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 3)
			a.cfg.MaxLifetime = 10 * time.Second
			a.open(co)
			h1 := a.take(co, 1)
			pause(t, co, time.Second)
			h2 := a.take(co, 1)
			give(t, co, h1[0], h2[0])
			pause(t, co, 9*time.Second-time.Millisecond)
			assert.Empty(t, a.gone)
			pause(t, co, time.Hour)
			assert.Equal(t, []int{1, 2}, a.gone)
			assert.Equal(t, 10*time.Second, a.age(1))
			assert.Equal(t, 10*time.Second, a.age(2))
			a.has(0, 0, 0)
			return nil
		})
	})
}

func TestPool_MaxLifetime_OfWhatIsOutEndsWhenItComesBack(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 1)
			a.cfg.MaxLifetime = 10 * time.Second
			p := a.open(co)
			h := a.take(co, 1)[0]
			v := a.queued(co, 1)[0]
			pause(t, co, 12*time.Second)
			assert.Empty(t, a.gone, "nobody takes it away from its holder")
			require.NoError(t, h.Release(co))
			settle(co)
			assert.Equal(t, []int{1}, a.gone)
			require.NoError(t, v.err)
			assert.Equal(t, []int{2}, ids(v.h), "whoever waits gets a new one (GEN-05)")
			pause(t, co, 5*time.Second)
			give(t, co, v.h)
			assert.Equal(t, []int{1}, a.gone, "its own age counts")
			assert.Equal(t, []int{2}, ids(a.take(co, 1)...))
			assert.Zero(t, p.Stats().CreateFailures)
			return nil
		})
	})
}

func TestPool_MaxLifetime_UseDoesNotProlongIt(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 1)
			a.cfg.MaxLifetime = 10 * time.Second
			a.open(co)
			for len(a.gone) == 0 {
				h := a.take(co, 1)
				pause(t, co, 700*time.Millisecond)
				give(t, co, h...)
				pause(t, co, 700*time.Millisecond)
			}
			assert.Equal(t, 10*time.Second, a.age(1).Truncate(time.Second), "at the limit, or when it comes back next")
			assert.Less(t, a.age(1), 10700*time.Millisecond)
			return nil
		})
	})
}

func TestPool_MaxLifetime_RefillsUpToMin(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 3)
			a.cfg.MaxLifetime, a.cfg.Min = 10*time.Second, 2
			a.open(co)
			a.stock(co, 3)
			pause(t, co, 10*time.Second+time.Millisecond)
			assert.Equal(t, []int{1, 2, 3}, a.gone)
			a.has(2, 2, 0)
			assert.Equal(t, []int{1, 2, 3, 4, 5}, a.made)
			pause(t, co, 10*time.Second)
			assert.Equal(t, []int{1, 2, 3, 4, 5}, a.gone, "and so on")
			a.has(2, 2, 0)
			return nil
		})
	})
}

// Nothing is called for what is too old, so that no coroutine comes by afterwards.
func TestPool_MaxLifetime_RefillsUpToMinWithoutDestroy(t *testing.T) {
	for name, grow := range map[string]func(t *testing.T, a *aging, co *scheduler.Coroutine){
		"idle": func(t *testing.T, a *aging, co *scheduler.Coroutine) {
			a.stock(co, 2)
			pause(t, co, 10*time.Second+ms)
		},
		"out": func(t *testing.T, a *aging, co *scheduler.Coroutine) {
			hs := a.take(co, 2)
			pause(t, co, 12*time.Second)
			a.has(2, 0, 2)
			give(t, co, hs...)
			settle(co)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					a := newAging(e, 3)
					a.cfg.MaxLifetime, a.cfg.Min, a.cfg.Destroy = 10*time.Second, 2, nil
					a.open(co)
					grow(t, a, co)
					a.has(2, 2, 0)
					assert.Equal(t, []int{1, 2, 3, 4}, a.made)
					assert.Equal(t, []int{3, 4}, ids(a.take(co, 2)...))
					return nil
				})
			})
		})
	}
	t.Run("found by Acquire", func(t *testing.T) {
		cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				a := newAging(e, 3)
				a.cfg.MaxLifetime, a.cfg.Min, a.cfg.Destroy = 100*ms, 2, nil
				a.open(co)
				for until := co.Now().Add(101 * ms); !co.Now().After(until); { // the loop is not turned
				}
				h := a.take(co, 1)[0]
				assert.Greater(t, h.Value().id, 2)
				assert.Equal(t, 2, a.p.Stats().Total, "at once, and not when the clock of the pool comes by")
				return h.Release(co)
			})
		})
	})
}

func TestPool_MaxLifetime_IsHidden(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		a := newAging(e, 2)
		a.cfg.MaxLifetime, a.cfg.MaxIdleTime, a.cfg.Min = time.Hour, time.Hour, 1
		begin := e.W.Now()
		e.MustRun(func(co *scheduler.Coroutine) error {
			live := e.W.Live()
			a.open(co)
			a.stock(co, 2)
			assert.Equal(t, live, e.W.Live())
			active := e.S.Stats().Active
			assert.Equal(t, 1, active, "the coroutines of the pool are not counted")
			return nil
		})
		assert.Less(t, e.W.Now().Sub(begin), time.Minute)
		assert.Equal(t, []int{1, 2}, a.gone)
	})
}

func TestPool_MaxLifetime_WhatIsTooOldIsNotGiven(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 2)
			a.cfg.MaxLifetime = 10 * time.Second
			destroy := a.cfg.Destroy
			a.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
				_ = destroy(co, v)
				return co.Delay(time.Second)
			}
			p := a.open(co)
			a.stock(co, 2)
			pause(t, co, 10*time.Second+time.Millisecond)
			_, ok, err := p.TryAcquire(co)
			require.NoError(t, err)
			assert.False(t, ok, "both are too old, and count until they are destroyed")
			h, err := p.Acquire(co)
			require.NoError(t, err)
			assert.Equal(t, []int{3}, ids(h))
			return nil
		})
	})
}

// The loop has not been turned since the limits were over, so that nobody but Acquire can notice.
func TestPool_MaxLifetime_WhatIsTooOldIsNotGivenThoughNobodyHasNoticed(t *testing.T) {
	for _, idle := range []bool{false, true} {
		cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				a := newAging(e, 2)
				if idle {
					a.cfg.MaxIdleTime = ms
				} else {
					a.cfg.MaxLifetime = ms
				}
				p := a.open(co)
				h, err := p.Acquire(co)
				require.NoError(t, err)
				old := ids(h)
				require.NoError(t, h.Release(co))
				for until := co.Now().Add(2 * ms); !co.Now().After(until); {
				}
				h, err = p.Acquire(co)
				require.NoError(t, err)
				assert.NotEqual(t, old, ids(h))
				return h.Release(co)
			})
		})
	}
}

func TestPool_MaxLifetime_ItsEndStopsWithClose(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a := newAging(e, 2)
			a.cfg.MaxLifetime, a.cfg.MaxIdleTime = 10*time.Second, 5*time.Second
			p := a.open(co)
			a.stock(co, 2)
			h := a.take(co, 1)
			require.NoError(t, p.Close(co))
			assert.Equal(t, []int{2}, a.gone)
			pause(t, co, time.Hour)
			assert.Equal(t, []int{2}, a.gone)
			give(t, co, h...)
			assert.Equal(t, []int{2, 1}, a.gone)
			return p.AwaitClosed(co)
		})
	})
}

// A limit of "for ever" that makes every resource too old at once.
func TestPool_MaxLifetime_ForEverIsForEver(t *testing.T) {
	for _, what := range []string{"MaxLifetime", "MaxIdleTime"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				require.NoError(t, co.Delay(2*ms))
				d.cfg.Jitter = pool.NoJitter
				if what == "MaxLifetime" {
					d.cfg.MaxLifetime = math.MaxInt64
				} else {
					d.cfg.MaxIdleTime = math.MaxInt64
				}
				d.open(co)
				d.stock(co, 1)
				require.NoError(t, co.Delay(5*ms))
				d.has(1, 1, 0)
			})
		})
	}
}
