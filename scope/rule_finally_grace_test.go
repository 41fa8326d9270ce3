package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// Every finally handler runs, also without a grace.
func TestScope_SHUT01_SCOPE22_FinallyHandlersThatAreQueuedWithoutAGrace(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			for range 2 {
				require.NoError(t, scope.New(s).OnFinally(func(*scheduler.Coroutine, *scope.Scope) error {
					e.Say("finally")
					return errBoom
				}))
			}
			require.NoError(t, s.Close())
			return co.Delay(ms)
		}, cotest.WithGrace(-1))
		require.ErrorIs(t, err, errBoom)
		assert.Len(t, e.Said(), 2)
	})
}
