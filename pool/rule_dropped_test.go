package pool_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// dropped makes a pool with n idle resources that nobody has when it returns.
//
//go:noinline
func dropped(d *depot, co *scheduler.Coroutine, n int) {
	d.open(co)
	d.stock(co, n)
	d.p = nil
}

func TestPool_POOL33_ADroppedPoolIsClosed(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 3)
			d.cfg.HealthInterval, d.cfg.HealthCheck = ms, fine
			d.cfg.MaxLifetime, d.cfg.MaxIdleTime = hour, hour
			d.cfg.Min = 1
			dropped(d, co, 3)
			cotest.Collect(t, co, func() bool { return len(d.gone) == 3 })
			assert.ElementsMatch(t, []int{1, 2, 3}, d.gone)
			cotest.Storm(co)
			assert.Len(t, d.gone, 3, "each once")
			assert.Len(t, d.made, 3)
			return nil
		})
	})
}

func TestPool_POOL33_ADroppedPoolWithSomethingOut(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 2)
			h := func() handle {
				d.open(co)
				hs := d.take(co, 2)
				give(t, co, hs[1])
				d.p = nil
				return hs[0]
			}()
			cotest.Collect(t, co, func() bool { return len(d.gone) == 1 })
			assert.Equal(t, []int{2}, d.gone)
			give(t, co, h)
			assert.Equal(t, []int{2, 1}, d.gone, "when it comes back")
			return nil
		})
	})
}

func TestPool_POOL33_APoolInUseIsNotCollected(t *testing.T) {
	for name, hook := range map[string]func(*scheduler.Coroutine, *part) (bool, error){"plain": nil, "with a hook": fine} {
		t.Run(name, func(t *testing.T) {
			cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					d := newDepot(e, 1)
					d.cfg.BeforeAcquire = hook
					d.open(co)
					h := d.take(co, 1)[0]
					waiter := e.Spawn(co, func(co *scheduler.Coroutine) error {
						h, err := d.p.Acquire(co)
						if err != nil {
							return err
						}
						return h.Release(co)
					})
					settle(co)
					d.p = nil
					cotest.Storm(co)
					give(t, co, h)
					_, err := co.Await(waiter)
					require.NoError(t, err)
					cotest.Collect(t, co, func() bool { return len(d.gone) == 1 })
					runtime.KeepAlive(h)
					return nil
				})
			})
		})
	}
}

// A BeforeAcquire that is asked by TryAcquire takes its time, and says no: another one is made.
func TestPool_POOL33_APoolThatIsTriedIsNotCollected(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			g := e.Gate()
			d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { return false, passes(co, g) }
			d.open(co)
			d.stock(co, 1)
			user := e.Spawn(co, func(co *scheduler.Coroutine) error {
				h, ok, err := d.p.TryAcquire(co)
				if err != nil || !assert.True(t, ok) {
					return err
				}
				return h.Release(co)
			})
			settle(co)
			d.p = nil
			cotest.Storm(co)
			g.Open(nil, nil)
			_, err := co.Await(user)
			require.NoError(t, err)
			cotest.Collect(t, co, func() bool { return len(d.gone) == 2 })
			return nil
		})
	})
}
