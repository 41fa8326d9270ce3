package pool_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_AwaitClosed_WaitsForTheLastResource(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 2)
		closed := false
		early := d.e.Spawn(co, func(co *scheduler.Coroutine) error { // before Close was called
			err := p.AwaitClosed(co)
			closed = true
			return err
		})
		cotest.IsTimeout(t, p.AwaitClosed(co, scheduler.Timeout(time.Millisecond)))
		g := d.e.Gate()
		d.e.After(time.Millisecond, func() { g.Open(nil, errReason) })
		cotest.IsTokens(t, p.AwaitClosed(co, scheduler.Token(g)), errReason)
		cancelled := d.e.Spawn(co, func(co *scheduler.Coroutine) error { return p.AwaitClosed(co) })
		settle(co)
		require.NoError(t, cancelled.Cancel(errReason))
		_, err := co.Await(cancelled)
		cotest.IsCancelled(t, err, errReason)

		give(t, co, hs[0])
		require.NoError(t, p.Close(co))
		settle(co)
		assert.False(t, closed, "one is out")
		cotest.IsTimeout(t, p.AwaitClosed(co, scheduler.Timeout(time.Millisecond)))
		give(t, co, hs[1])
		assert.Equal(t, []int{1, 2}, d.gone)
		_, err = co.Await(early)
		require.NoError(t, err)
		require.NoError(t, p.AwaitClosed(co))
		require.NoError(t, p.AwaitClosed(co, scheduler.Timeout(time.Hour)))
		var invalid *event.InvalidArgumentError
		assert.ErrorAs(t, p.AwaitClosed(co, scheduler.Timeout(-1)), &invalid)
	})
}

func TestPool_AwaitClosed_OfAPoolThatHasNothing(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 2)
			p := d.open(co)
			v := e.Spawn(co, func(co *scheduler.Coroutine) error { return p.AwaitClosed(co) })
			settle(co)
			require.NoError(t, p.Close(co))
			_, err := co.Await(v)
			require.NoError(t, err)
			return errors.Join(p.AwaitClosed(co), p.Close(co))
		})
	})
}
