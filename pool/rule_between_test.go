package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// Who has had luck for too long yields within Acquire, and others run before it has its resource.

func TestPool_REACT20_TheOthersActWhileALuckyOneYields(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, d *depot, co *scheduler.Coroutine) error{
		"acquire": func(t *testing.T, d *depot, co *scheduler.Coroutine) error {
			h, err := d.p.Acquire(co)
			if err != nil {
				return err
			}
			defer give(t, co, h)
			return co.Delay(ms)
		},
		"try": func(t *testing.T, d *depot, co *scheduler.Coroutine) error {
			h, ok := d.tries(co)
			if !ok {
				return nil
			}
			defer give(t, co, h)
			return co.Delay(ms)
		},
		"all": func(t *testing.T, d *depot, co *scheduler.Coroutine) error {
			all, err := d.p.AcquireAllIdle()
			require.NoError(t, err)
			defer give(t, co, all...)
			return co.Delay(ms)
		},
		"reset":      func(t *testing.T, d *depot, co *scheduler.Coroutine) error { return d.p.Reset(co) },
		"close":      func(t *testing.T, d *depot, co *scheduler.Coroutine) error { return d.p.Close(co) },
		"deactivate": func(t *testing.T, d *depot, co *scheduler.Coroutine) error { return d.p.Deactivate() },
	} {
		for _, asks := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", with a hook"}[asks], func(t *testing.T) {
				cotest.Each(t, func(t *testing.T, e *cotest.Env) {
					e.MustRun(func(co *scheduler.Coroutine) error {
						d := newDepot(e, 1)
						if asks {
							d.cfg.BeforeAcquire = fine
						}
						d.open(co)
						d.stock(co, 1)
						for range 20 {
							acted := false
							other := e.Spawn(co, func(co *scheduler.Coroutine) error {
								acted = true
								return act(t, d, co)
							})
							for !acted { // until Acquire lets the other one run
								h, err := d.p.Acquire(co)
								agree(t, d.p.Stats())
								if err != nil {
									break
								}
								give(t, co, h)
							}
							if !other.Started() {
								settle(co)
							}
							_, err := co.Await(other)
							require.NoError(t, err)
							require.NoError(t, d.p.Activate())
						}
						agree(t, d.p.Stats())
						require.Zero(t, d.p.Stats().Active)
						return nil
					}, func(o *scheduler.Options) { o.Luck = 4 })
				})
			})
		}
	}
}

func TestPool_Reset_WhoComesAfterItGetsNothingFromBefore(t *testing.T) {
	for _, how := range []string{"being made for nobody", "being made for somebody before", "set aside for somebody who leaves"} {
		t.Run(how, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g := d.e.Gate()
				slow := how != "set aside for somebody who leaves"
				calls := 0
				d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
					calls++
					old := calls == 1
					if old && slow {
						if err := passes(co, g); err != nil { // its pool may give it up
							return nil, err
						}
					}
					v := d.make()
					v.bad = old
					return v, nil
				}
				p := d.open(co)
				var first *visit
				if slow {
					first = d.queued(co, 1)[0]
				} else {
					h := d.take(co, 1)[0]
					first = d.queued(co, 1)[0]
					give(t, co, h)
				}
				if how == "being made for nobody" {
					require.NoError(t, first.co.Cancel(nil))
					settle(co)
				}
				require.NoError(t, p.Reset(co))
				if !slow {
					require.NoError(t, first.co.Cancel(nil))
				}
				second := d.visit(co)
				settle(co)
				if how == "being made for somebody before" {
					require.NoError(t, first.co.Cancel(nil))
					settle(co)
				}
				g.Open(nil, nil)
				settle(co)
				require.True(t, second.over)
				require.NoError(t, second.err)
				assert.False(t, second.h.Value().bad, "what the first Create makes was retired")
				assert.Len(t, d.gone, len(d.made)-1)
				give(t, co, second.h)
				d.has(1, 1, 0)
				assert.Equal(t, 2, calls)
			})
		})
	}
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

func TestPool_Stats_AnAcquisitionThatWaitsTwiceIsOne(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = fine
		p := d.open(co)
		h := d.take(co, 1)[0]
		v := d.queued(co, 1)[0]
		d.ruin(1)
		give(t, co, h)
		settle(co)
		got(t, []*visit{v}, 2)
		assert.EqualValues(t, 2, p.Stats().EmptyAcquired, "of two that found none idle")
		assert.EqualValues(t, 2, p.Stats().Acquired)
		give(t, co, v.h)
	})
}

func TestPool_POOL33_WhatResourcesHaveStartedEndsWithThePool(t *testing.T) {
	for name, end := range map[string]func(p *pool.Pool[*part], co *scheduler.Coroutine) error{
		"close":   func(p *pool.Pool[*part], co *scheduler.Coroutine) error { return p.Close(co) },
		"dispose": func(p *pool.Pool[*part], _ *scheduler.Coroutine) error { p.AsEvent().Dispose(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				var reader *scheduler.Coroutine
				d.creates(func(co *scheduler.Coroutine, _ int) error {
					reader = d.e.Spawn(co, cotest.Sleeper(hour), scheduler.Hidden())
					return nil
				})
				p := d.open(co)
				d.stock(co, 1)
				require.NoError(t, end(p, co))
				settle(co)
				d.has(0, 0, 0)
				assert.True(t, reader.Completed())
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

func TestPool_POOL34_APassReachesWhatWasBorrowedMeanwhile(t *testing.T) {
	inVirtualTime(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		seen := map[int]int{}
		d.cfg.HealthInterval = 10 * ms
		d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
			seen[v.id]++
			return true, co.Delay(ms)
		}
		d.open(co)
		d.stock(co, 3)
		require.NoError(t, co.Delay(11*ms+ms/2)) // the second is being checked
		require.Equal(t, map[int]int{1: 1, 2: 1}, seen)
		hs := d.take(co, 2)
		assert.Equal(t, []int{3, 1}, ids(hs...))
		give(t, co, hs[1], hs[0])
		require.NoError(t, co.Delay(5*ms))
		assert.Equal(t, map[int]int{1: 1, 2: 1, 3: 1}, seen, "each that is idle, once")
	})
}

func TestPool_CB07_ANilStrategyRemovesIt(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{recover: func(pool.Source) bool { return true }}
		d.cfg.Strategy, d.cfg.BeforeRelease = s, fine
		p := d.open(co)
		hs := d.take(co, 2)
		require.NoError(t, p.SetStrategy(nil))
		give(t, co, hs[0])
		require.NoError(t, hs[1].Destroy(co))
		require.NoError(t, p.Deactivate())
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, pool.ErrServiceUnavailable)
		assert.Empty(t, s.said())
		require.NoError(t, p.SetStrategy(s))
		give(t, co, d.take(co, 1)...)
		assert.Equal(t, []string{"should recover", "success"}, s.said())
		var invalid *event.InvalidArgumentError
		assert.ErrorAs(t, p.SetStrategy(&pool.ConsecutiveFailures{Failures: -1}), &invalid)
		cotest.Foreign(func() { cotest.IsUsage(t, p.SetStrategy(nil), "SetStrategy") })
	})
}
