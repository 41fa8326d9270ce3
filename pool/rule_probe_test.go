package pool_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_CB07_TheProbesOfAProberAreLimited(t *testing.T) {
	inRun(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := limited{recorder: &recorder{recover: func(pool.Source) bool { return true }}, most: 2}
		d.cfg.Strategy = s
		p := d.open(co)
		require.NoError(t, p.Deactivate())
		hs := d.take(co, 2)
		assert.Equal(t, 2, p.Stats().Probes)
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		_, ok := d.tries(co)
		assert.False(t, ok)
		d.has(2, 0, 2)

		give(t, co, hs[0])
		assert.Equal(t, 1, p.Stats().Probes)
		h := d.take(co, 1)[0]
		_, err = p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		_, err = h.Hijack()
		require.NoError(t, err)
		assert.Equal(t, 1, p.Stats().Probes, "what is hijacked is over")
		h = d.take(co, 1)[0]
		require.NoError(t, h.Destroy(co))
		assert.Equal(t, 1, p.Stats().Probes)
		give(t, co, hs[1])
		assert.Zero(t, p.Stats().Probes)
	})
}

func TestPool_CB07_AProbeThatLeavesGivesItsPlaceBack(t *testing.T) {
	for _, how := range []string{"cancelled", "timeout", "cancelled when woken", "closed"} {
		t.Run(how, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				s := limited{recorder: &recorder{}, most: 1}
				d.cfg.Strategy = s
				p := d.open(co)
				h := d.take(co, 1)[0]
				require.NoError(t, p.Recover())
				v := d.visit(co, scheduler.Timeout(2*ms))
				settle(co)
				assert.Equal(t, 1, p.Stats().Probes, "who waits is one, too")
				_, err := p.Acquire(co)
				assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
				switch how {
				case "cancelled":
					require.NoError(t, v.co.Cancel(errReason))
				case "cancelled when woken":
					give(t, co, h)
					require.NoError(t, v.co.Cancel(errReason))
				case "closed":
					require.NoError(t, p.Close(co))
				}
				join(t, co, v)
				require.Error(t, v.err)
				assert.Zero(t, p.Stats().Probes)
				assert.Empty(t, s.said(), "it decides nothing, and neither does the acquisition from before")
				if how == "cancelled" || how == "timeout" {
					give(t, co, h)
				}
				if how != "closed" {
					give(t, co, d.take(co, 1)...)
					assert.Equal(t, []string{"success"}, s.said())
				} else {
					give(t, co, h)
				}
				assert.Zero(t, p.Stats().Probes)
			})
		})
	}
}

func TestPool_CB07_AProbeThatItsStrategyCancelsGivesItsPlaceBack(t *testing.T) {
	for _, limit := range []bool{false, true} {
		inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			var probe *scheduler.Coroutine
			s := limited{recorder: &recorder{}, most: 1}
			s.recover = func(pool.Source) bool { return assert.NoError(t, probe.Cancel(errReason)) }
			d.cfg.Strategy, d.cfg.BeforeAcquire = s, fine
			if limit {
				d.cfg.AcquireTimeout = time.Hour
			}
			p := d.open(co)
			require.NoError(t, p.Deactivate())
			v := d.visit(co)
			probe = v.co
			join(t, co, v)
			if v.err == nil {
				give(t, co, v.h)
			}
			assert.Equal(t, pool.Recovering, p.State())
			assert.Zero(t, p.Stats().Probes)
			d.works(co)
		})
	}
}

// The resource of a probe is refused, and then something else goes wrong: the probe is over.
func TestPool_CB07_AProbeWhoseResourceIsRefusedGivesItsPlaceBack(t *testing.T) {
	for by, acquire := range map[string]func(p *pool.Pool[*part], co *scheduler.Coroutine) error{
		"Acquire": func(p *pool.Pool[*part], co *scheduler.Coroutine) error { _, err := p.Acquire(co); return err },
		"Acquire with a limit": func(p *pool.Pool[*part], co *scheduler.Coroutine) error {
			_, err := p.Acquire(co, scheduler.Timeout(hour))
			return err
		},
		"TryAcquire": func(p *pool.Pool[*part], co *scheduler.Coroutine) error { _, _, err := p.TryAcquire(co); return err },
	} {
		probe := func(t *testing.T, d *depot, co *scheduler.Coroutine) (err error) {
			d.cfg.Strategy = limited{recorder: &recorder{}, most: 1}
			p := d.open(co)
			d.stock(co, 1)
			d.ruin(1)
			require.NoError(t, p.Recover())
			_, err = co.Await(d.e.Spawn(co, func(co *scheduler.Coroutine) error { return acquire(p, co) }))
			assert.Zero(t, p.Stats().Probes)
			assert.Equal(t, pool.Recovering, p.State())
			settle(co)
			d.has(0, 0, 0)
			h := d.take(co, 1)[0]
			assert.Equal(t, 1, p.Stats().Probes)
			give(t, co, h)
			assert.Zero(t, p.Stats().Probes)
			return err
		}
		t.Run(by+", Destroy fails", func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.BeforeAcquire = fine
				d.destroys(func(_ *scheduler.Coroutine, v *part) error { return map[int]error{1: errRuin}[v.id] })
				assert.ErrorIs(t, probe(t, d, co), errRuin)
			})
		})
		t.Run(by+", the hook exits", func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				d := newDepot(e, 1)
				d.cfg.BeforeAcquire = func(_ *scheduler.Coroutine, v *part) (bool, error) {
					if v.bad {
						runtime.Goexit()
					}
					return true, nil
				}
				over := false
				e.Exits(func(co *scheduler.Coroutine) error {
					assert.Error(t, probe(t, d, co))
					over = true
					return nil
				})
				assert.True(t, over)
				assert.Equal(t, d.made, d.gone)
			})
		})
	}
}
