package pool_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_TryAcquire_NeverWaits(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error { return passes(co, g) })
		p := d.open(co)
		ran := false
		d.e.Spawn(co, func(*scheduler.Coroutine) error { ran = true; return nil })
		_, ok := d.tries(co)
		assert.False(t, ok)
		assert.False(t, ran, "nobody else ran meanwhile")
		assert.Equal(t, 1, p.Stats().Constructing)
		g.Open(nil, nil)
		settle(co)
		d.has(1, 1, 0)
		h, ok := d.tries(co)
		assert.True(t, ok)
		assert.Equal(t, 1, h.Value().id, "what it has begun becomes idle")
		give(t, co, h)
	})
}

func TestPool_TryAcquire_WhatItBeginsGoesToTheFirstInLine(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error { return passes(co, g) })
		d.open(co)
		_, ok := d.tries(co)
		assert.False(t, ok)
		vs := d.queued(co, 2)
		g.Open(nil, nil)
		settle(co)
		got(t, vs, 1, 0)
		give(t, co, vs[0].h)
		join(t, co, vs...)
		got(t, vs, 1, 1)
		give(t, co, vs[1].h)
	})
}

// GEN-04: while somebody waits, nothing is begun for a newcomer that would not be its own.
func TestPool_TryAcquire_BeginsNothingWhileSomebodyWaits(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g, calls := d.e.Gate(), 0
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if calls = call; call == 1 {
				return passes(co, g)
			}
			return nil
		})
		d.open(co)
		v := d.queued(co, 1)
		_, ok := d.tries(co)
		assert.False(t, ok)
		assert.Equal(t, 1, calls)
		assert.False(t, v[0].over)
		g.Open(nil, nil)
		join(t, co, v...)
		give(t, co, v[0].h)
	})
}

// CANC-00 meets CANC-22: Create cancels who tries. What it makes is not lost.
func TestPool_TryAcquire_CancelledMeanwhile(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var trier *scheduler.Coroutine
		d.creates(func(_ *scheduler.Coroutine, call int) error {
			if call == 1 {
				assert.NoError(t, trier.Cancel(errStop))
			}
			return nil
		})
		p := d.open(co)
		trier = d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			h, ok, err := p.TryAcquire(co)
			if ok {
				return h.Release(co)
			}
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
		_, _ = co.Await(trier)
		settle(co)
		d.has(1, 1, 0)
		d.works(co)
		assert.Len(t, d.made, 1)
	})
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

// GEN-04: one joins the line for what a TryAcquire has begun: the next TryAcquire does not get it, be it ready or not.
func TestPool_TryAcquire_DoesNotOvertake(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error { return passes(co, g) })
		d.open(co)
		_, ok := d.tries(co)
		assert.False(t, ok)
		v := d.queued(co, 1)
		_, ok = d.tries(co)
		assert.False(t, ok)
		g.Open(nil, nil)
		_, ok = d.tries(co)
		assert.False(t, ok)
		join(t, co, v...)
		got(t, v, 1)
		give(t, co, v[0].h)
	})
}

// GEN-05, GEN-08: nobody waits for the creation that TryAcquire has left to itself; its error must not be somebody else's, and its
// place must be free.
func TestPool_TryAcquire_WhatItBeginsFails(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gates(2)
		d.creates(func(co *scheduler.Coroutine, call int) error { return passes(co, gs[call-1]) })
		p := d.open(co)
		_, ok := d.tries(co)
		assert.False(t, ok)
		gs[0].Open(nil, errMake)
		settle(co)
		d.has(0, 0, 0)
		assert.Len(t, d.told, 1)
		assert.ErrorIs(t, d.told[0], errMake)
		v := d.queued(co, 1)
		assert.Equal(t, 1, p.Stats().Constructing)
		gs[1].Open(nil, nil)
		join(t, co, v...)
		got(t, v, 1)
		give(t, co, v[0].h)
	})
}

func TestPool_TryAcquire_TakesNothingWhenItIsOff(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		d.stock(co, 1)
		assert.NoError(t, p.Deactivate())
		_, ok := d.tries(co)
		assert.False(t, ok)
		d.has(1, 1, 0)
		assert.NoError(t, p.Activate())
		h, ok := d.tries(co)
		assert.True(t, ok)
		give(t, co, h)
	})
}
