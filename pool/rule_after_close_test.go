package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL31_ReleaseOnAClosedPool(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		asked := 0
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
			asked++
			require.NoError(t, co.Delay(time.Millisecond))
			agree(t, d.p.Stats())
			return fine(co, v)
		}
		p := d.open(co)
		hs := d.take(co, 3)
		d.ruin(2)
		require.NoError(t, p.Close(co))
		for i, h := range hs {
			require.NoError(t, h.Release(co))
			assert.Equal(t, i+1, asked, "asked all the same")
			d.has(2-i, 0, 2-i)
			cotest.IsUsage(t, h.Release(co), "Release")
		}
		assert.Equal(t, []int{1, 2, 3}, d.gone, "each once")
		assert.EqualValues(t, 3, p.Stats().Destroyed)
	})
}

func TestPool_POOL31_TheReleaserGetsTheFailureOfTheDestructor(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			d.cfg.Destroy = func(*scheduler.Coroutine, *part) error { return errRuin }
			p := d.open(co)
			h := d.take(co, 1)[0]
			require.NoError(t, p.Close(co))
			assert.ErrorIs(t, h.Release(co), errRuin)
			assert.Empty(t, d.told, "once (GEN-08)")
			d.has(0, 0, 0)
			return p.AwaitClosed(co)
		})
	})
}

func TestPool_POOL31_ClosedDuringBeforeRelease(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
				return true, co.Delay(time.Millisecond)
			}
			p := d.open(co)
			h := d.take(co, 1)[0]
			r := e.Spawn(co, func(co *scheduler.Coroutine) error { return h.Release(co) })
			settle(co)
			require.NoError(t, p.Close(co))
			assert.Empty(t, d.gone, "it is not idle")
			_, err := co.Await(r)
			require.NoError(t, err)
			assert.Equal(t, []int{1}, d.gone)
			d.has(0, 0, 0)
			return nil
		})
	})
}

func TestPool_POOL32_AFactoryUnderWayWhenThePoolCloses(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 2)
			d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
				if err := co.Delay(2 * time.Millisecond); err != nil {
					return nil, err
				}
				return d.make(), nil
			}
			p := d.open(co)
			vs := d.queued(co, 3)
			require.NoError(t, p.Close(co))
			d.has(2, 0, 2)
			settle(co)
			assert.ErrorIs(t, vs[2].err, event.ErrClosed, "nothing is made for the third")
			for _, v := range vs[:2] {
				_, err := co.Await(v.co)
				require.NoError(t, err)
				require.NoError(t, v.err)
				give(t, co, v.h)
			}
			assert.Equal(t, []int{1, 2}, d.gone)
			d.has(0, 0, 0)
			return p.AwaitClosed(co)
		})
	})
}

func TestPool_POOL32_FactoriesThatEndInAnotherOrderAfterClose(t *testing.T) {
	for name, end := range map[string]func(p *pool.Pool[*part], co *scheduler.Coroutine) error{
		"close": func(p *pool.Pool[*part], co *scheduler.Coroutine) error { return p.Close(co) },
		"reset": func(p *pool.Pool[*part], co *scheduler.Coroutine) error { return p.Reset(co) },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				gs := d.gates(3)
				d.creates(func(co *scheduler.Coroutine, call int) error {
					if call > 3 {
						return nil
					}
					return passes(co, gs[call-1])
				})
				p := d.open(co)
				vs := d.queued(co, 3)
				require.NoError(t, end(p, co))
				for _, i := range []int{2, 0, 1} {
					gs[i].Open(nil, nil)
					settle(co)
				}
				for _, v := range vs {
					require.True(t, v.over, p.Info())
					require.NoError(t, v.err)
					give(t, co, v.h)
				}
				require.NoError(t, p.Close(co))
				require.NoError(t, p.AwaitClosed(co))
				assert.ElementsMatch(t, d.made, d.gone)
			})
		})
	}
}

func TestPool_POOL32_AFactoryThatFailsAfterThePoolClosed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
				_ = co.Delay(2 * time.Millisecond)
				return nil, errMake
			}
			p := d.open(co)
			v := d.queued(co, 1)[0]
			require.NoError(t, p.Close(co))
			require.NoError(t, p.AwaitClosed(co))
			settle(co)
			assert.ErrorIs(t, v.err, errMake)
			d.has(0, 0, 0)
			return nil
		})
	})
}

func TestPool_GEN08_AFactoryThatFailsAfterCloseWithNobodyThereIsTold(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			if err := passes(co, g); err != nil { // it is cancelled, and has something to say on top
				return errMake
			}
			return nil
		})
		p := d.open(co)
		d.tries(co)
		require.NoError(t, p.Close(co))
		require.NoError(t, p.AwaitClosed(co))
		d.wasTold(errMake)
	})
}

func TestPool_POOL32_WhatIsMadeForNobodyInAClosedPoolIsDestroyed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, when := range []string{"left before", "left after", "by TryAcquire"} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				d := newDepot(e, 1)
				d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
					if err := co.Delay(2 * time.Millisecond); err != nil {
						return nil, err
					}
					return d.make(), nil
				}
				p := d.open(co)
				if when == "by TryAcquire" {
					_, ok, err := p.TryAcquire(co)
					require.NoError(t, err)
					require.False(t, ok)
					require.NoError(t, p.Close(co))
				} else {
					v := d.queued(co, 1)[0]
					leave := func() { require.NoError(t, v.co.Cancel(nil)) }
					if when == "left before" {
						leave()
						settle(co)
					}
					require.NoError(t, p.Close(co))
					if when == "left after" {
						settle(co)
						leave()
					}
				}
				require.NoError(t, p.AwaitClosed(co))
				assert.Equal(t, d.made, d.gone, when)
				d.has(0, 0, 0)
				return nil
			})
		}
	})
}

func TestPool_POOL32_AHookUnderWayWhenThePoolCloses(t *testing.T) {
	for _, bad := range []bool{false, true} {
		t.Run(fmt.Sprint("bad ", bad), func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					d := newDepot(e, 2)
					d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) {
						if err := co.Delay(2 * time.Millisecond); err != nil {
							return false, err
						}
						return fine(co, v)
					}
					p := d.open(co)
					d.stock(co, 2)
					if bad {
						d.ruin(1)
					}
					v := d.queued(co, 1)[0]
					require.NoError(t, p.Close(co))
					assert.Equal(t, []int{2}, d.gone)
					_, err := co.Await(v.co)
					require.NoError(t, err)
					if bad {
						assert.ErrorIs(t, v.err, event.ErrClosed, "there is no next one")
						assert.Equal(t, []int{2, 1}, d.gone)
					} else {
						require.NoError(t, v.err)
						assert.Equal(t, []int{1}, ids(v.h))
						give(t, co, v.h)
						assert.Equal(t, []int{2, 1}, d.gone)
					}
					d.has(0, 0, 0)
					assert.Len(t, d.made, 2)
					return nil
				})
			})
		})
	}
}
