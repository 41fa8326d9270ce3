package scope_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG07_AllHasTheResultsByKey(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[string, int](co)
		require.NoError(t, err)
		for i, key := range []string{"slow", "quick", "at once"} {
			require.NoError(t, g.SpawnKey(co, key, groupSleeps(2-i, i)))
		}
		before := g.All()
		assert.False(t, before.Completed())
		all := groupAwait(t, co, before)
		assert.Equal(t, []string{"slow", "quick", "at once"}, all.Keys(), "in the order of the spawns")
		assert.Equal(t, []int{0, 1, 2}, all.Values())
		assert.True(t, g.IsFinished(), "it waits for all")
		assert.False(t, g.IsClosed())
	})
}

func TestGroup_TG07_AnyFailureIsThatOfAllInTheOrderOfTheKeys(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 4)
		all := g.All()
		holds[3].fail(errBoom)
		cotest.Yields(co, 2)
		assert.False(t, all.Completed(), "the others are not done")
		holds[1].fail(errOther)
		holds[2].give(2)
		cotest.Yields(co, 2)
		holds[0].give(0)
		values, err := all.Await(co)
		groupComposite(t, err, errOther, errBoom)
		assert.Zero(t, values.Len())
		assert.Zero(t, g.Stats().Unhandled)
	})
}

func TestGroup_TG07_OneFailureIsACompositeToo(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		groupMust(t, co, g, groupFails[int](errBoom))
		_, err := g.All().Await(co)
		groupComposite(t, err, errBoom)
	})
}

func TestGroup_TG07_IgnoreErrorsGivesTheSuccesses(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		for _, at := range []string{"pending", "settled"} {
			g := groupOf(t, co, scope.GroupConfig{IgnoreErrors: true})
			for i := range 6 {
				if i%2 == 0 {
					groupMust(t, co, g, groupFails[int](errBoom))
				} else {
					groupMust(t, co, g, groupGives(i))
				}
			}
			if at == "settled" {
				cotest.Yields(co, 2)
				assert.Equal(t, 3, g.Stats().Unhandled)
			}
			all := groupAwait(t, co, g.All())
			assert.Equal(t, []int{1, 3, 5}, all.Keys())
			assert.Equal(t, []int{1, 3, 5}, all.Values())
			assert.Zero(t, g.Stats().Unhandled)

			only := groupOf(t, co, scope.GroupConfig{IgnoreErrors: true})
			groupMust(t, co, only, groupFails[int](errBoom))
			assert.Zero(t, groupAwait(t, co, only.All()).Len())
		}
	})
}

func TestGroup_TG07_ACancelledTaskIsAFailureOfAll(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(1, 1))
		groupHolds(e, g, 2)
		all := g.All()
		cotest.Yields(co, 1)
		require.NoError(t, g.Cancel(errStop))
		_, err := all.Await(co)
		groupComposite(t, err, errStop, errStop)
		assert.True(t, event.IsCancellation(err), "it is no failure that must be dealt with (CANC-19)")
	})
}

func TestGroup_TG08_AllOfAnEmptyOrSettledGroupIsSettled(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		empty := g.All()
		assert.True(t, empty.Completed())
		assert.Zero(t, groupAwait(t, co, empty).Len())

		groupMust(t, co, g, groupGives(1))
		first := g.All()
		assert.False(t, first.Completed())
		cotest.Yields(co, 2)
		for range 3 {
			again := g.All()
			assert.True(t, again.Completed())
			assert.Equal(t, []int{1}, groupAwait(t, co, again).Values())
		}
		assert.Equal(t, []int{1}, groupAwait(t, co, first).Values())

		groupMust(t, co, g, groupFails[int](errBoom))
		second := g.All()
		assert.False(t, second.Completed(), "the group was settled for the time being")
		assert.Equal(t, []int{1}, groupAwait(t, co, first).Values(), "that stays")
		_, err := second.Await(co)
		groupComposite(t, err, errBoom)
		rejected := g.All()
		assert.True(t, rejected.Completed())
		_, err = rejected.Await(co)
		groupComposite(t, err, errBoom)
		require.NoError(t, g.Close())
		_, err = g.All().Await(co)
		groupComposite(t, err, errBoom)
	})
}

func TestGroup_TG08_TasksThatComeWhileAllIsPendingBelongToIt(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(1, 1))
		holds := groupHolds(e, g, 2)
		all := g.All()
		groupSpawner(e, co, g, "late", groupGives(7))
		cotest.Yields(co, 1)
		groupEnd(holds)
		assert.Equal(t, map[int]int{0: 0, 1: 1, 2: 7}, groupAwait(t, co, all).Map())
	})
}

func TestGroup_TG08_CancellingTheFutureCancelsNoTask(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 1)
		first, second := g.All(), g.All()
		race, any := groupFirst(t, g.Race), groupFirst(t, g.Any)
		cotest.Yields(co, 1)
		require.NoError(t, first.Cancel(errStop))
		require.NoError(t, race.Dispose())
		require.NoError(t, any.Cancel(nil))
		cotest.Yields(co, 1)
		assert.NoError(t, holds[0].err)
		groupStats(t, g, 0, 1, 0, 0, 0)
		holds[0].give(4)
		assert.Equal(t, []int{4}, groupAwait(t, co, second).Values())
		_, err := first.Await(co)
		cotest.IsCancelled(t, err, errStop)
		assert.Equal(t, 4, groupAwait(t, co, groupFirst(t, g.Race)))
	})
}

// GEN-10: who is told that all has ended may use the group.
func TestGroup_GEN10_SubscribersOfAllUseTheGroup(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		groupMust(t, co, g, groupGives(1))
		var again *future.Future[future.Keyed[int, int]]
		first, second := g.All(), g.All()
		_, err := first.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
			groupStats(t, g, 0, 0, 1, 0, 0)
			assert.True(t, g.IsFinished())
			_, err := g.TrySpawn(groupGives(2))
			assert.NoError(t, err)
			again = g.All()
			assert.False(t, again.Completed())
			require.NoError(t, g.Close())
		})
		require.NoError(t, err)
		assert.Equal(t, []int{1}, groupAwait(t, co, second).Values(), "what there was when it settled")
		assert.Equal(t, []int{1, 2}, groupAwait(t, co, again).Values())
		require.NoError(t, g.AwaitCompletion(co))
	})
}

// Who was promised a place is waited for, and nobody is left waiting when it leaves: neither who awaits all, nor a success, nor the
// end. What happens in between is a microtask that the last task leaves.
func TestGroup_GEN05_TheLastWhoWasPromisedAPlaceLeaves(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(1, 1))
		hold := groupHolds(e, g, 1)[0]
		var spawner *scheduler.Coroutine
		all, any := g.All(), groupFirst(t, g.Any)
		between := false
		groupMust(t, co, g, func(*scheduler.Coroutine) (int, error) {
			return 0, errors.Join(errBoom, e.S.Microtask(func() error {
				between = true
				groupStats(t, g, 0, 0, 0, 2, 1)
				assert.False(t, all.Completed())
				assert.False(t, any.Completed())
				assert.NoError(t, spawner.Cancel(errStop))
				assert.True(t, g.IsFinished())
				assert.True(t, all.Completed())
				assert.True(t, any.Completed())
				return nil
			}))
		})
		spawner = groupSpawner(e, co, g, "spawner", groupGives(0))
		cotest.Yields(co, 1)
		hold.fail(errOther)
		cotest.Yields(co, 4)
		require.True(t, between)
		groupSaid(e, "spawner: cancelled stop")
		_, err := all.Await(co)
		groupComposite(t, err, errOther, errBoom)
		_, err = any.Await(co)
		groupComposite(t, err, errOther, errBoom)
	})
}

// A subscriber that panics ends the run; the others are told.
func TestGroup_GEN10_ASubscriberPanics(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co)
			groupMust(t, co, g, groupGives(1))
			for i := range 3 {
				_, err := g.All().AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
					e.Say(fmt.Sprint("all ", i))
					panic(errBoom)
				})
				require.NoError(t, err)
				_, err = groupFirst(t, g.Race).AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
					e.Say(fmt.Sprint("race ", i))
					if i == 0 {
						panic(errOther)
					}
				})
				require.NoError(t, err)
			}
			require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { e.Say("finally"); return nil }))
			require.NoError(t, g.Close())
			for range 5 {
				_ = co.Yield()
			}
			groupStats(t, g, 0, 0, 1, 0, 0)
			assert.True(t, g.IsFinished())
			return nil
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ElementsMatch(t, []string{"race 0", "race 1", "race 2", "all 0", "all 1", "all 2", "finally"}, e.Said())
	})
}

func TestGroup_TG13_CountResultsAndErrorsOfTheMoment(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(2, 2))
		assert.Zero(t, g.Count())
		assert.Zero(t, g.Results().Len())
		assert.Zero(t, g.Errors().Len())
		assert.Equal(t, scope.GroupStats{}, g.Stats())
		holds := groupHolds(e, g, 4)
		groupStats(t, g, 2, 2, 0, 0, 0)
		assert.Equal(t, 4, g.Count())
		groupSpawner(e, co, g, "waits", groupGives(9))
		cotest.Yields(co, 1)
		assert.Equal(t, 4, g.Count(), "who waits is no task")
		groupStats(t, g, 2, 2, 0, 0, 1)

		holds[1].give(1)
		groupUntil(t, co, holds[2].begun)
		cotest.Yields(co, 2)
		assert.Equal(t, map[int]int{1: 1}, g.Results().Map())
		groupStats(t, g, 2, 2, 1, 0, 0)
		assert.Equal(t, 5, g.Count())

		holds[2].fail(errBoom)
		cotest.Yields(co, 3)
		holds[0].give(0)
		cotest.Yields(co, 3)
		assert.Equal(t, []int{0, 1, 4}, g.Results().Keys())
		assert.Equal(t, []int{0, 1, 9}, g.Results().Values())
		assert.Equal(t, 1, g.Stats().Unhandled)
		assert.Equal(t, map[int]error{2: errBoom}, g.Errors().Map())
		groupStats(t, g, 0, 1, 3, 1, 0)
		holds[3].give(3)
		cotest.Yields(co, 2)
		assert.Equal(t, 5, g.Count())
		groupSaid(e, "waits: 4")
	})
}

func TestGroup_TG13_WhoAsksForErrorsDealsWithThoseThatThereAre(t *testing.T) {
	asks := map[string]func(g groupInts){
		"errors":   func(g groupInts) { g.Errors() },
		"suppress": func(g groupInts) { g.SuppressErrors() },
	}
	for name, ask := range asks {
		for _, kind := range []string{"group", "set"} {
			t.Run(name+" of a "+kind, func(t *testing.T) {
				groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
					sc, failures := groupScope(e, co)
					var g groupInts = groupOf(t, sc)
					if kind == "set" {
						g = groupSet(t, sc)
					}
					ask(g)
					groupMust(t, co, g, groupFails[int](errBoom))
					groupMust(t, co, g, groupFails[int](errStop))
					cotest.Yields(co, 2)
					assert.Equal(t, 2, g.Stats().Unhandled)
					ask(g)
					assert.Zero(t, g.Stats().Unhandled)
					assert.Equal(t, 2, g.Stats().Failed)
					groupMust(t, co, g, groupFails[int](errOther))
					cotest.Yields(co, 2)
					assert.Equal(t, 1, g.Stats().Unhandled)
					require.NoError(t, g.Close())
					require.NoError(t, sc.Dispose())
					cotest.Yields(co, 3)
					require.Len(t, *failures, 1)
					groupComposite(t, (*failures)[0], errOther)
					assert.NotErrorIs(t, (*failures)[0], errBoom)
					assert.NotErrorIs(t, (*failures)[0], errStop)
				})
			})
		}
	}
}

func TestGroup_TG13_SomeOtherUsesDealWithNothing(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, groupFails[int](errBoom))
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		g.Results()
		g.Stats()
		_ = g.Info()
		_, _ = co.Await(g)
		require.NoError(t, g.Dispose())
		assert.Equal(t, 1, g.Stats().Unhandled)
		g.SuppressErrors()
	})
}

func TestGroup_TG14_FinishedForTheTimeBeing(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		assert.True(t, g.IsFinished(), "it is empty")
		for range 3 {
			holds := groupHolds(e, g, 2)
			assert.False(t, g.IsFinished())
			holds[0].give(0)
			groupUntil(t, co, holds[1].begun)
			assert.False(t, g.IsFinished())
			holds[1].give(0)
			cotest.Yields(co, 2)
			assert.True(t, g.IsFinished())
			assert.False(t, g.IsClosed())
		}
	})
}

// TG-14 at every instant, whoever waits. Who was promised a place is about to use it: that is the only reason for a group not to
// be finished with nothing queued or running.
func TestGroup_TG14_FinishedIsNothingQueuedOrRunning(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		looks := 0
		look := func() {
			looks++
			st := g.Stats()
			if st.Queued+st.Running > 0 {
				assert.False(t, g.IsFinished(), "%+v", st)
			} else if st.SpawnersWaiting == 0 {
				assert.True(t, g.IsFinished(), "%+v", st)
			}
		}
		for range 30 {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, err := g.Spawn(co, func(*scheduler.Coroutine) (int, error) {
					look()
					_ = e.S.Microtask(func() error { look(); return nil })
					return 0, nil
				})
				look()
				return err
			})
		}
		for range 100 {
			cotest.Yields(co, 1)
			look()
		}
		assert.Greater(t, looks, 150)
	})
}

func TestGroup_EVT16_ItDescribesItself(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, s := groupOf(t, co, groupLimit(2, 3)), groupSet(t, co)
		assert.Contains(t, g.Info(), "group")
		assert.Contains(t, s.Info(), "set")
		holds := groupHolds(e, g, 5)
		groupSpawner(e, co, g, "", groupGives(0))
		cotest.Yields(co, 1)
		for _, words := range []string{"2 running", "3 queued", "1 waiting to spawn"} {
			assert.Contains(t, g.Info(), words)
		}
		holds[0].fail(errBoom)
		groupEnd(holds)
		cotest.Yields(co, 10)
		for _, words := range []string{"5 succeeded", "1 failed"} {
			assert.Contains(t, g.Info(), words)
		}
		for _, words := range []string{"running", "queued", "waiting", "closed"} {
			assert.NotContains(t, g.Info(), words)
		}
		g.SuppressErrors()
	})
}

// groupTyped runs tasks with results of one type through everything that gives results.
func groupTyped[T any](t *testing.T, co *scheduler.Coroutine, a, b T) {
	t.Helper()
	g, err := scope.NewGroup[T](co)
	require.NoError(t, err)
	groupMust(t, co, g, groupGives(a))
	groupMust(t, co, g, groupGives(b))
	groupMust(t, co, g, func(*scheduler.Coroutine) (T, error) { return b, errBoom })
	pending := groupFirst(t, g.Race)
	require.NoError(t, g.Close())
	assert.Equal(t, a, groupAwait(t, co, pending))
	require.NoError(t, g.AwaitCompletion(co))
	assert.Equal(t, a, groupAwait(t, co, groupFirst(t, g.Race)))
	assert.Equal(t, a, groupAwait(t, co, groupFirst(t, g.Any)))
	assert.Equal(t, []T{a, b}, g.Results().Values())
	i := 0
	for o, err := range g.Outcomes(co) {
		require.NoError(t, err)
		var zero T
		assert.Equal(t, []T{a, b, zero}[i], o.Value, "with an error, there is no value")
		assert.Equal(t, []error{nil, nil, errBoom}[i], o.Err)
		i++
	}
	assert.Equal(t, 3, i)

	s, err := scope.NewSet[T](co)
	require.NoError(t, err)
	groupMust(t, co, s, groupGives(b))
	groupMust(t, co, s, groupGives(a))
	assert.Equal(t, b, groupAwait(t, co, groupFirst(t, s.JoinNext)))
	assert.Equal(t, []T{a}, groupAwait(t, co, s.JoinAll()).Values())
}

func TestGroup_TG07_ResultsOfSeveralTypes(t *testing.T) {
	type pair struct {
		name string
		n    *int
	}
	n := 7
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		groupTyped(t, co, pair{"a", &n}, pair{})
		groupTyped(t, co, []byte("bytes"), nil)
		groupTyped(t, co, struct{}{}, struct{}{})
		groupTyped[error](t, co, errOther, nil)
		groupTyped(t, co, [100]int{99: 1}, [100]int{})
	})
}
