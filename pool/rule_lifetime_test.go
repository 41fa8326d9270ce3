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

// aging is a depot that notes how old its parts were when they were destroyed, and how long they had been idle if nobody has
// noted otherwise.
type aging struct {
	*depot
	born, died map[int]time.Time
}

func newAging(e *cotest.Env, limit int) *aging {
	a := &aging{depot: newDepot(e, limit), born: map[int]time.Time{}, died: map[int]time.Time{}}
	create, destroy := a.cfg.Create, a.cfg.Destroy
	a.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
		v, err := create(co)
		a.born[v.id] = co.Now()
		return v, err
	}
	a.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
		a.died[v.id] = co.Now()
		return destroy(co, v)
	}
	a.cfg.Jitter = pool.NoJitter
	return a
}

func (a *aging) age(id int) time.Duration { return a.died[id].Sub(a.born[id]) }

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

func TestPool_Jitter_NeverLaterAndNeverMuchEarlierThanTheLimit(t *testing.T) {
	for name, c := range map[string]struct{ jitter, part float64 }{
		"none": {pool.NoJitter, 0}, "default": {0, 0.1}, "half": {0.5, 0.5}, "all": {1, 1},
	} {
		for _, idle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, idle %v", name, idle), func(t *testing.T) {
				cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
					e.MustRun(func(co *scheduler.Coroutine) error {
						const n, limit = 60, 100 * time.Second
						a := newAging(e, n)
						a.cfg.Jitter = c.jitter
						if idle {
							a.cfg.MaxIdleTime = limit
						} else {
							a.cfg.MaxLifetime = limit
						}
						a.open(co)
						a.stock(co, n)
						pause(t, co, time.Hour)
						require.Len(t, a.gone, n)
						ages := map[time.Duration]bool{}
						shortest, longest := time.Hour, time.Duration(0)
						for id := 1; id <= n; id++ {
							ages[a.age(id)] = true
							shortest, longest = min(shortest, a.age(id)), max(longest, a.age(id))
						}
						assert.LessOrEqual(t, longest, limit)
						assert.GreaterOrEqual(t, shortest, time.Duration(float64(limit)*(1-c.part)))
						if c.part == 0 {
							assert.Len(t, ages, 1)
						} else {
							assert.Greater(t, len(ages), n/2, "not all at once")
							assert.Less(t, shortest, time.Duration(float64(limit)*(1-c.part*0.7)), "the whole range is used")
							assert.Greater(t, longest, time.Duration(float64(limit)*(1-c.part*0.3)))
						}
						return nil
					})
				})
			})
		}
	}
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
