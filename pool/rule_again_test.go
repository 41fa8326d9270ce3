package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_CANC18_AHolderThatIsUnwoundGivesBackAllTheSame(t *testing.T) {
	for name, giveBack := range waysBack {
		if name == "Hijack" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				d := newDepot(e, 1)
				asked := 0
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) {
					asked++
					return true, co.Delay(hour) // in stage 2, nobody comes back from here
				}
				err := e.Run(func(co *scheduler.Coroutine) error {
					d.open(co)
					e.Spawn(co, func(co *scheduler.Coroutine) error {
						h := d.take(co, 1)[0]
						defer func() { _ = giveBack(co, h) }()
						return co.Protect(func(context.Context) error { return co.Delay(hour) }) // longer than the grace
					})
					settle(co)
					return e.S.Shutdown(errReason)
				}, cotest.WithGrace(20*ms))
				assert.ErrorIs(t, err, errReason)
				var late *scheduler.ShutdownError
				assert.ErrorAs(t, err, &late)
				assert.Equal(t, []int{1}, d.gone, "asked %d", asked)
			})
		})
	}
}

func TestPool_MaxIdleTime_ChecksAndReservationsAreNoUse(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.MaxIdleTime, d.cfg.Jitter = 10*time.Second, pool.NoJitter
		d.cfg.HealthInterval, d.cfg.HealthCheck = 3*time.Second, fine
		d.open(co)
		d.stock(co, 1)
		pause(t, co, 10*time.Second-ms)
		assert.Empty(t, d.gone)
		pause(t, co, ms)
		assert.Equal(t, []int{1}, d.gone)

		h := d.take(co, 1)[0]
		v := d.queued(co, 1)[0]
		give(t, co, h)
		require.NoError(t, v.co.Cancel(nil))
		d.has(1, 1, 0)
		pause(t, co, 10*time.Second)
		assert.Equal(t, []int{1, 2}, d.gone)
	})
}

func TestPool_MaxIdleTime_ExpiredDuringACheck(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.MaxIdleTime, d.cfg.MaxLifetime, d.cfg.Jitter = 10*time.Second, hour, pool.NoJitter
		d.cfg.HealthInterval = 8 * time.Second
		d.cfg.HealthCheck = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(4 * time.Second) }
		d.open(co)
		d.stock(co, 1)
		pause(t, co, 12*time.Second-ms)
		assert.Empty(t, d.gone)
		pause(t, co, 2*ms)
		assert.Equal(t, []int{1}, d.gone, "as soon as it is back")
	})
}

func TestPool_POOL41_WhatIsMadeForAWaiterFindsTheWaitersValues(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var values []any
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			values = append(values, co.Value(key{}))
			return nil
		})
		d.open(co)
		h := d.take(co, 1)[0]
		v := &visit{}
		v.co = d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Values().Set(key{}, "waiter"))
			v.h, v.err = d.p.Acquire(co)
			v.over = true
			return nil
		})
		settle(co)
		destroyer := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Values().Set(key{}, "destroyer"))
			return h.Destroy(co)
		})
		_, err := co.Await(destroyer)
		require.NoError(t, err)
		settle(co)
		got(t, []*visit{v}, 2)
		assert.Equal(t, []any{nil, "waiter"}, values)
		give(t, co, v.h)
	})
}

func TestPool_POOL08_TheAcquireTimeoutOfThePool(t *testing.T) {
	for _, asks := range []bool{false, true} {
		inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			d.cfg.AcquireTimeout = time.Second
			if asks {
				d.cfg.BeforeAcquire = fine
			}
			p := d.open(co)
			h := d.take(co, 1)[0]
			for _, c := range []struct {
				opts []scheduler.WaitOption
				want time.Duration
			}{
				{nil, time.Second},
				{[]scheduler.WaitOption{scheduler.Timeout(3 * time.Second)}, 3 * time.Second},
				{[]scheduler.WaitOption{scheduler.Timeout(100 * ms)}, 100 * ms},
				{[]scheduler.WaitOption{scheduler.Token(d.e.Gate())}, time.Second},
			} {
				begin := co.Now()
				_, err := p.Acquire(co, c.opts...)
				cotest.IsTimeout(t, err)
				assert.Equal(t, c.want, co.Now().Sub(begin))
				begin = co.Now()
				cotest.IsTimeout(t, p.With(co, func(*scheduler.Coroutine, *part) error { return nil }, c.opts...))
				assert.Equal(t, c.want, co.Now().Sub(begin))
			}
			assert.EqualValues(t, 8, p.Stats().TimedOut)
			give(t, co, h)
			pause(t, co, 2*time.Second)
			d.works(co)
		})
	}
}

func TestPool_POOL41_ABeforeAcquireThatIgnoresItsTimeLimitStillGives(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { _ = co.Delay(hour); return true, nil }
		p := d.open(co)
		d.stock(co, 1)
		h, err := p.Acquire(co, scheduler.Timeout(time.Second))
		require.NoError(t, err, "neither lost nor failed after its success (GEN-03)")
		d.has(1, 0, 1)
		give(t, co, h)
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
