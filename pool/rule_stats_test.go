package pool_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_Stats_OfAnAcquisitionThatIsMadeWaitedForAndReleased(t *testing.T) {
	inVirtualTime(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) { return d.make(), co.Delay(3 * ms) }
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(10 * ms) }
		d.cfg.BeforeRelease = d.cfg.BeforeAcquire
		p := d.open(co)
		want := pool.Stats{Max: 2}
		assert.Equal(t, want, p.Stats())

		v := d.queued(co, 1)[0]
		want.Total, want.Active, want.Constructing, want.Waiting = 1, 1, 1, 1
		want.EmptyAcquired = p.Stats().EmptyAcquired // when it counts is not said
		assert.Equal(t, want, p.Stats(), "being made")

		join(t, co, v)
		want.Constructing, want.Waiting, want.EmptyAcquired = 0, 0, 1
		want.Acquired, want.Created, want.Waited = 1, 1, 3*ms
		assert.Equal(t, want, p.Stats(), "out")

		r := d.e.Spawn(co, func(co *scheduler.Coroutine) error { return v.h.Release(co) })
		settle(co)
		assert.Equal(t, want, p.Stats(), "looked at by BeforeRelease (POOL-25)")
		_, err := co.Await(r)
		require.NoError(t, err)
		want.Active, want.Idle = 0, 1
		assert.Equal(t, want, p.Stats(), "idle")

		v = d.queued(co, 1)[0]
		want.Active, want.Idle = 1, 0
		st := p.Stats()
		st.Acquired = want.Acquired
		assert.Equal(t, want, st, "looked at by BeforeAcquire")
		join(t, co, v)
		want.Acquired = 2
		assert.Equal(t, want, p.Stats(), "out")
		give(t, co, v.h)
	})
}

func TestPool_Stats_OfWaits(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		g := d.e.Gate()
		served := d.queued(co, 1)[0]
		late := d.queued(co, 1, scheduler.Timeout(20*ms))[0]
		cancelled := d.queued(co, 1)[0]
		token := d.queued(co, 1, scheduler.Token(g))[0]
		assert.Equal(t, 4, p.Stats().Waiting)
		pause(t, co, 10*ms)
		require.NoError(t, cancelled.co.Cancel(nil))
		assert.Equal(t, 3, p.Stats().Waiting, "in the same step")
		g.Open(nil, errReason)
		assert.Equal(t, 2, p.Stats().Waiting)
		settle(co)
		assert.True(t, token.over)
		pause(t, co, 15*ms)
		assert.Equal(t, 1, p.Stats().Waiting)
		assert.True(t, late.over)
		give(t, co, h)
		st := p.Stats()
		assert.Equal(t, []int{1, 1, 0, 1, 0}, []int{st.Total, st.Idle, st.Active, st.Reserved, st.Waiting}, "set aside (POOL-19)")
		settle(co)
		require.NoError(t, served.err)
		st = p.Stats()
		assert.Equal(t, []int{1, 0, 1, 0, 0}, []int{st.Total, st.Idle, st.Active, st.Reserved, st.Waiting})
		assert.EqualValues(t, 2, st.Cancelled, "the token's included")
		assert.EqualValues(t, 1, st.TimedOut)
		assert.EqualValues(t, 2, st.Acquired)
		assert.EqualValues(t, 5, st.EmptyAcquired)
		assert.InDelta(t, float64(10*ms+10*ms+20*ms+25*ms), float64(st.Waited), float64(2*ms), "all waits together")
		give(t, co, served.h)
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

func TestPool_Stats_OfWhatFailsAndWhatEnds(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.creates(func(_ *scheduler.Coroutine, call int) error { return map[int]error{1: errMake, 2: errMake}[call] })
		d.cfg.BeforeRelease = fine
		d.cfg.Min = 0
		p := d.open(co)
		_, err := p.Acquire(co)
		require.ErrorIs(t, err, errMake)
		_, _, err = p.TryAcquire(co)
		require.ErrorIs(t, err, errMake)
		assert.Equal(t, []uint64{2, 0, 0}, []uint64{p.Stats().CreateFailures, p.Stats().Created, p.Stats().Acquired})
		hs := d.take(co, 3)
		d.ruin(1)
		give(t, co, hs[0])
		require.NoError(t, hs[1].Destroy(co))
		_, err = hs[2].Hijack()
		require.NoError(t, err)
		st := p.Stats()
		assert.Equal(t, []uint64{3, 2, 1, 3}, []uint64{st.Created, st.Destroyed, st.Hijacked, st.Acquired})
		d.has(0, 0, 0)
		require.NoError(t, p.Deactivate())
		assert.Equal(t, pool.Inactive, p.Stats().State)
		assert.False(t, p.Stats().Closed)
		require.NoError(t, p.Close(co))
		assert.True(t, p.Stats().Closed)
	})
}

func TestPool_Stats_AgreeWhateverHappens(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 4)
		rnd := rand.New(rand.NewPCG(1, 2))
		looks := 0
		// Each hook looks at the figures before and after it has let others run, and fails now and then.
		hook := func(co *scheduler.Coroutine) error {
			for range 2 {
				if d.p != nil {
					agree(t, d.p.Stats())
					looks++
				}
				switch rnd.IntN(4) {
				case 0:
					if err := co.Delay(time.Duration(1+rnd.IntN(2)) * ms); err != nil {
						return err
					}
				case 1:
					_ = co.Yield()
				}
			}
			if rnd.IntN(6) == 0 {
				return errBoom
			}
			return nil
		}
		ask := func(co *scheduler.Coroutine, _ *part) (bool, error) { return rnd.IntN(6) != 0, hook(co) }
		d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
			if err := hook(co); err != nil {
				return nil, err
			}
			return d.make(), nil
		}
		d.destroys(func(co *scheduler.Coroutine, _ *part) error { return hook(co) })
		d.cfg.BeforeAcquire, d.cfg.BeforeRelease, d.cfg.HealthCheck = ask, ask, ask
		d.cfg.HealthInterval, d.cfg.MaxIdleTime = 3*ms, 5*ms
		d.cfg.Strategy = &recorder{success: func(src pool.Source) { agree(t, src.Stats()) },
			failure: func(src pool.Source, _ error) { agree(t, src.Stats()) }}
		e.MustRun(func(co *scheduler.Coroutine) error {
			p := d.open(co)
			var all []*scheduler.Coroutine
			for range 12 {
				all = append(all, e.Spawn(co, func(co *scheduler.Coroutine) error {
					for range 40 {
						agree(t, p.Stats())
						h, err := p.Acquire(co, scheduler.Timeout(time.Duration(1+rnd.IntN(8))*ms))
						agree(t, p.Stats())
						if err != nil {
							continue
						}
						if rnd.IntN(3) == 0 {
							_ = co.Yield()
						}
						switch rnd.IntN(8) {
						case 0:
							_ = h.Destroy(co)
						case 1:
							_, err = h.Hijack()
							assert.NoError(t, err)
						default:
							_ = h.Release(co)
						}
					}
					return nil
				}))
			}
			for i := range 30 {
				require.NoError(t, co.Delay(ms))
				if i%3 == 0 {
					_ = all[rnd.IntN(len(all))].Cancel(errReason)
				}
				if i%10 == 0 {
					_ = p.Reset(co)
				}
			}
			for _, w := range all {
				_, _ = co.Await(w)
			}
			_ = p.Close(co)
			require.NoError(t, p.AwaitClosed(co, scheduler.Timeout(time.Minute)))
			st := p.Stats()
			agree(t, st)
			assert.Zero(t, st.Total)
			assert.Equal(t, st.Created, st.Destroyed+st.Hijacked, "each has had an end: %+v", st)
			assert.EqualValues(t, len(d.made), st.Created)
			assert.EqualValues(t, len(d.gone), st.Destroyed)
			return nil
		})
		assert.Greater(t, looks, 100)
	})
}

func TestPool_EVT16_InfoSaysWhatThePoolIsDoing(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name = "cars"
		p := d.open(co)
		hs := d.take(co, 3)
		assert.Equal(t, "cars", p.Name())
		assert.Equal(t, "pool cars 3/3, idle 0, active 3, reserved 0, waiting 0, breaker closed, in use by main, main, main", p.Info())
		v := d.queued(co, 2)
		give(t, co, hs...)
		assert.Equal(t, "pool cars 3/3, idle 3, active 0, reserved 2, waiting 0, breaker closed", p.Info())
		assert.Equal(t, p.Info(), p.AsEvent().Info())
		settle(co)
		got(t, v, 1, 2)
		assert.Contains(t, p.Info(), "idle 1, active 2, reserved 0")
		give(t, co, v[0].h, v[1].h)
		require.NoError(t, p.Deactivate())
		assert.Contains(t, p.Info(), "breaker open")
		require.NoError(t, p.Close(co))
		assert.Contains(t, p.Info(), "closed")
	})
}

func TestPool_EVT16_WhoWaitsSaysForWhat(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Name = "cars"
		d.open(co)
		h := d.take(co, 1)[0]
		v := d.queued(co, 1)[0]
		assert.Contains(t, v.co.WaitsFor(), "pool cars")
		give(t, co, h)
		settle(co)
		give(t, co, v.h)
	})
}

func TestPool_Stats_AreForTheLoop(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		cotest.Foreign(func() {
			cotest.IsUsage(t, cotest.PanicOf(t, func() { p.Stats() }), "Stats")
			cotest.IsUsage(t, cotest.PanicOf(t, func() { _ = p.Info() }), "Info")
			cotest.IsUsage(t, cotest.PanicOf(t, func() { p.State() }), "State")
		})
	})
}
