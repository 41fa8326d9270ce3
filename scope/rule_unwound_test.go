package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

// Who has returned did not have to be unwound.
func TestScheduler_SHUT03_WhoHasEndedIsNotNamed(t *testing.T) {
	simulated(t, func(t *testing.T, e *env) {
		var c *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, sleeper(hour))
			c = e.spawn(co, fails(errBoom))
			return co.Delay(hour)
		}, withGrace(-1))
		require.ErrorIs(t, err, errBoom)
		var s *scheduler.ShutdownError
		if assert.ErrorAs(t, err, &s) {
			assert.Len(t, s.Coroutines, 2, "main and the sleeper")
		}
		assert.False(t, c.Cancelled())
	})
}
