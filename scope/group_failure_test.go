package scope_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// failing spawns so many tasks that fail, and waits for their ends.
func failing(t *testing.T, co *groupCo, g *scope.Group[int, string], n int) {
	for range n {
		_, err := g.Spawn(co, gives(0, "", errTask))
		require.NoError(t, err)
	}
	for !g.IsFinished() {
		require.NoError(t, co.Yield())
	}
}

func failuresIn(t *testing.T, err error) int {
	t.Helper()
	var several *event.CompositeError
	if !assert.ErrorAs(t, err, &several) {
		return 0
	}
	return len(several.Errors)
}

func TestGroup_UnhandledFailuresReachItsScopeWhenThatCompletes(t *testing.T) {
	var got []error
	inGroup(t, func(co *groupCo) {
		around, err := co.Scope().New()
		require.NoError(t, err)
		around.OnError(func(_ *scheduler.Scope, _ *groupCo, err error) error {
			got = append(got, err)
			return nil
		})
		g := newTestGroup(t, around)
		failing(t, co, g, 2)
		g.SuppressErrors()
		failing(t, co, g, 3)
		race, err := g.Race() // takes that of the first, which was dealt with
		require.NoError(t, err)
		assert.ErrorIs(t, race.Err(), errTask)
		assert.Equal(t, 3, g.Stats().Unhandled)
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		assert.Empty(t, got)
		require.NoError(t, around.Cancel(nil))
		require.Len(t, got, 1)
		assert.Equal(t, 3, failuresIn(t, got[0]))
		assert.Zero(t, g.Stats().Unhandled)
		runtime.KeepAlive(g)
	})
	assert.Len(t, got, 1)
}

func TestGroup_UnhandledFailuresEndTheRun(t *testing.T) {
	err := groupRun(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		failing(t, co, g, 1)
		runtime.KeepAlive(g)
	})
	assert.Equal(t, 1, failuresIn(t, err))
}

func TestGroup_ThatIsCollectedReportsWhatNobodyTook(t *testing.T) {
	for _, closed := range []bool{false, true} {
		var got []error
		ended := 0
		inGroup(t, func(co *groupCo) {
			around, err := co.Scope().New()
			require.NoError(t, err)
			around.OnError(func(_ *scheduler.Scope, _ *groupCo, err error) error {
				got = append(got, err)
				return nil
			})
			func() {
				g := newTestGroup(t, around)
				failing(t, co, g, 2)
				_, err := g.Spawn(co, func(co *groupCo) (string, error) {
					err := co.Delay(time.Millisecond)
					ended++
					return "", err
				})
				require.NoError(t, err)
				if closed {
					require.NoError(t, g.Close())
				}
			}()
			cotest.Collect(t, co, func() bool { return len(got) > 0 })
			require.Len(t, got, 1)
			assert.Equal(t, 2, failuresIn(t, got[0]))
			assert.Equal(t, 1, ended)
			for range around.Children() {
				assert.Fail(t, "its scope is left")
			}
		})
	}
}

func TestGroup_ThatIsCollectedLetsItsFinallyHandlersTakeFailures(t *testing.T) {
	ended := 0
	inGroup(t, func(co *groupCo) {
		func() {
			g := newTestGroup(t, co)
			failing(t, co, g, 2)
			require.NoError(t, g.OnFinally(func(self *groupCo, g *scope.Group[int, string]) error {
				ended = g.Errors().Len()
				return self.Delay(time.Millisecond)
			}))
		}()
		cotest.Collect(t, co, func() bool { return ended > 0 })
	})
	assert.Equal(t, 2, ended)
}

func TestGroup_FuturesOutliveIt(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		_, err := g.Spawn(co, gives(5, "a", nil))
		require.NoError(t, err)
		all := g.All()
		g = nil
		for range 3 {
			runtime.GC()
			require.NoError(t, co.Delay(time.Millisecond))
		}
		values, err := all.Await(co)
		require.NoError(t, err)
		assert.Equal(t, []string{"a"}, values.Values())
	})
}

func TestGroup_APanicOfASubscriberKeepsNobodyWaiting(t *testing.T) {
	told := 0
	err := groupRun(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		_, err := g.Spawn(co, gives(1, "a", nil))
		require.NoError(t, err)
		for i := range 3 {
			all := g.All()
			require.NoError(t, all.AsEvent().AddCallback(event.NewCallback(func(*event.Base, *event.Callback, any, error) {
				told++
				if i < 2 {
					panic("from a subscriber")
				}
			}, nil)))
		}
		require.NoError(t, g.OnFinally(func(*groupCo, *scope.Group[int, string]) error { told++; return nil }))
		require.NoError(t, g.Close())
		_ = co.Delay(time.Hour)
		assert.True(t, g.IsFinished())
	})
	assert.ErrorContains(t, err, "from a subscriber")
	assert.Equal(t, 4, told)
}

func TestGroup_RefusesMisuse(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		_, err := scope.NewGroup[int](nil)
		assert.ErrorIs(t, err, event.ErrUsage)
		_, err = scope.NewGroup[int]((*groupCo)(nil))
		assert.ErrorIs(t, err, event.ErrUsage)
		_, err = scope.NewGroup[int](co, scope.GroupConfig{Concurrency: -1})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = scope.NewGroup[int](co, scope.GroupConfig{QueueLimit: -1})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = scope.NewGroup[int](co, scope.GroupConfig{}, scope.GroupConfig{})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		sealed, err := co.Scope().New()
		require.NoError(t, err)
		require.NoError(t, sealed.Dispose(nil))
		_, err = scope.NewGroup[int](sealed)
		assert.ErrorIs(t, err, event.ErrUsage)

		var none *scope.Group[int, string]
		_, err = none.Spawn(co, gives(0, "", nil))
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.ErrorIs(t, none.Close(), event.ErrUsage)
		assert.ErrorIs(t, none.AwaitCompletion(co), event.ErrUsage)
		assert.Panics(t, func() { none.Count() })
		assert.Nil(t, none.AsEvent())
		for _, err := range none.Outcomes(co) {
			assert.ErrorIs(t, err, event.ErrUsage)
		}
		g := newTestGroup(t, co)
		_, err = g.Spawn(co, nil)
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = g.Spawn(nil, gives(0, "", nil))
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.ErrorIs(t, g.OnFinally(nil), event.ErrInvalidArgument)
		_, err = g.Spawn(co, func(co *groupCo) (string, error) {
			assert.ErrorIs(t, g.AwaitCompletion(co), event.ErrUsage)
			return "", nil
		})
		require.NoError(t, err)
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))

		done := make(chan struct{})
		go func() {
			defer close(done)
			assert.ErrorIs(t, g.Close(), event.ErrUsage)
			_, err := g.TrySpawn(gives(0, "", nil))
			assert.ErrorIs(t, err, event.ErrUsage)
			assert.Panics(t, func() { g.All() })
		}()
		<-done
	})
}

func TestGroup_HappensAsAnEvent(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		_, err := g.Spawn(co, gives(1, "", nil))
		require.NoError(t, err)
		_, err = co.Spawn(func(co *groupCo) error {
			if err := co.Delay(5 * time.Millisecond); err != nil {
				return err
			}
			return g.Close()
		})
		require.NoError(t, err)
		_, err = co.Await(g)
		require.NoError(t, err)
		_, err = co.Await(g)
		require.NoError(t, err)
		assert.Contains(t, g.Info(), "group, 1 succeeded, closed")
	})
}
