package pool_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// waysBack are what can be done with a handle, once.
var waysBack = map[string]func(co *scheduler.Coroutine, h handle) error{
	"Release": func(co *scheduler.Coroutine, h handle) error { return h.Release(co) },
	"Destroy": func(co *scheduler.Coroutine, h handle) error { return h.Destroy(co) },
	"Hijack":  func(_ *scheduler.Coroutine, h handle) error { _, err := h.Hijack(); return err },
}

func TestPool_Handle_WhatIsGivenBackCannotBeGivenBackAgain(t *testing.T) {
	for first, giveBack := range waysBack {
		for second, again := range waysBack {
			t.Run(first+", "+second, func(t *testing.T) {
				inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
					p := d.open(co)
					h := d.take(co, 1)[0]
					twin := h
					require.NoError(t, giveBack(co, h))
					was := p.Stats()
					gone := len(d.gone)
					for _, h := range []handle{h, twin} {
						cotest.IsUsage(t, again(co, h), second)
						assert.Equal(t, was, p.Stats(), "it harms nobody")
						assert.Equal(t, 1, h.Value().id, "the handle still has it (POOL-38)")
					}
					assert.Len(t, d.gone, gone)
				})
			})
		}
	}
}

func TestPool_Handle_AnOldHandleDoesNotTouchTheNextHolder(t *testing.T) {
	for second, again := range waysBack {
		t.Run(second, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				p := d.open(co)
				var old []handle
				for range 100 { // whatever is used again inside
					h := d.take(co, 1)[0]
					for _, h := range old {
						cotest.IsUsage(t, again(co, h), second)
					}
					d.has(1, 0, 1)
					require.NoError(t, h.Release(co))
					old = append(old, h)
				}
				h := d.take(co, 1)[0]
				v := d.queued(co, 1)[0]
				cotest.IsUsage(t, again(co, old[0]), second)
				settle(co)
				assert.False(t, v.over, "it is no release")
				require.NoError(t, h.Destroy(co)) // one that was made anew, in the same place
				settle(co)
				require.NoError(t, v.err)
				for _, h := range append(old, h) {
					cotest.IsUsage(t, again(co, h), second)
				}
				assert.Equal(t, []int{1}, d.gone)
				give(t, co, v.h)
				assert.Equal(t, 1, p.Stats().Idle)
			})
		})
	}
}

func TestPool_Handle_GivenBackWhileItIsBeingGivenBack(t *testing.T) {
	for first, giveBack := range waysBack {
		if first == "Hijack" {
			continue // never waits
		}
		for second, again := range waysBack {
			t.Run(first+", "+second, func(t *testing.T) {
				inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
					d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(ms) }
					d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
					d.open(co)
					h := d.take(co, 1)[0]
					r := d.e.Spawn(co, func(co *scheduler.Coroutine) error { return giveBack(co, h) })
					settle(co)
					require.True(t, r.Suspended())
					cotest.IsUsage(t, again(co, h), second)
					d.has(1, 0, 1)
					_, err := co.Await(r)
					require.NoError(t, err)
					if first == "Release" {
						d.has(1, 1, 0)
						assert.Empty(t, d.gone)
					} else {
						d.has(0, 0, 0)
						assert.Equal(t, []int{1}, d.gone)
					}
				})
			})
		}
	}
}

func TestPool_Handle_TheZeroHandle(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		var h handle
		for name, giveBack := range waysBack {
			cotest.IsUsage(t, giveBack(co, h), name)
		}
		assert.Nil(t, h.Value())
		d.has(0, 0, 0)
	})
}

func TestPool_Handle_TheCallerGivesItsOwnCoroutine(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		other := d.e.Spawn(co, cotest.Sleeper(ms))
		for name, giveBack := range waysBack {
			if name != "Hijack" {
				cotest.IsUsage(t, giveBack(nil, h), name)
				cotest.IsUsage(t, giveBack(other, h), name)
			}
			cotest.Foreign(func() { cotest.IsUsage(t, giveBack(co, h), name) })
		}
		d.has(1, 0, 1)
		r := d.e.Spawn(co, func(co *scheduler.Coroutine) error { return h.Release(co) })
		_, err := co.Await(r)
		require.NoError(t, err, "anybody can release it, with their own")
		d.has(1, 1, 0)
	})
}

func TestPool_Hijack_TakesItOutOfThePool(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = func(*scheduler.Coroutine, *part) (bool, error) { panic("it is not released") }
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		v, err := h.Hijack()
		require.NoError(t, err)
		assert.Same(t, d.parts[0], v)
		settle(co)
		got(t, vs, 2, 0)
		require.NoError(t, p.Close(co))
		settle(co)
		assert.ErrorIs(t, vs[1].err, event.ErrClosed)
		_, err = vs[0].h.Hijack()
		require.NoError(t, err)
		require.NoError(t, p.AwaitClosed(co), "the last one has left it")
		assert.Empty(t, d.gone)
		assert.EqualValues(t, 2, p.Stats().Hijacked)
		assert.Zero(t, p.Stats().Destroyed)
		d.has(0, 0, 0)
	})
}

func TestPool_Destroy_DestroysWhatItsHolderKnowsToBeBad(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = func(*scheduler.Coroutine, *part) (bool, error) { panic("it is not released") }
		d.destroys(func(_ *scheduler.Coroutine, v *part) error {
			d.has(1, 0, 1)
			return map[int]error{1: errBoom}[v.id]
		})
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		assert.ErrorIs(t, h.Destroy(co), errBoom)
		settle(co)
		got(t, vs, 2, 0)
		require.NoError(t, vs[0].h.Destroy(co))
		settle(co)
		got(t, vs, 2, 3)
		assert.Equal(t, []int{1, 2}, d.gone)
		assert.Empty(t, d.told, "the caller has the error (GEN-08)")
		assert.EqualValues(t, 2, p.Stats().Destroyed)
		require.NoError(t, vs[1].h.Destroy(co))
		d.has(0, 0, 0)
	})
}

func TestPool_POOL38_TheHolderKeepsTheValue(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		give(t, co, h)
		assert.Same(t, d.parts[0], h.Value())
		require.NoError(t, p.Close(co))
		assert.Same(t, d.parts[0], h.Value(), "also when it was destroyed")
	})
}

// holds checks that a pool can hold v as it holds anything.
func holds[T any](t *testing.T, v T) {
	t.Run(fmt.Sprintf("%T %v", v, any(v)), func(t *testing.T) {
		cotest.Each(t, func(t *testing.T, e *cotest.Env) {
			destroyed := 0
			e.MustRun(func(co *scheduler.Coroutine) error {
				p, err := pool.New(co, pool.Config[T]{
					Min: 1, Max: 2,
					Create:  func(*scheduler.Coroutine) (T, error) { return v, nil },
					Destroy: func(_ *scheduler.Coroutine, got T) error { assert.Equal(t, v, got); destroyed++; return nil },
				})
				require.NoError(t, err)
				h, err := p.Acquire(co)
				require.NoError(t, err)
				twin, ok, err := p.TryAcquire(co)
				require.NoError(t, err)
				require.True(t, ok)
				assert.Equal(t, []T{v, v}, []T{h.Value(), twin.Value()})
				require.NoError(t, h.Release(co))
				assert.Equal(t, 1, p.Stats().Idle, "equal values are two resources")
				return errors.Join(twin.Release(co), p.Close(co))
			})
			assert.Equal(t, 2, destroyed)
		})
	})
}

func TestPool_POOL39_ResourcesAreAnyValues(t *testing.T) {
	holds(t, 0)
	holds(t, "")
	holds(t, false)
	holds(t, struct{}{})
	holds(t, [0]int{})
	holds(t, []int(nil))
	holds(t, map[string]int(nil))
	holds(t, &part{id: 7})
	holds[any](t, 0)
	holds[error](t, errBoom)
}

// refuses checks that a Create that returns the zero value of T has made nothing.
func refuses[T any](t *testing.T) {
	var none T
	t.Run(fmt.Sprintf("%T", &none), func(t *testing.T) {
		cotest.Each(t, func(t *testing.T, e *cotest.Env) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				cfg := pool.Config[T]{
					Create:  func(*scheduler.Coroutine) (T, error) { return none, nil },
					Destroy: func(*scheduler.Coroutine, T) error { assert.Fail(t, "there is nothing to destroy"); return nil },
				}
				p, err := pool.New(co, cfg)
				require.NoError(t, err)
				_, err = p.Acquire(co)
				assert.ErrorIs(t, err, pool.ErrNoResource)
				_, ok, err := p.TryAcquire(co)
				assert.NoError(t, err)
				assert.False(t, ok)
				agree(t, p.Stats())
				assert.Zero(t, p.Stats().Total)
				cfg.Min = 1
				_, err = pool.New(co, cfg)
				assert.ErrorIs(t, err, pool.ErrNoResource)
				return nil
			})
		})
	})
}

func TestPool_POOL39_NothingIsNoResource(t *testing.T) {
	refuses[*part](t)
	refuses[any](t)
	refuses[error](t)
	refuses[func()](t)
	refuses[chan int](t)
}

func TestPool_POOL40_FiveWorkersShareTwo(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		busy, most, done := 0, 0, 0
		var workers []*scheduler.Coroutine
		for range 5 {
			workers = append(workers, d.e.Spawn(co, func(co *scheduler.Coroutine) error {
				return p.With(co, func(co *scheduler.Coroutine, _ *part) error {
					busy++
					most = max(most, busy)
					assert.LessOrEqual(t, p.Stats().Active, 2)
					defer func() { busy--; done++ }()
					return co.Delay(ms)
				})
			}))
		}
		for _, w := range workers {
			_, err := co.Await(w)
			require.NoError(t, err)
		}
		assert.Equal(t, []int{2, 5}, []int{most, done})
		assert.Equal(t, []int{1, 2}, d.made)
		d.has(2, 2, 0)
	})
}
