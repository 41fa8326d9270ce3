package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

var _ event.Event = (*pool.Pool[int])(nil)

func TestPool_AsEvent_HappensOnceWhenTheLastResourceIsGone(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		calls := 0
		_, err := p.AsEvent().Subscribe(func(b *event.Base, _ *event.Callback, _ any, err error) {
			calls++
			assert.Same(t, p.AsEvent(), b)
			assert.NoError(t, err)
			assert.Equal(t, []int{1, 2}, d.gone)
		})
		require.NoError(t, err)
		removed, err := p.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { assert.Fail(t, "removed") })
		require.NoError(t, err)
		assert.True(t, p.AsEvent().DelCallback(removed))
		hs := d.take(co, 2)
		give(t, co, hs[0])
		waiter := d.e.Spawn(co, func(co *scheduler.Coroutine) error { _, err := co.Await(p); return err })
		settle(co)
		require.NoError(t, p.Close(co))
		settle(co)
		assert.Zero(t, calls)
		_, err = co.Await(p, scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		give(t, co, hs[1])
		settle(co)
		assert.Equal(t, 1, calls)
		_, err = co.Await(waiter)
		require.NoError(t, err)
		require.NoError(t, p.Close(co))
		assert.Equal(t, 1, calls)

		replayed := 0
		_, err = p.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, _ any, err error) {
			replayed++
			assert.NoError(t, err)
		})
		require.NoError(t, err)
		assert.Equal(t, 1, replayed, "its outcome is kept (EVT-07)")
		fired, _, err := co.AwaitFirst([]event.Event{d.e.Gate(), p})
		require.NoError(t, err)
		assert.Equal(t, 1, fired)
	})
}

func TestPool_AsEvent_IsAToken(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		waiter := d.e.Spawn(co, cotest.Sleeper(hour)) // so that there is no deadlock
		bounded := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			_, err := co.Await(d.e.Gate(), scheduler.Token(p))
			return err
		})
		settle(co)
		require.NoError(t, p.Close(co))
		_, err := co.Await(bounded)
		cotest.IsTokens(t, err, nil)
		require.NoError(t, waiter.Cancel(nil))
	})
}

func TestPool_AsEvent_StartAndStopDoNothing(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		live := d.e.W.Live()
		p := d.open(co)
		h := d.take(co, 1)[0]
		b := p.AsEvent()
		for range 3 {
			require.NoError(t, b.Start())
			assert.Equal(t, live, d.e.W.Live())
		}
		require.NoError(t, b.Stop())
		assert.Equal(t, live, d.e.W.Live())
		assert.False(t, p.Flags()&event.FlagClosed != 0)
		give(t, co, h)
		d.works(co)
		require.NoError(t, p.Close(co))
		for range 3 {
			require.NoError(t, b.Start())
			require.NoError(t, b.Stop())
		}
		assert.Equal(t, live, d.e.W.Live())
	})
}

func TestPool_POOL33_DisposeIsCloseInTheBackground(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.destroys(func(co *scheduler.Coroutine, v *part) error {
			_ = co.Delay(ms)
			return map[int]error{2: errRuin}[v.id]
		})
		p := d.open(co)
		hs := d.take(co, 3)
		vs := d.queued(co, 3)
		give(t, co, hs[1]) // set aside, and still given
		p.AsEvent().Dispose()
		assert.True(t, p.Stats().Closed)
		settle(co)
		require.NoError(t, vs[0].err)
		for _, v := range vs[1:] {
			assert.ErrorIs(t, v.err, event.ErrClosed)
			assert.ErrorIs(t, v.err, pool.ErrCloseCalled)
		}
		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, err, pool.ErrCloseCalled)
		p.AsEvent().Dispose()
		require.NoError(t, p.Close(co))
		give(t, co, hs[0], hs[2])
		assert.ErrorIs(t, vs[0].h.Release(co), errRuin, "whoever gives it back has the error")
		assert.Equal(t, []int{1, 3, 2}, d.gone)
		d.has(0, 0, 0)
	})
}

func TestPool_POOL33_DisposeDestroysTheIdle(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.destroys(func(co *scheduler.Coroutine, v *part) error {
			_ = co.Delay(ms)
			return map[int]error{2: errRuin}[v.id]
		})
		p := d.open(co)
		d.stock(co, 3)
		p.AsEvent().Dispose()
		until(t, co, func() bool { return p.Stats().Total == 0 })
		assert.Equal(t, []int{1, 2, 3}, d.gone, "in idle order")
		assert.ErrorIs(t, event.Join(d.told...), errRuin)
		d.has(0, 0, 0)
	})
}

func TestPool_POOL33_AwaitClosedWaitsForADisposedPool(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 2)
		give(t, co, hs[0])
		var errs []error
		wait := func(co *scheduler.Coroutine) error { errs = append(errs, p.AwaitClosed(co)); return nil }
		before := d.e.Spawn(co, wait)
		settle(co)
		p.AsEvent().Dispose()
		after := d.e.Spawn(co, wait)
		settle(co)
		assert.Empty(t, errs, "one is out")
		give(t, co, hs[1])
		for _, w := range []*scheduler.Coroutine{before, after} {
			_, err := co.Await(w)
			require.NoError(t, err)
		}
		assert.Equal(t, []error{nil, nil}, errs)
		assert.NoError(t, p.AwaitClosed(co))
	})
}

func TestPool_POOL33_WithoutAHandlerTheScopeHasTheFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		d.cfg.OnError = nil
		d.destroys(func(*scheduler.Coroutine, *part) error { return errRuin })
		err := e.Run(func(co *scheduler.Coroutine) error {
			sc, err := co.Scope().New()
			require.NoError(t, err)
			var failures []error
			sc.OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				failures = append(failures, err)
				return nil
			})
			d.cfg.Scope = sc
			p := d.open(co)
			d.stock(co, 1)
			p.AsEvent().Dispose()
			settle(co)
			require.Len(t, failures, 1)
			assert.ErrorIs(t, failures[0], errRuin)
			return nil
		})
		assert.NoError(t, err)
	})
}
