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

func TestPool_POOL08_Timeout(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		from := co.Now()
		_, err := p.Acquire(co, scheduler.Timeout(10*ms))
		cotest.IsTimeout(t, err)
		var timeout *event.TimeoutError
		require.ErrorAs(t, err, &timeout)
		assert.Equal(t, "pool: Acquire", timeout.Call)
		assert.NotErrorIs(t, err, event.ErrClosed)
		assert.NotErrorIs(t, err, pool.ErrServiceUnavailable)
		assert.GreaterOrEqual(t, co.Now().Sub(from), 10*ms)
		d.has(1, 0, 1)
		assert.Zero(t, p.Stats().Waiting)
		assert.Equal(t, uint64(1), p.Stats().TimedOut)
		give(t, co, h)
		d.works(co)
		assert.Len(t, d.made, 1)
	})
}

func TestPool_POOL08_TheAcquireTimeoutOfThePool(t *testing.T) {
	for _, asks := range []bool{false, true} {
		inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			d.cfg.AcquireTimeout = time.Second
			if asks {
				d.cfg.BeforeAcquire = fine
			}
			p := d.open(co)
			h := d.take(co, 1)[0]
			first := co.Now()
			for _, c := range []struct {
				opts []scheduler.WaitOption
				want time.Duration
			}{
				{nil, time.Second},
				{[]scheduler.WaitOption{scheduler.Timeout(hour)}, hour},
				{[]scheduler.WaitOption{scheduler.Timeout(3 * time.Second)}, 3 * time.Second},
				{[]scheduler.WaitOption{scheduler.Timeout(100 * ms)}, 100 * ms},
				{[]scheduler.WaitOption{scheduler.Token(d.e.Gate())}, time.Second},
			} {
				begin := co.Now()
				_, err := p.Acquire(co, c.opts...)
				cotest.IsTimeout(t, err)
				assert.Contains(t, err.Error(), "pool: Acquire")
				assert.Equal(t, c.want, co.Now().Sub(begin), "one's own comes before that of the configuration")
				begin = co.Now()
				cotest.IsTimeout(t, p.With(co, func(*scheduler.Coroutine, *part) error { return nil }, c.opts...))
				assert.Equal(t, c.want, co.Now().Sub(begin))
			}
			assert.EqualValues(t, 10, p.Stats().TimedOut)
			assert.Equal(t, co.Now().Sub(first), p.Stats().Waited)
			g := d.e.Gate()
			d.e.After(ms, func() { g.Open(nil, errStop) })
			_, err := p.Acquire(co, scheduler.Token(g))
			cotest.IsTokens(t, err, errStop)
			assert.EqualValues(t, 10, p.Stats().TimedOut)
			give(t, co, h)
			pause(t, co, 2*time.Second)
			d.works(co)
		})
	}
}

func TestPool_POOL08_WithoutOneItWaitsForEver(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.open(co)
		h := d.take(co, 1)[0]
		v := d.visit(co)
		require.NoError(t, co.Delay(10000*hour))
		assert.False(t, v.over)
		give(t, co, h)
		join(t, co, v)
		got(t, []*visit{v}, 1)
		give(t, co, v.h)
	})
}

func TestPool_POOL08_TheOthersKeepTheirPlaces(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		h := d.take(co, 1)[0]
		vs := d.queued(co, 2)
		hasty := d.queued(co, 2, scheduler.Timeout(2*ms))
		vs = append(vs, d.queued(co, 1)...)
		join(t, co, hasty...)
		for _, v := range hasty {
			cotest.IsTimeout(t, v.err)
		}
		assert.Equal(t, 3, p.Stats().Waiting)
		for _, v := range vs {
			give(t, co, h)
			join(t, co, v)
			h = v.h
		}
		got(t, vs, 1, 1, 1)
		give(t, co, h)
	})
}

func TestPool_POOL08_BoundsTheMaking(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		g := d.e.Gate()
		d.creates(func(co *scheduler.Coroutine, _ int) error { return passes(co, g) })
		p := d.open(co)
		_, err := p.Acquire(co, scheduler.Timeout(5*ms))
		cotest.IsTimeout(t, err)
		d.has(1, 0, 1)
		assert.Equal(t, 1, p.Stats().Constructing)
		g.Open(nil, nil)
		settle(co)
		d.has(1, 1, 0)
		h, ok := d.tries(co)
		assert.True(t, ok)
		assert.Equal(t, 1, h.Value().id, "nothing was wasted")
		give(t, co, h)
	})
}

func TestPool_POOL08_ATimeoutBoundsBeforeAcquireToo(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { return true, co.Delay(hour) }
		p := d.open(co)
		d.stock(co, 1)
		began := co.Now()
		_, err := p.Acquire(co, scheduler.Timeout(5*ms))
		cotest.IsTimeout(t, err)
		var late *event.TimeoutError
		require.ErrorAs(t, err, &late)
		assert.Equal(t, event.TimeoutError{Call: "pool: Acquire", Limit: 5 * ms}, *late)
		assert.Equal(t, 5*ms, co.Now().Sub(began))
		assert.Equal(t, []int{1}, d.gone, "nobody knows what the hook has left of it")
		d.has(0, 0, 0)
	})
}

func TestPool_POOL41_ABeforeAcquireThatIgnoresItsTimeLimitStillGives(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = func(co *scheduler.Coroutine, _ *part) (bool, error) { _ = co.Delay(hour); return true, nil }
		p := d.open(co)
		d.stock(co, 1)
		h, err := p.Acquire(co, scheduler.Timeout(time.Second))
		require.NoError(t, err, "neither lost nor failed after its success (GEN-03)")
		d.has(1, 0, 1)
		give(t, co, h)
	})
}

func TestPool_POOL05_ATimeoutOfCreateIsNotOneOfTheAcquire(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.BeforeAcquire = fine
		dial := &event.TimeoutError{Call: "dial", Limit: ms}
		d.creates(func(*scheduler.Coroutine, int) error { return dial })
		p := d.open(co)
		_, err := p.Acquire(co, scheduler.Timeout(hour))
		isOfHook(t, err, "Create", dial)
	})
}
