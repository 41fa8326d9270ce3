package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL27_CloseDestroysTheIdleInIdleOrder(t *testing.T) {
	inRun(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 4)
		give(t, co, hs[2], hs[0], hs[3])
		require.NoError(t, p.Close(co))
		assert.Equal(t, []int{3, 1, 4}, d.gone)
		assert.True(t, p.Stats().Closed)
		d.has(1, 0, 1)

		_, err := p.Acquire(co)
		assert.ErrorIs(t, err, event.ErrClosed)
		assert.ErrorIs(t, err, pool.ErrCloseCalled)
		_, ok, err := p.TryAcquire(co)
		assert.False(t, ok)
		assert.NoError(t, err)

		give(t, co, hs[1])
		assert.Equal(t, []int{3, 1, 4, 2}, d.gone, "what was out, when it comes back")
		d.has(0, 0, 0)
		require.NoError(t, p.Close(co))
		assert.Equal(t, []int{3, 1, 4, 2}, d.gone)
	})
}

func TestPool_POOL27_CloseWakesWhoWaits(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 3, scheduler.Timeout(time.Hour))
		assert.Equal(t, 3, p.Stats().Waiting)
		require.NoError(t, p.Close(co))
		assert.Zero(t, p.Stats().Waiting, "in the same step")
		assert.False(t, vs[0].over, "they are woken, no more (GEN-01)")
		settle(co)
		for _, v := range vs {
			var closed *event.ClosedError
			require.ErrorAs(t, v.err, &closed)
			assert.Equal(t, pool.ErrCloseCalled, closed.Reason)
			assert.False(t, event.IsCancellation(v.err))
		}
		assert.Empty(t, d.gone)
		give(t, co, h)
		assert.Equal(t, []int{1}, d.gone)
		assert.Equal(t, []int{1}, d.made)
	})
}

func TestPool_GEN02_ACancellationWinsOverTheWakeUpOfClose(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		v := d.queued(co, 1)[0]
		require.NoError(t, p.Close(co))
		require.NoError(t, v.co.Cancel(errReason))
		settle(co)
		assert.ErrorIs(t, v.err, errReason)
		give(t, co, h)
		d.has(0, 0, 0)
	})
}

func TestPool_GEN01_WhatIsSetAsideWhenItClosesIsStillGiven(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			p := d.open(co)
			h := d.take(co, 1)[0]
			vs := d.queued(co, 2)
			give(t, co, h)
			assert.Equal(t, 1, p.Stats().Reserved)
			require.NoError(t, p.Close(co))
			assert.Empty(t, d.gone)
			settle(co)
			require.NoError(t, vs[0].err)
			assert.Equal(t, []int{1}, ids(vs[0].h))
			assert.ErrorIs(t, vs[1].err, event.ErrClosed)
			give(t, co, vs[0].h)
			assert.Equal(t, []int{1}, d.gone)

			d = newDepot(e, 1) // and nobody gets what is set aside for somebody who leaves
			p = d.open(co)
			h = d.take(co, 1)[0]
			vs = d.queued(co, 1)
			give(t, co, h)
			require.NoError(t, p.Close(co))
			require.NoError(t, vs[0].co.Cancel(nil))
			settle(co)
			require.NoError(t, p.AwaitClosed(co, scheduler.Timeout(time.Minute)))
			assert.Equal(t, []int{1}, d.gone)
			d.has(0, 0, 0)
			return nil
		})
	})
}

func TestPool_POOL27_CloseReturnsTheFailuresOfTheDestructor(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Destroy = func(_ *scheduler.Coroutine, v *part) error {
			d.gone = append(d.gone, v.id)
			switch v.id {
			case 1:
				return errRuin
			case 2:
				panic(errOutcome)
			}
			return nil
		}
		p := d.open(co)
		d.stock(co, 3)
		err := p.Close(co)
		assert.Equal(t, []int{1, 2, 3}, d.gone, "all, whatever the others do")
		assert.ErrorIs(t, err, errRuin)
		assert.ErrorIs(t, err, errOutcome)
		var panicked *event.PanicError
		assert.ErrorAs(t, err, &panicked)
		assert.Empty(t, d.told, "once (GEN-08)")
		d.has(0, 0, 0)
		assert.NoError(t, p.Close(co))
		assert.NoError(t, p.AwaitClosed(co))
	})
}

func TestPool_POOL27_CloseFromTwoCoroutines(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var p *pool.Pool[*part]
		d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
			agree(t, p.Stats())
			if err := co.Delay(2 * time.Millisecond); err != nil {
				return err
			}
			d.gone = append(d.gone, v.id)
			return errRuin
		}
		p = d.open(co)
		d.stock(co, 3)
		var first error
		closer := d.e.Spawn(co, func(co *scheduler.Coroutine) error { first = p.Close(co); return nil })
		settle(co)
		assert.True(t, closer.Suspended())
		assert.True(t, p.Stats().Closed)
		assert.NoError(t, p.Close(co), "the second does nothing")
		require.NoError(t, p.AwaitClosed(co))
		assert.Equal(t, []int{1, 2, 3}, d.gone)
		d.has(0, 0, 0)
		_, err := co.Await(closer)
		require.NoError(t, err)
		assert.ErrorIs(t, first, errRuin)
		assert.Empty(t, d.told)
	})
}

func TestPool_POOL27_CloseWorksForACancelledCoroutine(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
			if err := co.Delay(time.Millisecond); err != nil {
				return err
			}
			d.gone = append(d.gone, v.id)
			return nil
		}
		p := d.open(co)
		d.stock(co, 2)
		closer := d.e.Spawn(co, func(co *scheduler.Coroutine) (err error) {
			defer func() { assert.NoError(t, p.Close(co)) }()
			return co.Delay(time.Hour)
		})
		settle(co)
		require.NoError(t, closer.Cancel(nil))
		_, err := co.Await(closer)
		cotest.IsCancelled(t, err, nil)
		assert.Equal(t, []int{1, 2}, d.gone)
	})
}

func TestPool_CORO30_CloseIsForTheCallerOnTheLoop(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 2)
			p := d.open(co)
			d.stock(co, 1)
			other := e.Spawn(co, cotest.Sleeper(time.Millisecond))
			cotest.IsUsage(t, p.Close(nil), "Close")
			cotest.IsUsage(t, p.Close(other), "Close")
			cotest.Foreign(func() { cotest.IsUsage(t, p.Close(co), "Close") })
			cotest.IsUsage(t, p.AwaitClosed(nil), "AwaitClosed")
			cotest.IsUsage(t, p.AwaitClosed(other), "AwaitClosed")
			assert.False(t, p.Stats().Closed)
			assert.Empty(t, d.gone)
			_, err := p.Acquire(co)
			require.NoError(t, err)
			return p.Close(co)
		})
	})
}

func TestPool_POOL30_CloseWhileAnErrorIsPropagated(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, rejected := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				d := newDepot(e, 2)
				d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
					_ = co.Delay(time.Millisecond)
					return errRuin
				}
				d.cfg.BeforeRelease = func(*scheduler.Coroutine, *part) (bool, error) { return !rejected, errCheck }
				p := d.open(co)
				err := p.With(co, func(co *scheduler.Coroutine, v *part) (err error) {
					defer func() { assert.NoError(t, p.Close(co)) }()
					return errOutcome
				})
				assert.ErrorIs(t, err, errOutcome)
				assert.ErrorIs(t, err, errRuin, "both are there")
				return p.AwaitClosed(co)
			})
		}
	})
}
