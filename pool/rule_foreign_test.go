package pool_test

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// With -race: Release from a foreign goroutine while the loop uses the resource.
func TestPool_CORO30_ReleaseOnAForeignGoroutineWhileTheLoopGoesOn(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			cotest.IsUsage(t, h.Release(co))
		}()
		require.NoError(t, h.Release(co))
		wg.Wait()
	})
}

func TestPool_NameAndNowOfNone(t *testing.T) {
	for _, p := range []*pool.Pool[int]{nil, {}} {
		cotest.IsUsage(t, cotest.PanicOf(t, func() { p.Name() }))
		cotest.IsUsage(t, cotest.PanicOf(t, func() { p.Now() }))
	}
}

func TestPool_GEN08_ATryThatIsCancelledKeepsTheErrorOfCreate(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		_ = e.Run(func(co *scheduler.Coroutine) error {
			var v *scheduler.Coroutine
			d.creates(func(_ *scheduler.Coroutine, call int) error { _ = v.Cancel(errStop); return errMake })
			d.open(co)
			v = e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, _, err := d.p.TryAcquire(co)
				assert.True(t, errors.Is(err, errMake) || len(d.told) > 0)
				return err
			})
			_, _ = co.Await(v)
			return nil
		})
	})
}

// A limit of "for ever" that makes every resource too old at once.
func TestPool_MaxLifetime_ForEverIsForEver(t *testing.T) {
	for _, what := range []string{"MaxLifetime", "MaxIdleTime"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				require.NoError(t, co.Delay(2*ms))
				d.cfg.Jitter = pool.NoJitter
				if what == "MaxLifetime" {
					d.cfg.MaxLifetime = math.MaxInt64
				} else {
					d.cfg.MaxIdleTime = math.MaxInt64
				}
				d.open(co)
				d.stock(co, 1)
				require.NoError(t, co.Delay(5*ms))
				d.has(1, 1, 0)
			})
		})
	}
}
