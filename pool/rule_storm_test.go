package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// Whatever ends a pool in the middle of everything, nobody stays in its line, and each resource is destroyed, once.
func TestPool_GEN05_NobodyIsLeftInAPoolThatHasEnded(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		for seed := range uint64(150) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			ends := []string{"close", "dispose", "scope"}
			how := ends[seed%3]
			where := fmt.Sprintf("seed %d, %s", seed, how)
			pauseOf := func(co *scheduler.Coroutine) error { return co.Delay(time.Duration(1+rnd.IntN(6)) * ms) }
			d := newDepot(e, 1+rnd.IntN(4))
			d.creates(func(co *scheduler.Coroutine, _ int) error {
				if err := pauseOf(co); err != nil {
					return err
				}
				if rnd.IntN(5) == 0 {
					return errMake
				}
				return nil
			})
			d.destroys(func(co *scheduler.Coroutine, _ *part) error { return pauseOf(co) })
			ask := func(co *scheduler.Coroutine, _ *part) (bool, error) {
				if rnd.IntN(2) == 0 {
					_ = pauseOf(co)
				}
				return rnd.IntN(4) != 0, nil
			}
			if rnd.IntN(2) == 0 {
				d.cfg.BeforeAcquire = ask
			}
			if rnd.IntN(2) == 0 {
				d.cfg.BeforeRelease = ask
			}
			if rnd.IntN(2) == 0 {
				d.cfg.HealthInterval, d.cfg.HealthCheck, d.cfg.Min = 4*ms, ask, 1
			}
			hijacked := 0
			err := e.Run(func(co *scheduler.Coroutine) error {
				sc, err := co.Scope().New()
				require.NoError(t, err)
				d.cfg.Scope = sc
				p, err := pool.New(co, d.cfg)
				if err != nil {
					return nil // the first could not be made
				}
				d.p = p
				var users []*scheduler.Coroutine
				for range 10 {
					users = append(users, e.Spawn(co, func(co *scheduler.Coroutine) error {
						for range 4 {
							_ = pauseOf(co)
							h, err := p.Acquire(co)
							if err != nil {
								continue
							}
							_ = pauseOf(co)
							switch rnd.IntN(6) {
							case 0:
								_ = h.Destroy(co)
							case 1:
								_, err = h.Hijack()
								assert.NoError(t, err)
								hijacked++
							default:
								_ = h.Release(co)
							}
						}
						return nil
					}))
				}
				for range rnd.IntN(4) {
					_ = pauseOf(co)
					_ = users[rnd.IntN(len(users))].Cancel(errReason)
				}
				switch rnd.IntN(4) {
				case 0:
					_ = p.Reset(co)
				case 1:
					_ = p.Deactivate()
					_ = pauseOf(co)
					_ = p.Activate()
				}
				switch how {
				case "close":
					require.NoError(t, p.Close(co))
				case "dispose":
					p.AsEvent().Dispose()
				case "scope":
					require.NoError(t, sc.Dispose(errReason))
				}
				require.NoError(t, p.AwaitClosed(co, scheduler.Timeout(time.Minute)), where)
				for i, u := range users {
					_, err := co.Await(u, scheduler.Timeout(time.Minute))
					require.NotErrorIs(t, err, context.DeadlineExceeded, "%s: user %d %s", where, i, p.Info())
				}
				agree(t, p.Stats())
				assert.Zero(t, p.Stats().Total, where)
				return nil
			}, func(o *scheduler.Options) {
				o.Luck = 3
				if seed%2 == 0 {
					o.Rand = rand.New(rand.NewPCG(seed, 8))
				}
			})
			require.NoError(t, err, where)
			assert.Equal(t, len(d.made), len(d.gone)+hijacked, where)
			seen := map[int]bool{}
			for _, id := range d.gone {
				assert.False(t, seen[id], "%s: %d twice", where, id)
				seen[id] = true
			}
		}
	})
}
