package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_With_Discard(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{}
		d.cfg.Strategy = s
		p := d.open(co)
		err := p.With(co, func(*scheduler.Coroutine, *part) error { return pool.Discard(errBoom) })
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, "boom", err.Error())
		assert.Equal(t, []int{1}, d.gone)
		assert.Equal(t, []error{errBoom}, s.errs)
		assert.NoError(t, p.With(co, func(*scheduler.Coroutine, *part) error { return pool.Discard(nil) }))
		assert.Equal(t, []int{1}, d.gone)
		h := d.take(co, 1)[0]
		cotest.IsInvalid(t, h.Discard(co, nil), "pool: Handle.Discard", "reason")
		require.NoError(t, h.Discard(co, errStop))
		cotest.IsUsage(t, h.Release(co), "given back already")
		assert.Equal(t, []error{errBoom, errStop}, s.errs)
	})
}

func TestPool_Use_ReturnsAValue(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		id, err := pool.Use(co, p, func(_ *scheduler.Coroutine, v *part) (int, error) { return v.id, nil })
		assert.NoError(t, err)
		assert.Equal(t, 1, id)
		id, err = pool.Use(co, p, func(_ *scheduler.Coroutine, v *part) (int, error) { return 7, errBoom })
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, 7, id)
		_, err = pool.Use[*part, int](co, p, nil)
		cotest.IsInvalid(t, err, "pool: With", "function")
		h := d.take(co, 1)[0]
		_, err = pool.Use(co, p, func(*scheduler.Coroutine, *part) (int, error) { return 0, nil }, scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		give(t, co, h)
		d.has(1, 1, 0)
	})
}
