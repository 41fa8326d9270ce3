package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// Reports shall name the line that asked for a future, and not one of the library.
func TestGroup_FUT14_FuturesNameTheLineThatAskedForThem(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g, err := scope.NewGroup[int](co)
			require.NoError(t, err)
			s, err := scope.NewSet[int](co)
			require.NoError(t, err)
			task := func(*scheduler.Coroutine) (int, error) { return 1, nil }
			for _, spawn := range []func(*scheduler.Coroutine, func(*scheduler.Coroutine) (int, error), ...scheduler.WaitOption) (int, error){g.Spawn, s.Spawn} {
				_, err = spawn(co, task)
				require.NoError(t, err)
			}
			for range 2 { // pending, and settled
				race, err := g.Race()
				require.NoError(t, err)
				first, err := g.Any()
				require.NoError(t, err)
				all, rest := g.All(), s.JoinAll()
				for _, at := range []string{race.CreatedAt(), first.CreatedAt(), all.CreatedAt(), rest.CreatedAt()} {
					assert.Regexp(t, `group_created_test\.go:\d+$`, at)
				}
				_, err = all.Await(co)
				require.NoError(t, err)
			}
			return nil
		})
	})
}
