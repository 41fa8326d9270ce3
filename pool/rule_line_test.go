package pool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL10_ReleaseMakesItIdle(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		hs := d.take(co, 2)
		d.line(0, 0, 0)
		give(t, co, hs[0])
		d.line(1, 0, 0)
		d.has(2, 1, 1)
		give(t, co, hs[1])
		d.line(2, 0, 0)
	})
}

func TestPool_POOL10_POOL19_ReleaseReservesForTheOldestWaiter(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 3)
		d.line(0, 0, 3)
		give(t, co, h)
		d.line(1, 1, 2)
		d.has(1, 1, 0)
		got(t, vs, 0, 0, 0)
		settle(co)
		got(t, vs, 1, 0, 0)
		d.line(0, 0, 2)
		give(t, co, vs[0].h)
		settle(co)
		got(t, vs, 1, 1, 0)
		give(t, co, vs[1].h)
		settle(co)
		got(t, vs, 1, 1, 1)
		give(t, co, vs[2].h)
		d.line(1, 0, 0)
	})
}

func TestPool_POOL10_EachGoesToTheOldestForWhomThereIsNone(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		hs := d.take(co, 3)
		vs := d.queued(co, 4)
		give(t, co, hs[2], hs[0])
		d.line(2, 2, 2)
		give(t, co, hs[1])
		d.line(3, 3, 1)
		settle(co)
		got(t, vs, 3, 1, 2, 0)
		give(t, co, vs[1].h)
		settle(co)
		got(t, vs, 3, 1, 2, 1)
		give(t, co, vs[0].h, vs[2].h, vs[3].h)
	})
}

// GEN-04: not even the one who has released it.
func TestPool_POOL11_ReleaseDoesNotBarge(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 1)
		give(t, co, h)
		d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			join(t, co, vs[0])
			d.e.Say("the waiter has it")
			return vs[0].h.Release(co)
		})
		again, err := p.Acquire(co)
		require.NoError(t, err)
		assert.Equal(t, []string{"the waiter has it"}, d.e.Said())
		give(t, co, again)
		assert.Len(t, d.made, 1)
	})
}

func TestPool_POOL13_NobodyElseGetsAReservedOne(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 1)
		give(t, co, h)
		_, ok := d.tries(co)
		assert.False(t, ok)
		all, err := p.AcquireAllIdle()
		assert.NoError(t, err)
		assert.Empty(t, all)
		d.line(1, 1, 0)
		newcomer := d.visit(co)
		settle(co)
		got(t, append(vs, newcomer), 1, 0)
		give(t, co, vs[0].h)
		join(t, co, newcomer)
		give(t, co, newcomer.h)
		assert.Len(t, d.made, 1)
	})
}

// A reserved one and a free one: newcomers get the free one.
func TestPool_POOL13_TheOthersAreFree(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 2)
		vs := d.queued(co, 1)
		give(t, co, hs...)
		d.line(2, 1, 0)
		h, ok := d.tries(co)
		assert.True(t, ok)
		assert.Equal(t, 2, h.Value().id)
		d.line(1, 1, 0)
		all, err := p.AcquireAllIdle()
		assert.NoError(t, err)
		assert.Empty(t, all)
		give(t, co, h)
		all, err = p.AcquireAllIdle()
		assert.NoError(t, err)
		assert.Equal(t, []int{2}, ids(all...))
		settle(co)
		got(t, vs, 1)
		give(t, co, append(all, vs[0].h)...)
	})
}

func TestPool_GEN04_RemovingOneKeepsTheOrderOfTheOthers(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		const n = 20
		vs := make([]*visit, n)
		for i := range vs {
			var opts []scheduler.WaitOption
			if i%5 == 2 {
				opts = append(opts, scheduler.Timeout(ms))
			}
			vs[i] = d.visit(co, opts...)
		}
		settle(co)
		for i, v := range vs {
			switch i % 5 {
			case 2:
				join(t, co, v)
				cotest.IsTimeout(t, v.err)
			case 0, 4:
				require.NoError(t, v.co.Cancel(errStop))
			}
		}
		settle(co)
		d.line(0, 0, 8)
		var want, served []string
		for i, v := range vs {
			if i%5 == 1 || i%5 == 3 {
				want = append(want, fmt.Sprint(i))
				give(t, co, h)
				settle(co)
				for j, other := range vs {
					if other.over && other.err == nil && other.h == v.h {
						served = append(served, fmt.Sprint(j))
					}
				}
				require.NoError(t, v.err)
				require.True(t, v.over, "%d", i)
				h = v.h
			}
		}
		assert.Equal(t, want, served)
		give(t, co, h)
	})
}

func TestPool_POOL10_OfALineOfOthersReleases(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		var order []int
		var all []*scheduler.Coroutine
		for i := range 50 {
			all = append(all, d.e.Spawn(co, func(co *scheduler.Coroutine) error {
				return p.With(co, func(co *scheduler.Coroutine, _ *part) error {
					order = append(order, i)
					return co.Yield()
				})
			}))
		}
		for i, v := range all {
			_, err := co.Await(v)
			require.NoError(t, err)
			assert.Equal(t, i, order[i])
		}
		assert.Len(t, order, 50)
		d.has(2, 2, 0)
		assert.Len(t, d.made, 2)
	})
}
