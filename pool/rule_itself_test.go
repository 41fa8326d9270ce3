package pool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// A Create that acquires from its own pool for a limited time, and whose own making was taken over by that acquisition.
func TestPool_CANC22_ACreateThatWaitsForItselfIsWokenOnce(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 1)
		slept := hour
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call > 1 {
				return nil
			}
			_, err := d.p.Acquire(co, scheduler.Timeout(2*ms))
			assert.Error(t, err)
			_ = co.Protect(func(context.Context) error {
				from := co.Now()
				err = co.Delay(hour)
				slept = co.Now().Sub(from)
				return nil
			})
			return errMake
		})
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			v := d.visit(co)
			settle(co)
			require.NoError(t, v.co.Cancel(nil))
			settle(co)
			require.NoError(t, d.p.Reset(co))
			require.NoError(t, co.Delay(2*hour))
			return nil
		})
		assert.GreaterOrEqual(t, slept, hour, "a Delay that ended early")
	})
}
