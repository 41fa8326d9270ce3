package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// With SpawnLines, "started" is the line of the user.
func TestScope_CORO11_SpawnLinesAreThoseOfTheUser(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			where := map[string]string{}
			_, err := scope.New(co).Spawn(func(co *scheduler.Coroutine) error { where["scope"] = co.SpawnLocation(); return nil })
			require.NoError(t, err)
			task := func(of string) func(co *scheduler.Coroutine) (int, error) {
				return func(co *scheduler.Coroutine) (int, error) { where[of] = co.SpawnLocation(); return 0, nil }
			}
			g := groupOf(t, co)
			_, err = g.Spawn(co, task("group"))
			require.NoError(t, err)
			s := groupSet(t, co)
			_, err = s.TrySpawn(task("set"))
			require.NoError(t, err)
			require.NoError(t, co.Delay(ms))
			for _, of := range []string{"scope", "group", "set"} {
				assert.Contains(t, where[of], "_test.go", of)
			}
			return nil
		}, func(o *scheduler.Options) { o.SpawnLines = true })
	})
}
