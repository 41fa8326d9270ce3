package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

type key struct{}

func TestPool_POOL41_TheFactoryFindsTheValuesOfTheAcquirer(t *testing.T) {
	inRun(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var values []any
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			values = append(values, co.Value(key{}))
			return co.Delay(ms)
		})
		require.NoError(t, co.Values().Set(key{}, "opener"))
		d.cfg.Min = 1
		d.open(co)
		assert.Equal(t, []any{"opener"}, values)
		hs := d.take(co, 1)
		for _, who := range []string{"a", "b"} {
			v := &visit{}
			v.co = d.e.Spawn(co, func(co *scheduler.Coroutine) error {
				require.NoError(t, co.Values().Set(key{}, who))
				v.h, v.err = d.p.Acquire(co)
				v.over = true
				return nil
			})
			join(t, co, v)
			hs = append(hs, v.h)
		}
		d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Values().Set(key{}, "try"))
			d.tries(co)
			return nil
		})
		settle(co)
		assert.Equal(t, []any{"opener", "a", "b", "try"}, values)
		require.NoError(t, co.Delay(2*ms))
		give(t, co, hs...)
	})
}

func TestPool_POOL41_WhatIsMadeForAWaiterFindsTheWaitersValues(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		var values []any
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			values = append(values, co.Value(key{}))
			return nil
		})
		d.open(co)
		h := d.take(co, 1)[0]
		v := &visit{}
		v.co = d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Values().Set(key{}, "waiter"))
			v.h, v.err = d.p.Acquire(co)
			v.over = true
			return nil
		})
		settle(co)
		destroyer := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Values().Set(key{}, "destroyer"))
			return h.Destroy(co)
		})
		_, err := co.Await(destroyer)
		require.NoError(t, err)
		settle(co)
		got(t, []*visit{v}, 2)
		assert.Equal(t, []any{nil, "waiter"}, values)
		give(t, co, v.h)
	})
}

func TestPool_POOL41_TheFactoryIsNotCancelledWithTheAcquirer(t *testing.T) {
	for _, how := range []string{"cancelled", "timeout", "token"} {
		t.Run(how, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g, leave := d.e.Gate(), d.e.Gate()
				finished := 0
				d.creates(func(co *scheduler.Coroutine, _ int) error {
					err := passes(co, g)
					assert.NoError(t, co.Err())
					finished++
					return err
				})
				p := d.open(co)
				limit := scheduler.Timeout(ms)
				if how != "timeout" {
					limit = scheduler.Token(leave)
				}
				v := d.visit(co, limit)
				settle(co)
				switch how {
				case "cancelled":
					require.NoError(t, v.co.Cancel(errReason))
				case "token":
					leave.Open(nil, errReason)
				}
				require.NoError(t, co.Delay(5*ms))
				require.True(t, v.over)
				require.Error(t, v.err)
				assert.Zero(t, finished)
				d.has(1, 0, 1)
				assert.Equal(t, 1, p.Stats().Constructing)
				g.Open(nil, nil)
				settle(co)
				assert.Equal(t, 1, finished)
				d.has(1, 1, 0)
				assert.Equal(t, []int{1}, ids(d.take(co, 1)...), "nothing is wasted")
			})
		})
	}
}

func TestPool_POOL41_WhatNobodyWaitsForGoesToTheNextWaiter(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error { return passes(co, g) })
		d.open(co)
		vs := d.queued(co, 3)
		require.NoError(t, vs[0].co.Cancel(errReason))
		settle(co)
		g.Open(nil, nil)
		settle(co)
		got(t, vs[1:], 1, 0)
		give(t, co, vs[1].h)
		settle(co)
		got(t, vs[2:], 1)
		assert.Equal(t, []int{1}, d.made)
		give(t, co, vs[2].h)
	})
}

func TestPool_POOL41_AFailureThatNobodyWaitsForIsTold(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call == 1 {
				_ = passes(co, g)
				return errMake
			}
			return nil
		})
		d.open(co)
		v := d.queued(co, 1)[0]
		require.NoError(t, v.co.Cancel(errReason))
		settle(co)
		g.Open(nil, nil)
		settle(co)
		d.wasTold(errMake)
		d.has(0, 0, 0)
		d.works(co)
	})
}

func TestPool_POOL41_CoroutinesOfThePoolAreHidden(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error {
			assert.Contains(t, d.e.S.Coroutines(), co, "in the registry")
			return passes(co, g)
		})
		d.open(co)
		before := d.e.S.Stats()
		d.tries(co)
		settle(co)
		after := d.e.S.Stats()
		assert.Equal(t, before.Active, after.Active, "not active")
		assert.Equal(t, before.Total+1, after.Total)
		assert.Equal(t, 1, d.p.Stats().Constructing)
		g.Open(nil, nil)
		settle(co)
		assert.Equal(t, before.Total, d.e.S.Stats().Total, "and gone")
		d.has(1, 1, 0)
	})
}
