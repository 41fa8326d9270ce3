package pool_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// A probe that waits, with a build, is unwound: its ticket is given back twice.
func TestPool_CANC18_AWaitingProbeIsUnwound(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call == 2 {
				return co.Delay(time.Hour)
			}
			return nil
		})
		d.cfg.BeforeAcquire = fine
		d.cfg.Strategy = limited{recorder: &recorder{}, most: 5}
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			require.NoError(t, d.p.Recover())
			h := d.take(co, 1)[0]
			defer h.Release(co)
			d.cfg.Create = nil
			v := d.visit(co)
			settle(co)
			_ = v
			assert.Equal(t, 2, d.p.Stats().Probes)
			require.NoError(t, e.S.Shutdown(nil))
			return nil
		}, cotest.WithGrace(-1))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

// An Acquire is unwound in Lucky, with a resource in its hands.
func TestPool_CANC18_AnAcquireIsUnwoundWithAResourceInItsHands(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		d.cfg.BeforeAcquire = fine
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 1)
			e.Spawn(co, func(co *scheduler.Coroutine) error { return e.S.Shutdown(nil) })
			for range 1000 {
				h, err := d.p.Acquire(co)
				if err != nil {
					return err
				}
				_ = h.Release(co)
			}
			return nil
		}, cotest.WithGrace(-1))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

// A TryAcquire is unwound in YieldTo, while Create succeeds.
func TestPool_CANC18_ATryAcquireIsUnwoundWhileCreateSucceeds(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		d.creates(func(co *scheduler.Coroutine, call int) error { return e.S.Shutdown(nil) })
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			h, ok, err := d.p.TryAcquire(co)
			if ok {
				defer h.Release(co)
			}
			return err
		}, cotest.WithGrace(-1))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

// BeforeAcquire is unwound: the resource is not destroyed.
func TestPool_CANC18_ABeforeAcquireIsUnwound(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) {
			return true, co.Delay(time.Hour)
		}
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			h := d.take(co, 1)[0]
			_ = h.Release(co)
			d.visit(co)
			settle(co)
			return e.S.Shutdown(nil)
		}, cotest.WithGrace(-1))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Equal(t, d.made, d.gone)
	})
}

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

// Three idle ones, a Destroy that waits, and a run that ends without a grace: the Destroy of each must begin.
func TestPool_SHUT06_EachDestroyBeginsAlsoWithoutAGrace(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 3)
		d.destroys(func(co *scheduler.Coroutine, v *part) error { return co.Delay(ms) })
		err := e.Run(func(co *scheduler.Coroutine) error {
			d.open(co)
			d.stock(co, 3)
			return e.S.Shutdown(nil)
		}, cotest.WithGrace(-1))
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.ElementsMatch(t, d.made, d.gone)
	})
}
