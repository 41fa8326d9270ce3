package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// CANC-28: a block with a limit, or one that is cancelled, around the wait.
func TestPool_CANC28_InABlock(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		acquire := func(co *scheduler.Coroutine) error { _, err := p.Acquire(co); return err }
		cotest.IsTimeout(t, co.WithTimeout(3*ms, acquire))
		assert.NoError(t, co.Err())
		var inner error
		err := co.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
			d.e.After(ms, func() { cancel(errStop) })
			inner = acquire(co)
			return inner
		})
		assert.NoError(t, err)
		cotest.IsCancelled(t, inner, errStop)
		assert.Zero(t, p.Stats().Waiting)
		give(t, co, h)
		d.works(co)
		assert.Len(t, d.made, 1)
	})
}

// CANC-13: clean-up may need a resource.
func TestPool_CANC13_InAProtectedSection(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		cleaned := false
		v := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			_ = co.Delay(hour)
			return co.Protect(func(context.Context) error {
				return p.With(co, func(co *scheduler.Coroutine, _ *part) error { cleaned = true; return co.Yield() })
			})
		})
		settle(co)
		require.NoError(t, v.Cancel(errStop))
		settle(co)
		assert.Equal(t, 1, p.Stats().Waiting)
		give(t, co, h)
		_, err := co.Await(v)
		require.NoError(t, err)
		assert.True(t, v.Cancelled())
		assert.True(t, cleaned)
		d.has(1, 1, 0)
	})
}

// SHUT-01: a failure ends the run while some hold, some wait, and one is being made.
func TestPool_SHUT01_AFailureOfTheRun(t *testing.T) {
	for name, body := range map[string]func(co *scheduler.Coroutine) error{
		"an error": func(*scheduler.Coroutine) error { return errBoom },
		"a panic":  func(*scheduler.Coroutine) error { panic(errBoom) },
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				d := newDepot(e, 3)
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Yield() }
				d.destroys(func(co *scheduler.Coroutine, _ *part) error { return co.Delay(ms) })
				released := 0
				err := e.Run(func(co *scheduler.Coroutine) error {
					d.open(co)
					for range 6 {
						e.Spawn(co, func(co *scheduler.Coroutine) error {
							h, err := d.p.Acquire(co)
							if err != nil {
								assert.Error(t, co.Err())
								return err
							}
							defer func() {
								if err := h.Release(co); err != nil {
									cotest.IsCancelled(t, err, nil)
								}
								released++
							}()
							return co.Delay(hour)
						})
					}
					settle(co)
					return body(co)
				})
				assert.ErrorIs(t, err, errBoom)
				assert.Equal(t, 3, released)
				assert.ElementsMatch(t, d.made, d.gone)
			})
		})
	}
}

// REACT-20: acquisitions that never suspend let the others run all the same.
func TestPool_REACT20_ALoopOfAcquisitionsStarvesNobody(t *testing.T) {
	for name, hook := range map[string]func(*scheduler.Coroutine, *part) (bool, error){"plain": nil, "with a hook": fine} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.BeforeAcquire = hook
				d.stocked(co)
				ran := false
				d.e.Spawn(co, func(*scheduler.Coroutine) error { ran = true; return nil })
				n := 0
				for ; !ran && n < 100000; n++ {
					give(t, co, d.take(co, 1)...)
				}
				assert.True(t, ran, "after %d", n)
			})
		})
	}
}

// A holder that panics gives it back in its defer.
func TestPool_Release_InTheDeferOfAPanic(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			h, err := p.Acquire(co)
			if err != nil {
				return err
			}
			defer h.Release(co)
			cotest.Yields(co, 3)
			panic(errBoom)
		})
		cotest.Yields(co, 1)
		vs := []*visit{d.visit(co)}
		_, err := co.Await(holder)
		assert.ErrorIs(t, err, errBoom)
		join(t, co, vs...)
		got(t, vs, 1)
		give(t, co, vs[0].h)
		d.has(1, 1, 0)
	})
}
