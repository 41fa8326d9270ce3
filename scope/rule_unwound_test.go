package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// Who has returned did not have to be unwound.
func TestScheduler_SHUT03_WhoHasEndedIsNotNamed(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		var c *scheduler.Coroutine
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, cotest.Sleeper(hour))
			c = e.Spawn(co, cotest.Fails(errBoom))
			return co.Delay(hour)
		}, cotest.WithGrace(-1))
		require.ErrorIs(t, err, errBoom)
		var s *scheduler.ShutdownError
		if assert.ErrorAs(t, err, &s) {
			assert.Len(t, s.Coroutines, 2, "main and the sleeper")
		}
		assert.False(t, c.Cancelled())
	})
}
