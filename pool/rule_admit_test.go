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

// What is asked before an acquisition is admitted may close the pool.
func TestPool_POOL09_ClosedByWhoIsAskedWhetherItRecovers(t *testing.T) {
	for _, full := range []bool{false, true} {
		inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			s := &closer{}
			d.cfg.Strategy = s
			p := d.open(co)
			s.close = func() { p.AsEvent().Dispose() }
			var h handle
			if full {
				h = d.take(co, 1)[0]
			}
			require.NoError(t, p.Deactivate())
			_, err := p.Acquire(co)
			assert.ErrorIs(t, err, event.ErrClosed)
			_, ok, err := p.TryAcquire(co)
			assert.False(t, ok)
			assert.NoError(t, err)
			if full {
				give(t, co, h)
			}
			require.NoError(t, p.AwaitClosed(co))
			stats := p.Stats()
			assert.Zero(t, stats.Waiting)
			assert.Zero(t, stats.CreateFailures)
			assert.Zero(t, stats.Probes)
		})
	}
}

// closer closes the pool when it is asked whether that shall recover, and says yes.
type closer struct{ close func() }

func (c *closer) ReportSuccess(pool.Source)        {}
func (c *closer) ReportFailure(pool.Source, error) {}

func (c *closer) ShouldRecover(pool.Source) bool {
	c.close()
	return true
}

// hasty is a token that fires when it is started, and makes somebody ready after whom it wakes.
type hasty struct {
	event.NopKind
	base  event.Base
	start func()
}

func (h *hasty) StartEvent() error {
	_ = h.base.Notify(nil, errStop)
	h.start()
	return nil
}

func TestPool_CANC23_ATokenThatFiresAsItIsStarted(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		token := &hasty{start: func() { d.e.Spawn(co, cotest.Sleeper(0)) }}
		token.base.Init(token, d.e.W.Count(), event.FlagPeriodic)
		_, err := p.Acquire(co, scheduler.Token(&token.base))
		cotest.IsTokens(t, err, errStop)
		settle(co)
		assert.Zero(t, p.Stats().Constructing, "nobody wants anything")
		d.works(co)
	})
}
