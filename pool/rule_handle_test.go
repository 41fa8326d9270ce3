package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// ends are the ways in which a handle ends.
var ends = map[string]func(h handle, co *scheduler.Coroutine) error{
	"Release": handle.Release,
	"Destroy": handle.Destroy,
	"Hijack":  func(h handle, _ *scheduler.Coroutine) error { _, err := h.Hijack(); return err },
}

func TestPool_Handle_EndsOnce(t *testing.T) {
	for first, end := range ends {
		for second, again := range ends {
			t.Run(first+", "+second, func(t *testing.T) {
				inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
					d.open(co)
					hs := d.take(co, 2)
					same := hs[0]
					require.NoError(t, end(hs[0], co))
					before, gone := d.p.Stats(), len(d.gone)
					cotest.IsUsage(t, again(hs[0], co), second)
					cotest.IsUsage(t, again(same, co), second)
					assert.Equal(t, before, d.p.Stats(), "which harms nobody")
					assert.Len(t, d.gone, gone)
					assert.Equal(t, 1, same.Value().id, "POOL-38")
					give(t, co, hs[1])
				})
			})
		}
	}
}

// What a handle has given back is somebody else's: the old handle can do nothing to it.
func TestPool_Handle_IsOfOneAcquisition(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.open(co)
				for range 3 {
					old := d.take(co, 1)[0]
					give(t, co, old)
					h := d.take(co, 1)[0]
					require.Equal(t, old.Value(), h.Value())
					assert.NotEqual(t, old, h)
					cotest.IsUsage(t, end(old, co), name)
					d.has(1, 0, 1)
					assert.Empty(t, d.gone)
					give(t, co, h)
				}
			})
		})
	}
}

func TestPool_Handle_AfterItsResourceIsGone(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		old := d.take(co, 1)[0]
		require.NoError(t, old.Destroy(co))
		h := d.take(co, 1)[0]
		assert.Equal(t, 2, h.Value().id)
		for name, end := range ends {
			cotest.IsUsage(t, end(old, co), name)
		}
		d.has(1, 0, 1)
		assert.Equal(t, 1, old.Value().id)
		give(t, co, h)
	})
}

func TestPool_Handle_TheZeroValueIsNone(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		var zero handle
		assert.Nil(t, zero.Value())
		assert.Zero(t, pool.Handle[int]{}.Value())
		for name, end := range ends {
			cotest.IsUsage(t, end(zero, co), name)
		}
	})
}

// While its hook is suspended the handle is over already.
func TestPool_Handle_EndsWhenItsReleaseBegins(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g := d.e.Gate()
				hooks := 0
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { hooks++; return true, passes(co, g) }
				d.open(co)
				h := d.take(co, 1)[0]
				releaser := d.e.Spawn(co, h.Release)
				settle(co)
				cotest.IsUsage(t, end(h, co), name)
				assert.Equal(t, 1, hooks)
				g.Open(nil, nil)
				_, err := co.Await(releaser)
				require.NoError(t, err)
				d.has(1, 1, 0)
				assert.Empty(t, d.gone)
			})
		})
	}
}

func TestPool_Release_ByAnotherCoroutine(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		_, err := co.Await(d.e.Spawn(co, h.Release))
		require.NoError(t, err)
		d.has(1, 1, 0)
	})
}

// POOL-41: a cancelled holder's release does all that has to be done.
func TestPool_Release_ByACancelledCoroutine(t *testing.T) {
	for name, end := range map[string]func(h handle, co *scheduler.Coroutine) error{"Release": handle.Release, "Destroy": handle.Destroy} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(ms) }
				d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
				d.open(co)
				holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
					h := d.take(co, 1)[0]
					_ = co.Delay(hour)
					assert.Error(t, co.Err())
					err := end(h, co)
					if err != nil {
						cotest.IsCancelled(t, err, errStop)
					}
					return nil
				})
				settle(co)
				require.NoError(t, holder.Cancel(errStop))
				_, err := co.Await(holder)
				require.NoError(t, err)
				if name == "Release" {
					d.has(1, 1, 0)
					assert.Empty(t, d.gone)
				} else {
					d.has(0, 0, 0)
					assert.Equal(t, []int{1}, d.gone)
				}
			})
		})
	}
}
