package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// A limit that has nothing left to end hides no deadlock.
func TestScope_DEAD04_ALimitIsOverWhenTheScopeWasDisposed(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error {
				return co.Protect(func(context.Context) error { return cotest.Waiter(e.Gate())(co) })
			})
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeAfterTimeout(hour))
			from := e.W.Now()
			require.NoError(t, s.Dispose())
			err := s.AwaitAfterCancellation(co, nil)
			assert.Less(t, e.W.Now().Sub(from), hour)
			return err
		})
		var d *scheduler.DeadlockError
		assert.ErrorAs(t, err, &d)
	})
}
