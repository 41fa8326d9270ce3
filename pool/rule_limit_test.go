package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_POOL08_AcquireTimeoutBoundsTheWaitsThatHaveNoOther(t *testing.T) {
	inVirtualTime(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		for _, guarded := range []bool{false, true} {
			d.cfg.AcquireTimeout = 5 * ms
			if guarded {
				d.cfg.BeforeAcquire = fine
			}
			p := d.open(co)
			h := d.take(co, 1)[0]
			began := co.Now()
			_, err := p.Acquire(co)
			cotest.IsTimeout(t, err)
			assert.Contains(t, err.Error(), "pool: Acquire")
			assert.Equal(t, 5*ms, co.Now().Sub(began))
			_, err = p.Acquire(co, scheduler.Timeout(8*ms))
			cotest.IsTimeout(t, err)
			assert.Equal(t, 13*ms, co.Now().Sub(began))
			cotest.IsTimeout(t, p.With(co, func(*scheduler.Coroutine, *part) error { return nil }))
			g := d.e.Gate()
			d.e.After(ms, func() { g.Open(nil, errStop) })
			_, err = p.Acquire(co, scheduler.Token(g))
			cotest.IsTokens(t, err, errStop)
			assert.EqualValues(t, 3, p.Stats().TimedOut)
			give(t, co, h)
			require.NoError(t, p.Close(co))
		}
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
