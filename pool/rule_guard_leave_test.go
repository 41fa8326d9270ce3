package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// Others wait while its hook looks at what it was woken for: with a bad one it comes back before them.
func TestPool_POOL20_ComesBackToItsPlace(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gates(2)
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) {
			if v.bad {
				return false, passes(co, gs[v.id-1])
			}
			return true, nil
		}
		making := d.gated(4)
		d.open(co)
		first := d.queued(co, 2)
		making[0].Open(nil, nil)
		making[1].Open(nil, nil)
		join(t, co, first...)
		vs := d.queued(co, 2)
		d.ruin(1, 2)
		give(t, co, first[0].h, first[1].h)
		settle(co)
		vs = append(vs, d.queued(co, 2)...)
		gs[1].Open(nil, nil) // the second is the first to know
		settle(co)
		gs[0].Open(nil, nil)
		settle(co)
		assert.Equal(t, 4, d.p.Stats().Waiting)
		making[2].Open(nil, nil)
		settle(co)
		got(t, vs, 3, 0, 0, 0)
		making[3].Open(nil, nil)
		settle(co)
		got(t, vs, 3, 4, 0, 0)
		give(t, co, vs[0].h, vs[1].h)
		settle(co)
		got(t, vs, 3, 4, 3, 4)
		give(t, co, vs[2].h, vs[3].h)
	})
}

func TestPool_POOL21_TheErrorOfDestroyIsReturned(t *testing.T) {
	for by, acquire := range map[string]func(d *depot, co *scheduler.Coroutine) (bool, error){
		"Acquire": func(d *depot, co *scheduler.Coroutine) (bool, error) { _, err := d.p.Acquire(co); return false, err },
		"TryAcquire": func(d *depot, co *scheduler.Coroutine) (bool, error) {
			_, ok, err := d.p.TryAcquire(co)
			return ok, err
		},
	} {
		t.Run(by, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g := d.e.Gate()
				d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) {
					if v.bad {
						return false, passes(co, g)
					}
					return true, nil
				}
				d.destroys(func(_ *scheduler.Coroutine, v *part) error {
					if v.bad {
						return errRuin
					}
					return nil
				})
				d.open(co)
				d.stock(co, 1)
				d.ruin(1)
				var err error
				var ok bool
				first := d.e.Spawn(co, func(co *scheduler.Coroutine) error { ok, err = acquire(d, co); return nil })
				settle(co)
				d.has(1, 0, 1)
				vs := d.queued(co, 1)
				assert.Equal(t, 1, d.p.Stats().Waiting)
				g.Open(nil, nil)
				_, _ = co.Await(first)
				assert.ErrorIs(t, err, errRuin)
				assert.False(t, ok)
				join(t, co, vs...)
				got(t, vs, 2)
				assert.Empty(t, d.told, "it was returned")
				give(t, co, vs[0].h)
			})
		})
	}
}

// Who leaves in its hook leaves nothing out, and somebody else is woken for the place (GEN-05).
func TestPool_POOL20_CancelledInTheHook(t *testing.T) {
	for name, waiters := range map[string]int{"alone": 0, "with others behind": 2} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				calls := 0
				d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) {
					if calls++; calls == 1 {
						return true, co.Delay(hour)
					}
					return true, nil
				}
				p := d.open(co)
				d.stock(co, 1)
				v := d.queued(co, 1)[0]
				d.has(1, 0, 1)
				vs := d.queued(co, waiters)
				require.NoError(t, v.co.Cancel(errStop))
				join(t, co, v)
				cotest.IsCancelled(t, v.err, errStop)
				for _, w := range vs {
					join(t, co, w)
					require.NoError(t, w.err)
					d.has(1, 0, 1)
					give(t, co, w.h)
				}
				settle(co)
				assert.Zero(t, p.Stats().Active)
				d.works(co)
			})
		})
	}
}

// What happens while the hook looks at the first ends the search: the others are left alone.
func TestPool_POOL20_TheSearchEnds(t *testing.T) {
	for name, test := range map[string]struct {
		act   func(d *depot, co, searcher *scheduler.Coroutine) error
		check func(t *testing.T, err error)
	}{
		"cancelled": {
			func(_ *depot, _, searcher *scheduler.Coroutine) error { return searcher.Cancel(errStop) },
			func(t *testing.T, err error) { cotest.IsCancelled(t, err, errStop) },
		},
		"the breaker opens": {
			func(d *depot, _, _ *scheduler.Coroutine) error { return d.p.Deactivate() },
			func(t *testing.T, err error) { assert.ErrorIs(t, err, pool.ErrServiceUnavailable) },
		},
		"closed": {
			func(d *depot, co, _ *scheduler.Coroutine) error { return d.p.Close(co) },
			func(t *testing.T, err error) { assert.ErrorIs(t, err, event.ErrClosed) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g := d.e.Gate()
				var looked []int
				d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) {
					looked = append(looked, v.id)
					_ = passes(co, g)
					return false, nil
				}
				d.open(co)
				d.stock(co, 3)
				v := d.queued(co, 1)[0]
				require.NoError(t, test.act(d, co, v.co))
				g.Open(nil, nil)
				join(t, co, v)
				test.check(t, v.err)
				assert.Equal(t, []int{1}, looked)
				if name != "closed" {
					assert.Equal(t, []int{1}, d.gone)
					d.has(2, 2, 0)
				}
			})
		})
	}
}
