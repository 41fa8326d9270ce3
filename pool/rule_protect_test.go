package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// suspends is a hook that takes a while, and says no when that is interrupted.
func suspends(co *scheduler.Coroutine, v *part) (bool, error) {
	if err := co.Delay(2 * ms); err != nil {
		return false, err
	}
	return fine(co, v)
}

func TestPool_POOL41_ACancelledHolderDestroysNoGoodResource(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = suspends
		d.open(co)
		holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			h := d.take(co, 1)[0]
			defer func() { assert.NoError(t, h.Release(co)) }()
			return co.Delay(hour)
		})
		settle(co)
		require.NoError(t, holder.Cancel(errReason))
		v := d.queued(co, 1)[0]
		_, err := co.Await(holder)
		cotest.IsCancelled(t, err, errReason)
		assert.Empty(t, d.gone)
		d.has(2, 1, 1)
		give(t, co, v.h)
	})
}

func TestPool_POOL41_ACancellationDuringBeforeReleaseDoesNotReachIt(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
			ok, err := suspends(co, v)
			assert.NoError(t, co.Err())
			return ok, err
		}
		d.open(co)
		h := d.take(co, 1)[0]
		holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			err := h.Release(co)
			assert.ErrorIs(t, co.Err(), context.Canceled, "it has its effect afterwards")
			assert.NotErrorIs(t, err, errBoom)
			return co.Yield()
		})
		settle(co)
		require.NoError(t, holder.Cancel(errReason))
		_, err := co.Await(holder)
		cotest.IsCancelled(t, err, errReason)
		d.has(1, 1, 0)
		assert.Empty(t, d.gone)
	})
}

func TestPool_POOL41_DestroyIsProtected(t *testing.T) {
	for name, giveBack := range waysBack {
		if name == "Hijack" {
			continue
		}
		for _, before := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
					d.cfg.BeforeRelease = suspends
					gone := d.cfg.Destroy
					d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
						if err := co.Delay(2 * ms); err != nil {
							return err
						}
						return gone(co, v)
					}
					d.open(co)
					h := d.take(co, 1)[0]
					d.ruin(1)
					holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
						if before {
							require.NoError(t, co.Cancel(errReason))
						}
						return giveBack(co, h)
					})
					settle(co)
					if !before {
						require.NoError(t, holder.Cancel(errReason))
					}
					_, err := co.Await(holder)
					if err != nil {
						cotest.IsCancelled(t, err, errReason)
					}
					assert.Equal(t, []int{1}, d.gone)
					d.has(0, 0, 0)
				})
			})
		}
	}
}

func TestPool_POOL41_BeforeAcquireIsCancellable(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var seen []error
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, v *part) (bool, error) {
			err := co.Delay(hour)
			seen = append(seen, err)
			return err == nil, err
		}
		d.open(co)
		d.stock(co, 2)
		v := d.queued(co, 1)[0]
		d.has(2, 1, 1)
		require.NoError(t, v.co.Cancel(errReason))
		join(t, co, v)
		cotest.IsCancelled(t, v.err, errReason)
		require.Len(t, seen, 1, "the next one is not tried for who is cancelled")
		cotest.IsCancelled(t, seen[0], errReason)
		st := d.p.Stats()
		assert.Zero(t, st.Active)

		v = d.queued(co, 1, scheduler.Timeout(3*ms))[0]
		join(t, co, v)
		cotest.IsTimeout(t, v.err)
		assert.Zero(t, d.p.Stats().Active, "a Timeout bounds it, too")
	})
}
