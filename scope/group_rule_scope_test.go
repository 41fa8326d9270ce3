package scope_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG25_TasksRunInAScopeOfTheirOwn(t *testing.T) {
	type key struct{}
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc := scope.New(co)
		require.NoError(t, sc.Values().Set(key{}, "found"))
		owners := map[string]struct {
			owner  scheduler.Scoped
			around *scheduler.Scope
			safe   bool
		}{
			"a coroutine":       {co, co.Scope(), true},
			"a scope":           {sc, sc.Scope(), true},
			"the inner scope":   {sc.Scope(), sc.Scope(), true},
			"one that is not":   {scope.New(co).AsNotSafely(), nil, false},
			"a root":            {scope.NewRoot(co), nil, true},
			"that of coroutine": {scope.Of(co), co.Scope(), true},
		}
		for name, o := range owners {
			g := groupOf(t, o.owner, groupLimit(1, 1))
			s := groupSet(t, o.owner)
			around := o.owner.Scope()
			if o.around != nil {
				assert.Same(t, o.around, around)
			}
			var inside *scheduler.Scope
			look := func(co *scheduler.Coroutine) (int, error) {
				assert.Same(t, around, co.Scope().Parent(), name)
				assert.Equal(t, o.safe, co.Scope().Safe(), name)
				if inside != nil && inside != co.Scope() {
					assert.Fail(t, "tasks of one group are in one scope")
				}
				inside = co.Scope()
				if around == sc.Scope() {
					assert.Equal(t, "found", co.Value(key{}))
				}
				return 0, nil
			}
			for range 3 {
				groupMust(t, co, g, look)
			}
			groupAwait(t, co, g.All())
			inside = nil
			groupMust(t, co, s, look)
			groupAwait(t, co, s.JoinAll())
			require.NoError(t, g.Close())
			require.NoError(t, s.Close())
		}
		for range sc.Scope().Children() {
			assert.Fail(t, "the scopes of groups that have ended are gone")
		}
	})
}

func TestGroup_TG25_AClosedScopeTakesNoGroup(t *testing.T) {
	ends := map[string]func(s *scope.Scope) error{
		"dispose":               (*scope.Scope).Dispose,
		"dispose safely":        (*scope.Scope).DisposeSafely,
		"dispose after timeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
		"cancel":                func(s *scope.Scope) error { return s.Cancel(errStop) },
		"close":                 (*scope.Scope).Close,
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				sc := scope.New(co)
				hold := e.Spawn(sc, cotest.Sleeper(ms))
				cotest.Yields(co, 1)
				below := scope.New(sc)
				require.NoError(t, end(sc))
				for _, owner := range []scheduler.Scoped{sc, sc.Scope(), below, hold} {
					_, err := scope.NewGroup[int](owner)
					cotest.IsUsage(t, err, "NewGroup", "closed")
					_, err = scope.NewKeyedGroup[string, int](owner)
					cotest.IsUsage(t, err, "NewKeyedGroup", "closed")
					_, err = scope.NewSet[int](owner)
					cotest.IsUsage(t, err, "NewSet", "closed")
					_, err = scope.NewKeyedSet[string, int](owner)
					cotest.IsUsage(t, err, "NewKeyedSet", "closed")
				}
				require.NoError(t, sc.Dispose())
			})
		})
	}
}

func TestGroup_TG25_TheEndOfTheScopeIsTheEndOfTheGroup(t *testing.T) {
	ends := map[string]struct {
		end    func(s *scope.Scope) error
		forced bool // the running ones are interrupted
		reason error
	}{
		"cancel, safe":   {func(s *scope.Scope) error { return s.Cancel(errStop) }, false, errStop},
		"cancel, unsafe": {func(s *scope.Scope) error { return s.Cancel(errStop) }, true, errStop},
		"dispose":        {func(s *scope.Scope) error { return s.Dispose() }, true, scope.ErrDisposed},
		"dispose safely": {func(s *scope.Scope) error { return s.DisposeSafely() }, false, nil},
		"close, safe":    {func(s *scope.Scope) error { return s.Close() }, false, nil},
		"close, unsafe":  {func(s *scope.Scope) error { return s.Close() }, true, scope.ErrScopeClosed},
	}
	for name, c := range ends {
		for _, nested := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
					for _, kind := range []string{"group", "set"} {
						around, failures := groupScope(e, co)
						if name == "cancel, unsafe" || name == "close, unsafe" {
							around.AsNotSafely()
						}
						sc := around
						if nested {
							sc = scope.Inherit(around)
						}
						var g groupInts = groupOf(t, sc, groupLimit(2, 1))
						if kind == "set" {
							g = groupSet(t, sc, groupLimit(2, 1))
						}
						holds := groupHolds(e, g, 3)
						cotest.Yields(co, 1)
						groupSpawner(e, co, g, "waits", groupGives(0))
						cotest.Yields(co, 1)
						require.NoError(t, c.end(around))
						groupRefuses(t, co, g)
						cotest.Yields(co, 3)
						assert.Equal(t, c.forced, holds[0].ended)
						assert.Equal(t, c.forced, holds[1].ended)
						if !c.forced {
							assert.False(t, g.IsFinished(), "they run on")
							holds[0].give(0)
							holds[1].fail(errBoom)
						}
						require.NoError(t, g.AwaitCompletion(co))
						cotest.Yields(co, 2)
						assert.False(t, holds[2].begun(), "it was waiting for its turn")
						failed := g.Errors().Map()
						assert.True(t, event.IsCancellation(failed[2]))
						if c.reason != nil {
							cotest.IsCancelled(t, failed[2], c.reason)
						}
						if c.forced {
							cotest.IsCancelled(t, failed[0], c.reason)
							cotest.IsCancelled(t, failed[1], c.reason)
						} else {
							assert.Equal(t, map[int]int{0: 0}, g.Results().Map())
							assert.Equal(t, errBoom, failed[1])
							if len(*failures) > 0 { // by now nobody else could take it
								groupComposite(t, (*failures)[0], errBoom)
							}
						}
						assert.LessOrEqual(t, len(*failures), 1)
						steps := e.Said()
						if assert.Len(t, steps, 1) {
							assert.Contains(t, steps[0], "waits: closed")
						}
						cotest.Yields(co, 3)
						assert.True(t, sc.Scope().Drained())
					}
				})
			})
		}
	}
}

// A group whose scope takes no more is closed. Who waits for a place in it will never get one, and is told.
func TestGroup_TG06_WhoIsInLineWhenTheScopeIsSealed(t *testing.T) {
	for name, end := range map[string]func(s *scope.Scope) error{
		"dispose safely":        (*scope.Scope).DisposeSafely,
		"close":                 (*scope.Scope).Close,
		"dispose after timeout": func(s *scope.Scope) error { return s.DisposeAfterTimeout(hour) },
		"cancel":                func(s *scope.Scope) error { return s.Cancel(errStop) },
	} {
		t.Run(name, func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				sc := scope.New(co)
				g := groupOf(t, sc, groupLimit(1, 1))
				holds := groupHolds(e, g, 2)
				groupSpawner(e, co, g, "spawner", groupGives(0))
				cotest.Yields(co, 2)
				require.NoError(t, end(sc))
				require.True(t, g.IsClosed())
				cotest.Yields(co, 3)
				assert.False(t, holds[0].ended)
				assert.Zero(t, g.Stats().SpawnersWaiting)
				steps := e.Said()
				if assert.Len(t, steps, 1, "it is told at once, not when a task ends") {
					assert.Contains(t, steps[0], "closed")
				}
				require.NoError(t, g.Cancel(nil))
				require.NoError(t, g.AwaitCompletion(co))
			})
		})
	}
}

func TestGroup_TG25_TheTimeLimitOfTheScope(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, _ groupInts) {
		sc := scope.New(co)
		g := groupOf(t, sc, groupLimit(2, 2))
		holds := groupHolds(e, g, 4)
		cotest.Yields(co, 1)
		require.NoError(t, sc.DisposeAfterTimeout(5*ms))
		groupRefuses(t, co, g)
		holds[0].give(3)
		require.NoError(t, g.AwaitCompletion(co))
		assert.Equal(t, map[int]int{0: 3}, g.Results().Map())
		failed := g.Errors().Map()
		cotest.IsCancelled(t, failed[1], scope.ErrTimeLimit)
		assert.True(t, event.IsCancellation(failed[2]), "it could not start any more")
		assert.True(t, event.IsCancellation(failed[3]))
	})
}

func TestGroup_SCOPE31_OneGroupsEndIsNoneOfAnothers(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc := scope.New(co)
		beside := e.Spawn(sc, cotest.Sleeper(3*ms))
		a, b := groupOf(t, sc), groupOf(t, sc)
		holdsA, holdsB := groupHolds(e, a, 2), groupHolds(e, b, 2)
		cotest.Yields(co, 1)
		require.NoError(t, a.Cancel(errStop))
		require.NoError(t, a.AwaitCompletion(co))
		assert.True(t, holdsA[0].ended)
		assert.False(t, holdsB[0].ended)
		assert.False(t, b.IsClosed())
		assert.False(t, sc.IsClosed())
		assert.False(t, sc.IsCancelled())
		groupEnd(holdsB)
		groupAwait(t, co, b.All())
		_, err := co.Await(beside)
		require.NoError(t, err)
		c := groupOf(t, sc)
		groupMust(t, co, c, groupGives(1))
		assert.Equal(t, []int{1}, groupAwait(t, co, c.All()).Values())
	})
}

func TestGroup_SCOPE09_TheScopeAroundWaitsForTasks(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc := scope.New(co)
		g := groupOf(t, sc, groupLimit(1, scope.NoQueueLimit))
		for i := range 5 {
			groupMust(t, co, g, groupSleeps(1, i))
		}
		assert.False(t, sc.IsFinished())
		require.NoError(t, sc.AwaitCompletion(co))
		assert.True(t, g.IsFinished())
		assert.Equal(t, 5, g.Results().Len())
	})
}

func TestGroup_SCOPE33_TheScopeIsKeptByTheGroup(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, set := range []bool{false, true} {
				dropped := func() groupInts {
					if set {
						return groupSet(t, scope.New(co).AsNotSafely())
					}
					return groupOf(t, scope.New(co).AsNotSafely())
				}
				g := dropped()
				hold := groupHolds(e, g, 1)[0]
				cotest.Yields(co, 1)
				cotest.Storm(co)
				assert.NoError(t, hold.err)
				assert.False(t, g.IsClosed())
				hold.give(1)
				cotest.Yields(co, 2)
				cotest.Storm(co)
				key, err := g.Spawn(co, groupGives(2))
				require.NoError(t, err)
				assert.Equal(t, 1, key)
				cotest.Yields(co, 2)
				assert.Equal(t, map[int]int{0: 1, 1: 2}, g.Results().Map())

				// It goes with the group.
				children := func() (n int) {
					for range co.Scope().Children() {
						n++
					}
					return n
				}
				assert.NotZero(t, children())
				runtime.KeepAlive(g)
				g = nil
				cotest.Collect(t, co, func() bool { return children() == 0 })
			}
			return nil
		})
	})
}

// A group that was collected is closed: its tasks run on, all of them, whatever its scope.
func TestGroup_SCOPE33_ACollectedGroupFinishesItsTasks(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			ran := 0
			func() {
				g := groupOf(t, scope.New(co).AsNotSafely(), groupLimit(1, 3))
				for range 4 {
					groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
						for range 10 {
							runtime.GC()
							if err := co.Yield(); err != nil {
								return 0, err
							}
						}
						ran++
						return 0, nil
					})
				}
			}()
			cotest.Collect(t, co, func() bool { return ran == 4 })
			return nil
		})
	})
}

func TestGroup_TG25_GroupsInGroups(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		outer := groupOf(t, co, groupLimit(2, scope.NoQueueLimit))
		for range 6 {
			groupMust(t, co, outer, func(co *scheduler.Coroutine) (int, error) {
				inner, err := scope.NewGroup[int](co, groupLimit(2, 1))
				if err != nil {
					return 0, err
				}
				for i := range 5 {
					if _, err := inner.Spawn(co, groupSleeps(1, i)); err != nil {
						return 0, err
					}
				}
				all, err := inner.All().Await(co)
				sum := 0
				for _, v := range all.Values() {
					sum += v
				}
				return sum, err
			})
		}
		assert.Equal(t, []int{10, 10, 10, 10, 10, 10}, groupAwait(t, co, outer.All()).Values())

		// The end of the outer one reaches the inner.
		var inner *scope.Group[int, int]
		var hold *groupHold
		groupMust(t, co, outer, func(co *scheduler.Coroutine) (int, error) {
			inner = groupOf(t, co)
			hold = groupHolds(e, inner, 1)[0]
			require.NoError(t, inner.Close())
			return 0, inner.AwaitCompletion(co)
		})
		groupUntil(t, co, func() bool { return hold != nil && hold.begun() })
		require.NoError(t, outer.Cancel(errStop))
		require.NoError(t, outer.AwaitCompletion(co))
		cotest.Yields(co, 2)
		cotest.IsCancelled(t, hold.err, errStop)
		assert.True(t, inner.IsFinished())
	})
}

// The run goes on until queued tasks have run, whoever has left.
func TestGroup_TG06_MainReturnsFirst(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ran := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co, groupLimit(2, scope.NoQueueLimit))
			for range 20 {
				groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
					defer func() { ran++ }()
					return groupSleeps(1, 0)(co)
				})
			}
			return nil
		})
		assert.Equal(t, 20, ran)
	})
}

// A shutdown leaves nobody waiting: not the running ones, not the queued ones, not who wants to spawn, awaits or loops.
func TestGroup_CANC18_AShutdownEndsItAll(t *testing.T) {
	for _, kind := range []string{"group", "set"} {
		t.Run(kind, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				var g groupInts
				finally := 0
				var holds []*groupHold
				err := e.Run(func(co *scheduler.Coroutine) error {
					g = groupOf(t, co, groupLimit(1, 1))
					if kind == "set" {
						g = groupSet(t, co, groupLimit(1, 1))
					}
					require.NoError(t, groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error {
						finally++
						assert.True(t, g.IsFinished())
						return nil
					}))
					holds = groupHolds(e, g, 2)
					groupSpawner(e, co, g, "spawner", groupGives(0))
					e.Spawn(co, func(co *scheduler.Coroutine) error {
						for o, err := range groupOutcomes(g, co) {
							_ = o
							if err != nil {
								e.Say("loop: " + groupShort(err))
							}
						}
						return nil
					})
					cotest.Yields(co, 2)
					return e.S.Shutdown(errStop)
				})
				cotest.IsCancelled(t, holds[0].err, errStop)
				assert.False(t, holds[1].begun())
				assert.ErrorIs(t, err, errStop)
				steps := e.Said()
				require.Len(t, steps, 2)
				assert.Contains(t, steps[0]+steps[1], "spawner: ")
				assert.Contains(t, steps[0]+steps[1], "cancelled")
				assert.Equal(t, 1, finally)
			})
		})
	}
}
