package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// A task that waits for its own group would wait for itself, in whatever way it waits.
func TestGroup_SCOPE12_ATaskCannotWaitForItsGroup(t *testing.T) {
	waits := map[string]func(co *scheduler.Coroutine, ev event.Event) error{
		"Await": func(co *scheduler.Coroutine, ev event.Event) error { _, err := co.Await(ev); return err },
		"AwaitFirst": func(co *scheduler.Coroutine, ev event.Event) error {
			_, _, err := co.AwaitFirst([]event.Event{ev})
			return err
		},
		"Token": func(co *scheduler.Coroutine, ev event.Event) error {
			_, err := co.Await(scope.Main(co).Scope().Left(), scheduler.Token(ev))
			return err
		},
		"AwaitAll": func(co *scheduler.Coroutine, ev event.Event) error {
			_, _, err := future.AwaitAll(co, future.Events(ev))
			return err
		},
	}
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g, err := scope.NewGroup[int](co)
			require.NoError(t, err)
			s, err := scope.NewSet[int](co)
			require.NoError(t, err)
			for name, wait := range waits {
				_, err := g.Spawn(co, func(co *scheduler.Coroutine) (int, error) {
					assert.ErrorIs(t, wait(co, g), event.ErrUsage, name)
					return 0, nil
				})
				require.NoError(t, err)
				_, err = s.Spawn(co, func(co *scheduler.Coroutine) (int, error) {
					assert.ErrorIs(t, wait(co, s), event.ErrUsage, name)
					return 0, nil
				})
				require.NoError(t, err)
			}
			require.NoError(t, g.Close())
			require.NoError(t, s.Close())
			require.NoError(t, g.AwaitCompletion(co))
			_, err = co.Await(s)
			return err
		})
	})
}
