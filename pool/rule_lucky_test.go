package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
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
