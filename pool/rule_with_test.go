package pool_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_With_ReleasesWhateverFnReturns(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		for _, want := range []error{nil, errOutcome} {
			ran := 0
			err := p.With(co, func(inner *scheduler.Coroutine, v *part) error {
				ran++
				assert.Same(t, co, inner)
				assert.Same(t, d.parts[0], v)
				d.has(1, 0, 1)
				require.NoError(t, inner.Delay(ms))
				return want
			})
			assert.Equal(t, want, err)
			assert.Equal(t, 1, ran)
			d.has(1, 1, 0)
		}
		assert.Equal(t, []int{1}, d.made)
	})
}

func TestPool_With_FnIsNotCalledWithoutAResource(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		never := func(*scheduler.Coroutine, *part) error { assert.Fail(t, "fn runs"); return nil }
		d.creates(func(_ *scheduler.Coroutine, call int) error { return map[int]error{1: errMake}[call] })
		p := d.open(co)
		assert.ErrorIs(t, p.With(co, never), errMake)
		cotest.IsInvalid(t, p.With(co, nil), "pool: With", "function")
		cotest.IsUsage(t, p.With(nil, never), "With")
		h := d.take(co, 1)[0]
		cotest.IsTimeout(t, p.With(co, never, scheduler.Timeout(ms)))
		g := d.e.Gate()
		d.e.After(ms, func() { g.Open(nil, errReason) })
		cotest.IsTokens(t, p.With(co, never, scheduler.Token(g)), errReason)
		assert.Error(t, p.With(co, never, scheduler.Timeout(-ms)))
		give(t, co, h)
		require.NoError(t, p.Deactivate())
		assert.ErrorIs(t, p.With(co, never), pool.ErrServiceUnavailable)
		require.NoError(t, p.Close(co))
		assert.ErrorIs(t, p.With(co, never), event.ErrClosed)
		assert.EqualValues(t, 1, p.Stats().Acquired)
	})
}

func TestPool_POOL30_WithKeepsBothErrors(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = fine
		d.destroys(func(*scheduler.Coroutine, *part) error { return errRuin })
		p := d.open(co)
		err := p.With(co, func(_ *scheduler.Coroutine, v *part) error { v.bad = true; return errOutcome })
		assert.ErrorIs(t, err, errOutcome)
		assert.ErrorIs(t, err, errRuin)
		err = p.With(co, func(_ *scheduler.Coroutine, v *part) error { v.bad = true; return nil })
		isOfHook(t, err, "Destroy", errRuin)
		assert.Empty(t, d.told)
		assert.Equal(t, []int{1, 2}, d.gone)
	})
}

func TestPool_With_ReleasesAfterAPanic(t *testing.T) {
	for name, ruin := range map[string]error{"release works": nil, "release fails": errRuin} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
					return ruin == nil, co.Delay(ms)
				}
				d.destroys(func(*scheduler.Coroutine, *part) error { return ruin })
				p := d.open(co)
				worker := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
					return p.With(co, func(*scheduler.Coroutine, *part) error { panic(errOutcome) })
				})
				_, err := co.Await(worker)
				var panicked *event.PanicError
				require.ErrorAs(t, err, &panicked)
				assert.ErrorIs(t, err, errOutcome, "the panic is not replaced")
				if ruin == nil {
					d.has(1, 1, 0)
					d.works(co)
				} else {
					d.has(0, 0, 0)
					assert.ErrorIs(t, event.Join(append(d.told, err)...), errRuin, "nor is the other failure lost")
				}
			})
		})
	}
}

func TestPool_With_ThePanicOfFnIsRecoverable(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		caught := cotest.PanicOf(t, func() {
			_ = p.With(co, func(*scheduler.Coroutine, *part) error { panic(errOutcome) })
		})
		assert.ErrorIs(t, caught, errOutcome)
		d.has(1, 1, 0)
		require.NoError(t, co.Delay(ms), "and the coroutine goes on")
		d.works(co)
	})
}

func TestPool_With_ReleasesAfterGoexit(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		var after pool.Stats
		returned := false
		cotest.Foreign(func() {
			_ = e.Run(func(co *scheduler.Coroutine) error {
				d.cfg.BeforeRelease = fine
				p := d.open(co)
				defer func() { after = p.Stats() }()
				return p.With(co, func(*scheduler.Coroutine, *part) error { runtime.Goexit(); return nil })
			})
			returned = true
		})
		assert.False(t, returned, "Run's goroutine exits")
		assert.Equal(t, []int{1, 1, 0}, []int{after.Total, after.Idle, after.Active})
		assert.Equal(t, []int{1}, d.gone, "destroyed at the end of the run")
	})
}

func TestPool_With_ACancelledHolderGivesBackAGoodResource(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, v *part) (bool, error) {
			if err := co.Delay(ms); err != nil {
				return false, err
			}
			return fine(co, v)
		}
		p := d.open(co)
		holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			return p.With(co, func(co *scheduler.Coroutine, _ *part) error { return co.Delay(hour) })
		})
		settle(co)
		require.NoError(t, holder.Cancel(errReason))
		_, err := co.Await(holder)
		cotest.IsCancelled(t, err, errReason)
		d.has(1, 1, 0)
		assert.Empty(t, d.gone)
	})
}

func TestPool_With_ACancellationDuringTheRelease(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeRelease = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(2 * ms) }
		p := d.open(co)
		var err error
		holder := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			err = p.With(co, func(*scheduler.Coroutine, *part) error { return errOutcome })
			assert.ErrorIs(t, co.Err(), context.Canceled)
			return nil
		})
		require.NoError(t, co.Delay(ms))
		require.NoError(t, holder.Cancel(errReason))
		_, _ = co.Await(holder)
		assert.ErrorIs(t, err, errOutcome)
		d.has(1, 1, 0)
		assert.Empty(t, d.gone)
	})
}
