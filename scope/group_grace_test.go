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

// The handlers of a group run like those of scopes and coroutines when it ends after the grace.
func TestGroup_TG19_FinallyAfterTheGrace(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g, s := groupOf(t, co), scope.New(co)
			body := func(co *scheduler.Coroutine) error {
				return co.Protect(func(context.Context) error { return co.Delay(hour) })
			}
			_, err := g.Spawn(co, func(co *scheduler.Coroutine) (int, error) { return 0, body(co) })
			require.NoError(t, err)
			e.Spawn(s, body)
			require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { e.Say("group"); return nil }))
			require.NoError(t, s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { e.Say("scope"); return nil }))
			require.NoError(t, g.Close())
			require.NoError(t, co.Yield())
			return errBoom
		}, cotest.WithGrace(5*ms))
		require.ErrorIs(t, err, errBoom)
		assert.ElementsMatch(t, []string{"group", "scope"}, e.Said())
	})
}
