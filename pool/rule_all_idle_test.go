package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_AcquireAllIdle_TakesTheIdleWithoutHooks(t *testing.T) {
	inRun(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		s := &recorder{}
		d.cfg.Strategy = s
		d.cfg.BeforeAcquire = func(*scheduler.Coroutine, *part) (bool, error) { panic("no hooks") }
		d.cfg.BeforeRelease = fine
		p := d.open(co)
		hs := d.take(co, 4)
		give(t, co, hs[3], hs[1], hs[0])
		s.steps = nil
		before := p.Stats()
		all, err := p.AcquireAllIdle()
		require.NoError(t, err)
		assert.Equal(t, []int{4, 2, 1}, ids(all...))
		d.has(4, 0, 4)
		none, err := p.AcquireAllIdle()
		require.NoError(t, err)
		assert.Empty(t, none)

		give(t, co, all[1])
		d.has(4, 1, 3)
		require.NoError(t, all[0].Destroy(co))
		_, err = all[2].Hijack()
		require.NoError(t, err)
		assert.Equal(t, []int{4}, d.gone)
		d.has(2, 1, 1)
		assert.Empty(t, s.steps, "the breaker counts none of it")
		assert.Equal(t, before.Probes, p.Stats().Probes)

		require.NoError(t, p.Deactivate())
		all, err = p.AcquireAllIdle()
		require.NoError(t, err)
		assert.Equal(t, []int{2}, ids(all...), "the breaker does not stand in its way")
		give(t, co, all...)
		give(t, co, hs[2])
		require.NoError(t, p.Close(co))
		all, err = p.AcquireAllIdle()
		require.NoError(t, err)
		assert.Empty(t, all)
		cotest.Foreign(func() {
			_, err := p.AcquireAllIdle()
			cotest.IsUsage(t, err, "AcquireAllIdle")
		})
	})
}

func TestPool_AcquireAllIdle_LeavesWhatIsSetAside(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 2)
		v := d.queued(co, 1)[0]
		give(t, co, hs...)
		assert.Equal(t, 1, p.Stats().Reserved)
		all, err := p.AcquireAllIdle()
		require.NoError(t, err)
		assert.Len(t, all, 1)
		settle(co)
		require.NoError(t, v.err)
		d.has(2, 0, 2)

		w := d.visit(co, scheduler.Timeout(time.Minute)) // who comes later waits for them
		settle(co)
		give(t, co, all...)
		settle(co)
		require.NoError(t, w.err)
		assert.ErrorIs(t, all[0].Release(co), event.ErrUsage)
	})
}
