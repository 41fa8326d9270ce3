package pool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// refusals are the ways in which a hook that looks at resources says no.
var refusals = map[string]struct {
	no   func() (bool, error)
	told error
}{
	"false":          {func() (bool, error) { return false, nil }, nil},
	"an error":       {func() (bool, error) { return true, errCheck }, errCheck},
	"false, error":   {func() (bool, error) { return false, errCheck }, errCheck},
	"a panic":        {func() (bool, error) { panic(errCheck) }, errCheck},
	"a cancellation": {func() (bool, error) { return true, &event.CancelledError{Reason: errCheck} }, errCheck},
}

// guarded has BeforeAcquire say no, in the way of the refusal, to parts that are bad, and notes what happens.
func (d *depot) guarded(no func() (bool, error)) {
	d.cfg.BeforeAcquire = func(_ *scheduler.Coroutine, v *part) (bool, error) {
		d.e.Say(fmt.Sprint("look at ", v.id))
		agree(d.t, d.p.Stats())
		if v.bad {
			return no()
		}
		return true, nil
	}
	d.destroys(func(_ *scheduler.Coroutine, v *part) error {
		d.e.Say(fmt.Sprint("destroy ", v.id))
		agree(d.t, d.p.Stats())
		return nil
	})
}

func TestPool_POOL20_NotForNewOnes(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.guarded(func() (bool, error) { return false, nil })
		d.open(co)
		hs := d.take(co, 2)
		h, ok := d.tries(co)
		require.True(t, ok)
		assert.Empty(t, d.e.Said())
		give(t, co, append(hs, h)...)
		assert.Empty(t, d.e.Said())
		give(t, co, d.take(co, 1)...)
		assert.Equal(t, []string{"look at 1"}, d.e.Said())
	})
}

func TestPool_POOL20_TheNextIsTried(t *testing.T) {
	for name, r := range refusals {
		for by, acquire := range acquirers {
			t.Run(name+" to "+by, func(t *testing.T) {
				inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
					d.guarded(r.no)
					p := d.open(co)
					d.stock(co, 3)
					d.ruin(1, 2)
					h := acquire(t, d, co)
					assert.Equal(t, 3, h.Value().id)
					assert.Equal(t, []string{"look at 1", "destroy 1", "look at 2", "destroy 2", "look at 3"}, d.e.Said())
					d.has(1, 0, 1)
					assert.Equal(t, uint64(2), p.Stats().Destroyed)
					d.hears(r.told, 2)
					give(t, co, h)
					d.works(co)
				})
			})
		}
	}
}

func TestPool_POOL20_WhenNoneIsGoodOneIsMade(t *testing.T) {
	for by, acquire := range acquirers {
		t.Run(by, func(t *testing.T) {
			inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				d.guarded(func() (bool, error) { return false, nil })
				d.open(co)
				d.stock(co, 2)
				d.ruin(1, 2)
				h := acquire(t, d, co)
				assert.Equal(t, 3, h.Value().id)
				assert.Equal(t, []string{"look at 1", "destroy 1", "look at 2", "destroy 2"}, d.e.Said(), "none for the new one")
				d.has(1, 0, 1)
				give(t, co, h)
			})
		})
	}
}

// What a waiter was woken for is looked at, too.
func TestPool_POOL20_ForWhatWasReserved(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.guarded(func() (bool, error) { return false, nil })
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		give(t, co, h)
		settle(co)
		got(t, vs, 1, 0)
		assert.Equal(t, []string{"look at 1"}, d.e.Said())
		d.ruin(1)
		give(t, co, vs[0].h)
		join(t, co, vs[1])
		got(t, vs, 1, 2)
		assert.Equal(t, []string{"look at 1", "destroy 1"}, d.e.Said())
		give(t, co, vs[1].h)
	})
}

// GEN-04: who was first and found a bad one comes before those who came later.
func TestPool_POOL20_ItsPlaceInTheLine(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.guarded(func() (bool, error) { return false, nil })
		d.open(co)
		hs := d.take(co, 2)
		vs := d.queued(co, 2)
		d.ruin(1)
		give(t, co, hs[0])
		join(t, co, vs[0])
		got(t, vs, 3, 0)
		give(t, co, hs[1])
		join(t, co, vs[1])
		got(t, vs, 3, 2)
		give(t, co, vs[0].h, vs[1].h)
	})
}
