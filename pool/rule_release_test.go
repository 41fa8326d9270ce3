package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL22_WhatIsRefusedIsDestroyed(t *testing.T) {
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.BeforeRelease = func(_ *scheduler.Coroutine, v *part) (bool, error) {
					if v.bad {
						return r.no()
					}
					return true, nil
				}
				p := d.open(co)
				hs := d.take(co, 2)
				d.ruin(2)
				give(t, co, hs[1])
				assert.Equal(t, []int{2}, d.gone)
				d.has(1, 0, 1)
				assert.Equal(t, uint64(1), p.Stats().Destroyed)
				d.hears(r.told, 1)
				give(t, co, hs[0])
				d.has(1, 1, 0)
				d.works(co)
				assert.Equal(t, []int{1, 2, 3}, d.made)
			})
		})
	}
}

func TestPool_POOL22_TheOldestWaiterMakesANewOne(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = fine
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 3)
		d.ruin(1)
		give(t, co, h)
		settle(co)
		got(t, vs, 2, 0, 0)
		assert.Equal(t, []int{1}, d.gone)
		d.ruin(2)
		give(t, co, vs[0].h)
		settle(co)
		got(t, vs, 2, 3, 0)
		give(t, co, vs[1].h)
		settle(co)
		got(t, vs, 2, 3, 3)
		give(t, co, vs[2].h)
	})
}

func TestPool_POOL23_BothWaitersGetOne(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = fine
		d.open(co)
		h := d.take(co, 1)[0]
		var all []*scheduler.Coroutine
		var served []int
		for range 2 {
			all = append(all, d.e.Spawn(co, func(co *scheduler.Coroutine) error {
				return d.p.With(co, func(co *scheduler.Coroutine, v *part) error {
					served = append(served, v.id)
					return co.Delay(ms)
				})
			}))
		}
		settle(co)
		d.ruin(1)
		give(t, co, h)
		for _, v := range all {
			_, err := co.Await(v)
			require.NoError(t, err)
		}
		assert.Equal(t, []int{2, 2}, served)
		assert.Equal(t, []int{1, 2}, d.made, "exactly one new one")
		d.has(1, 1, 0)
	})
}

// The first creation after it fails: the second waiter must not be left to itself (GEN-05).
func TestPool_POOL23_TheNewOneCannotBeMade(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = fine
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call == 2 {
				return errMake
			}
			return nil
		})
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		d.ruin(1)
		give(t, co, h)
		join(t, co, vs...)
		isOfHook(t, vs[0].err, "Create", errMake)
		got(t, vs[1:], 2)
		give(t, co, vs[1].h)
	})
}

func TestPool_POOL25_ActiveUntilTheHookIsDone(t *testing.T) {
	for name, bad := range map[string]bool{"accepted": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g := d.e.Gate()
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
					if v.id == 2 {
						return true, nil
					}
					d.has(2, 0, 2)
					err := passes(co, g)
					d.has(2, 0, 2)
					return !v.bad, err
				}
				destroying := 0
				d.destroys(func(*scheduler.Coroutine, *part) error {
					if destroying++; destroying == 1 && bad {
						d.has(2, 0, 2)
					}
					return nil
				})
				d.open(co)
				hs := d.take(co, 2)
				hs[0].Value().bad = bad
				releaser := d.e.Spawn(co, hs[0].Release)
				settle(co)
				assert.True(t, releaser.Suspended())
				d.has(2, 0, 2)
				_, ok := d.tries(co)
				assert.False(t, ok)
				g.Open(nil, nil)
				settle(co)
				assert.Equal(t, 1, d.p.Stats().Active, "one less for each release")
				give(t, co, hs[1])
				assert.Zero(t, d.p.Stats().Active)
				if bad {
					d.has(1, 1, 0)
				} else {
					d.has(2, 2, 0)
				}
			})
		})
	}
}

func TestPool_POOL26_ActiveDuringTheStrategy(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		looks := 0
		look := func(src pool.Source) {
			looks++
			st := src.Stats()
			assert.Equal(t, []int{1, 0, 1, 0, 1}, []int{st.Total, st.Idle, st.Active, st.Reserved, st.Waiting})
			assert.Empty(t, d.gone)
		}
		s := &recorder{success: look, failure: func(src pool.Source, _ error) { look(src) }}
		d.cfg.Strategy, d.cfg.BeforeRelease, d.cfg.Max = s, fine, 1
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 1)
		give(t, co, h)
		assert.Equal(t, 1, looks)
		join(t, co, vs...)
		more := d.queued(co, 1)
		d.ruin(1)
		give(t, co, vs[0].h)
		assert.Equal(t, 2, looks)
		assert.Equal(t, []string{"success", "failure"}, s.said())
		require.Len(t, s.errs, 1)
		assert.ErrorIs(t, s.errs[0], pool.ErrRejected)
		s.success, s.failure = nil, nil
		join(t, co, more...)
		give(t, co, more[0].h)
		assert.Equal(t, 1, p.Stats().Idle)
	})
}

func TestPool_Release_TheErrorOfDestroyIsReturned(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = fine
		d.destroys(func(_ *scheduler.Coroutine, v *part) error {
			if v.id == 1 {
				return errRuin
			}
			if v.id == 2 {
				panic(errRuin)
			}
			return nil
		})
		d.open(co)
		hs := d.take(co, 2)
		d.ruin(1)
		assert.ErrorIs(t, hs[0].Release(co), errRuin)
		assert.ErrorIs(t, hs[1].Destroy(co), errRuin)
		d.has(0, 0, 0)
		assert.Empty(t, d.told)
		assert.Equal(t, []int{1, 2}, d.gone)
		d.works(co)
	})
}

// GEN-05: each way out of the pool makes room for a waiter.
func TestPool_GEN05_EachWayOutMakesRoom(t *testing.T) {
	for name, out := range map[string]func(h handle, co *scheduler.Coroutine) error{
		"Destroy": handle.Destroy,
		"Hijack":  func(h handle, _ *scheduler.Coroutine) error { _, err := h.Hijack(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				p := d.open(co)
				h := d.take(co, 1)[0]
				vs := d.queued(co, 2)
				require.NoError(t, out(h, co))
				join(t, co, vs[0])
				got(t, vs, 2, 0)
				require.NoError(t, out(vs[0].h, co))
				join(t, co, vs[1])
				got(t, vs, 2, 3)
				give(t, co, vs[1].h)
				d.has(1, 1, 0)
				assert.Equal(t, uint64(2), p.Stats().Destroyed+p.Stats().Hijacked)
			})
		})
	}
}

// The place is free only when Destroy is done: it counts until then, and the waiter waits for it.
func TestPool_GEN06_CountedUntilItIsDestroyed(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.destroys(func(co *scheduler.Coroutine, v *part) error {
			if v.id == 1 {
				return passes(co, g)
			}
			return nil
		})
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 1)
		d.e.Spawn(co, h.Destroy)
		settle(co)
		d.has(1, 0, 1)
		assert.False(t, vs[0].over)
		_, ok := d.tries(co)
		assert.False(t, ok)
		assert.Len(t, d.made, 1)
		g.Open(nil, nil)
		join(t, co, vs...)
		got(t, vs, 2)
		give(t, co, vs[0].h)
	})
}

// A holder that panics gives it back in its defer.
func TestPool_Release_InTheDeferOfAPanic(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			h, err := p.Acquire(co)
			if err != nil {
				return err
			}
			defer h.Release(co)
			cotest.Yields(co, 3)
			panic(errBoom)
		})
		cotest.Yields(co, 1)
		vs := []*visit{d.visit(co)}
		_, err := co.Await(holder)
		assert.ErrorIs(t, err, errBoom)
		join(t, co, vs...)
		got(t, vs, 1)
		give(t, co, vs[0].h)
		d.has(1, 1, 0)
	})
}
