package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// hooked has fn run in each hook; in is the name of the hook. It accepts everything that is not bad.
func (d *depot) hooked(fn func(in string, co *scheduler.Coroutine)) {
	d.creates(func(co *scheduler.Coroutine, _ int) error { fn("Create", co); return nil })
	d.destroys(func(co *scheduler.Coroutine, _ *part) error { fn("Destroy", co); return nil })
	look := func(in string) func(co *scheduler.Coroutine, v *part) (bool, error) {
		return func(co *scheduler.Coroutine, v *part) (bool, error) { fn(in, co); return !v.bad, nil }
	}
	d.cfg.BeforeAcquire, d.cfg.BeforeRelease = look("BeforeAcquire"), look("BeforeRelease")
}

// life goes through all hooks: with a new one, a used one, a refused one, and a destroyed one.
func life(t *testing.T, d *depot, co *scheduler.Coroutine) {
	t.Helper()
	for range 2 {
		give(t, co, d.take(co, 2)...)
	}
	hs := d.take(co, 2)
	hs[0].Value().bad = true
	give(t, co, hs[0])
	require.NoError(t, hs[1].Destroy(co))
	give(t, co, d.take(co, 1)...)
}

func TestPool_GEN10_HooksReenterThePool(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		depth, hooks := 0, map[string]int{}
		d.hooked(func(in string, co *scheduler.Coroutine) {
			if hooks[in]++; d.p.Stats().Closed {
				return
			}
			agree(t, d.p.Stats())
			_ = d.p.Info()
			if depth++; depth == 1 {
				h, ok := d.tries(co)
				agree(t, d.p.Stats())
				if ok {
					assert.NoError(t, h.Release(co))
				}
				h, err := d.p.Acquire(co)
				if assert.NoError(t, err, in) {
					agree(t, d.p.Stats())
					assert.NoError(t, h.Release(co))
				}
				agree(t, d.p.Stats())
			}
			depth--
		})
		d.open(co)
		life(t, d, co)
		settle(co)
		for _, in := range []string{"Create", "Destroy", "BeforeAcquire", "BeforeRelease"} {
			assert.Positive(t, hooks[in], in)
		}
		st := d.p.Stats()
		assert.Equal(t, []int{0, 0, 0}, []int{st.Active, st.Waiting, st.Reserved})
		assert.Equal(t, len(d.made)-len(d.gone), st.Idle)
	})
}

func TestPool_GEN10_HooksSuspend(t *testing.T) {
	for name, suspend := range map[string]func(co *scheduler.Coroutine) error{
		"for a turn":  (*scheduler.Coroutine).Yield,
		"for a while": func(co *scheduler.Coroutine) error { return co.Delay(ms) },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.hooked(func(in string, co *scheduler.Coroutine) {
					agree(t, d.p.Stats())
					assert.NoError(t, suspend(co), in)
					agree(t, d.p.Stats())
				})
				d.open(co)
				held := map[int]bool{}
				var all []*scheduler.Coroutine
				for i := range 8 {
					all = append(all, d.e.Spawn(co, func(co *scheduler.Coroutine) error {
						for round := range 5 {
							h := d.take(co, 1)[0]
							v := h.Value()
							assert.False(t, held[v.id], "two have it")
							held[v.id] = true
							assert.NoError(t, suspend(co))
							held[v.id] = false
							v.bad = (i+round)%4 == 0
							give(t, co, h)
						}
						return nil
					}))
				}
				for _, v := range all {
					_, err := co.Await(v)
					require.NoError(t, err)
				}
				assert.Zero(t, d.p.Stats().Active)
				assert.Len(t, d.gone, 10, "as many as were refused")
				assert.Equal(t, len(d.made)-len(d.gone), d.p.Stats().Idle)
			})
		})
	}
}

// The pool is closed in a hook: the operation under way comes to its end (POOL-31, POOL-32), and everything is destroyed once.
func TestPool_GEN10_HooksCloseThePool(t *testing.T) {
	for _, in := range []string{"Create", "Destroy", "BeforeAcquire", "BeforeRelease"} {
		t.Run(in, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				closing := false
				d.hooked(func(hook string, co *scheduler.Coroutine) {
					if closing && hook == in {
						closing = false
						assert.NoError(t, d.p.Close(co))
					}
				})
				p := d.open(co)
				d.stock(co, 2)
				hs := d.take(co, 1)
				if in == "Create" {
					hs = append(hs, d.take(co, 1)...)
				}
				closing = true
				switch in {
				case "Destroy":
					require.NoError(t, hs[0].Destroy(co))
					hs = nil
				case "BeforeRelease":
					give(t, co, hs...)
					hs = nil
				default:
					hs = append(hs, d.take(co, 1)...)
				}
				assert.False(t, closing)
				assert.True(t, p.Stats().Closed)
				_, err := p.Acquire(co)
				assert.ErrorIs(t, err, event.ErrClosed)
				give(t, co, hs...)
				require.NoError(t, p.AwaitClosed(co, scheduler.Timeout(hour)))
				d.has(0, 0, 0)
				assert.ElementsMatch(t, d.made, d.gone)
			})
		})
	}
}

func TestPool_POOL30_AHookThatClosesThePool(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 2)
			d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
				return true, d.p.Close(co)
			}
			d.open(co)
			hs := d.take(co, 2)
			give(t, co, hs...)
			assert.Equal(t, []int{1, 2}, d.gone)
			d.has(0, 0, 0)

			d = newDepot(e, 2)
			destroy := d.cfg.Destroy
			d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
				assert.NoError(t, d.p.Close(co))
				return destroy(co, v)
			}
			d.open(co)
			d.stock(co, 2)
			require.NoError(t, d.p.Close(co))
			assert.Equal(t, []int{1, 2}, d.gone, "each once")

			d = newDepot(e, 2)
			d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) { return d.make(), d.p.Close(co) }
			d.open(co)
			h, err := d.p.Acquire(co)
			require.NoError(t, err, "it was under way (POOL-32)")
			give(t, co, h)
			assert.Equal(t, []int{1}, d.gone)

			d = newDepot(e, 2)
			d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) { return true, d.p.Close(co) }
			d.open(co)
			d.stock(co, 2)
			h, err = d.p.Acquire(co)
			require.NoError(t, err)
			assert.Equal(t, []int{2}, d.gone)
			give(t, co, h)
			assert.Equal(t, []int{2, 1}, d.gone)
			d.has(0, 0, 0)
			return nil
		})
	})
}

// An acquisition in a hook of another one waits in the same line.
func TestPool_GEN10_AHookWaitsForAResource(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
			if v.id == 1 && !v.bad {
				v.bad = true // once
				return true, d.p.With(co, func(*scheduler.Coroutine, *part) error { d.e.Say("in the hook"); return nil })
			}
			return true, nil
		}
		d.open(co)
		hs := d.take(co, 2)
		releaser := d.e.Spawn(co, hs[0].Release)
		settle(co)
		assert.Equal(t, 1, d.p.Stats().Waiting)
		give(t, co, hs[1])
		_, err := co.Await(releaser)
		require.NoError(t, err)
		assert.Equal(t, []string{"in the hook"}, d.e.Said())
		d.has(2, 2, 0)
	})
}
