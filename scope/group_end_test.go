package scope_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_CancelEndsWhatRunsAndWhatIsQueued(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co, scope.GroupConfig{Concurrency: 1})
		started := 0
		for range 3 {
			_, err := g.Spawn(co, func(co *groupCo) (string, error) {
				started++
				err := co.Delay(time.Hour)
				_ = co.Protect(func(context.Context) error { return co.Delay(time.Millisecond) })
				return "", err
			})
			require.NoError(t, err)
		}
		waiting, err := co.Spawn(func(co *groupCo) error {
			_, err := g.Spawn(co, gives(0, "", nil))
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.ErrorIs(t, err, errTask)
			assert.False(t, event.IsCancellation(err))
			return nil
		})
		require.NoError(t, err)
		require.ErrorIs(t, g.AwaitCompletion(co), event.ErrUsage)
		require.NoError(t, co.Delay(time.Millisecond))
		require.NoError(t, g.Cancel(errTask))
		require.NoError(t, g.Cancel(nil))
		assert.True(t, g.IsClosed())
		assert.False(t, g.IsFinished())
		assert.Equal(t, 2, g.Stats().Failed)
		require.NoError(t, g.AwaitCompletion(co))
		assert.True(t, g.IsFinished())
		assert.Equal(t, 1, started)
		_, err = co.Await(waiting)
		require.NoError(t, err)
		for _, err := range g.Errors().Values() {
			assert.ErrorIs(t, err, errTask)
			assert.True(t, event.IsCancellation(err))
		}
		_, err = g.Spawn(co, gives(0, "", nil))
		assert.ErrorIs(t, err, event.ErrUsage)
	})
}

func TestGroup_TheEndOfItsScopeClosesIt(t *testing.T) {
	for name, end := range map[string]func(sc *scheduler.Scope) error{
		"cancelled":       func(sc *scheduler.Scope) error { return sc.Cancel(errTask) },
		"disposed":        func(sc *scheduler.Scope) error { return sc.Dispose(errTask) },
		"disposed safely": func(sc *scheduler.Scope) error { return sc.DisposeSafely(nil) },
	} {
		for _, running := range []int{0, 1} {
			t.Run(fmt.Sprint(name, running), func(t *testing.T) {
				inGroup(t, func(co *groupCo) {
					around, err := co.Scope().New()
					require.NoError(t, err)
					g := newTestGroup(t, around, scope.GroupConfig{Concurrency: 1})
					for range 3 * running {
						_, err := g.Spawn(co, gives(2, "", nil))
						require.NoError(t, err)
					}
					delivered := 0
					reader, err := co.Spawn(func(co *groupCo) error {
						for _, err := range g.Outcomes(co) {
							if err != nil {
								return err
							}
							delivered++
						}
						return nil
					})
					require.NoError(t, err)
					ended := 0
					require.NoError(t, g.OnFinally(func(_ *groupCo, g *scope.Group[int, string]) error {
						ended++
						return nil
					}))
					require.NoError(t, co.Delay(time.Millisecond))
					require.NoError(t, end(around))
					assert.True(t, g.IsClosed())
					require.NoError(t, g.AwaitCompletion(co))
					_, err = co.Await(reader)
					require.NoError(t, err)
					assert.Equal(t, 3*running, delivered)
					require.NoError(t, co.Delay(time.Millisecond))
					assert.Equal(t, 1, ended)
				})
			})
		}
	}
}

func TestGroup_ASpawnerThatIsCancelledWithTheGroupMayReturnItsError(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		around, err := co.Scope().New()
		require.NoError(t, err)
		around.SetSafe(false)
		g := newTestGroup(t, around, scope.GroupConfig{Concurrency: 1, QueueLimit: 1})
		spawner, err := around.Spawn(func(co *groupCo) error {
			for {
				if _, err := g.Spawn(co, gives(9, "", nil)); err != nil {
					return err
				}
			}
		})
		require.NoError(t, err)
		require.NoError(t, co.Delay(time.Millisecond))
		require.NoError(t, around.Cancel(errTask))
		require.NoError(t, co.Delay(time.Millisecond))
		assert.True(t, event.IsCancellation(spawner.Error()))
		assert.ErrorIs(t, spawner.Error(), event.ErrClosed)
		assert.ErrorIs(t, spawner.Error(), errTask)
		assert.Equal(t, 2, g.Count())
	})
}

func TestGroup_FinallyComesAfterWhoAwaitsAll(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		_, err := g.Spawn(co, gives(1, "", nil))
		require.NoError(t, err)
		var order []string
		all := g.All()
		_, err = co.Spawn(func(co *groupCo) error {
			_, err := all.Await(co)
			order = append(order, "all")
			return err
		})
		require.NoError(t, err)
		require.NoError(t, g.OnFinally(func(_ *groupCo, g *scope.Group[int, string]) error {
			order = append(order, "finally")
			assert.Equal(t, 1, g.Count())
			return nil
		}))
		require.NoError(t, co.Yield())
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		require.NoError(t, co.Delay(time.Millisecond))
		assert.Equal(t, []string{"all", "finally"}, order)
		require.ErrorIs(t, g.OnFinally(func(self *groupCo, _ *scope.Group[int, string]) error {
			assert.Same(t, co, self)
			return errTask
		}), errTask)
	})
}

func TestGroup_TheTreeDoesNotGrow(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		for i := range 100 {
			g := newTestGroup(t, co)
			_, err := g.Spawn(co, func(co *groupCo) (string, error) {
				if i%10 == 0 { // a coroutine that outlives the group
					_, err := co.Spawn(func(co *groupCo) error {
						if err := co.Delay(time.Millisecond); err != nil {
							return err
						}
						_, err := co.Spawn(func(co *groupCo) error { return co.Delay(time.Millisecond) })
						return err
					})
					return "", err
				}
				return "", errTask
			})
			require.NoError(t, err)
			require.NoError(t, g.Close())
			require.NoError(t, g.AwaitCompletion(co))
			g.SuppressErrors()
		}
		require.NoError(t, co.Delay(20*time.Millisecond))
		children := 0
		for range co.Scope().Children() {
			children++
		}
		assert.Zero(t, children)
	})
}
