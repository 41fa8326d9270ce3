package scope_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG01_AutomaticKeysCountFromZero(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, err := scope.NewGroup[string](co)
		require.NoError(t, err)
		for i := range 5 {
			var key int
			if i%2 == 0 {
				key, err = g.Spawn(co, groupGives(fmt.Sprint("v", i)))
			} else {
				key, err = g.TrySpawn(groupGives(fmt.Sprint("v", i)))
			}
			require.NoError(t, err)
			assert.Equal(t, i, key)
		}
		all := groupAwait(t, co, g.All())
		assert.Equal(t, []int{0, 1, 2, 3, 4}, all.Keys())
		assert.Equal(t, []string{"v0", "v1", "v2", "v3", "v4"}, all.Values())
	})
}

func TestGroup_TG01_NoNumberIsSpentWithoutATask(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		_, err := g.TrySpawn(groupGives(0))
		assert.ErrorIs(t, err, scope.ErrQueueFull)
		_, err = g.Spawn(co, nil)
		assert.Error(t, err)
		_, err = g.Spawn(co, groupGives(0), scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		gone := groupSpawner(e, co, g, "gone", groupGives(0))
		groupSpawner(e, co, g, "stays", groupGives(0))
		cotest.Yields(co, 2)
		require.NoError(t, gone.Cancel(errStop))
		cotest.Yields(co, 2)
		groupEnd(holds)
		cotest.Yields(co, 10)
		groupSaid(e, "gone: cancelled stop", "stays: 2")
		assert.Equal(t, 3, groupMust(t, co, g, groupGives(0)))
	})
}

func TestGroup_TG01_WhoWaitsGetsItsNumberWithItsPlace(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		for _, name := range []string{"a", "b", "c"} {
			groupSpawner(e, co, g, name, groupGives(0))
		}
		cotest.Yields(co, 2)
		groupEnd(holds)
		cotest.Yields(co, 20)
		groupSaid(e, "a: 2", "b: 3", "c: 4")
	})
}

// groupKeyed spawns two tasks with keys of one type and finds them again under them.
func groupKeyed[K comparable](t *testing.T, co *scheduler.Coroutine, a, b K) {
	t.Helper()
	g, err := scope.NewKeyedGroup[K, string](co)
	require.NoError(t, err)
	require.NoError(t, g.SpawnKey(co, b, groupGives("second")))
	require.NoError(t, g.TrySpawnKey(a, groupGives("first")))
	cotest.IsUsage(t, g.SpawnKey(co, a, groupGives("again")), "SpawnKey", fmt.Sprint(a))
	cotest.IsUsage(t, g.TrySpawnKey(b, groupGives("again")), "TrySpawnKey", fmt.Sprint(b))
	all := groupAwait(t, co, g.All())
	assert.Equal(t, []K{b, a}, all.Keys(), "in the order of the spawns")
	assert.Equal(t, map[K]string{a: "first", b: "second"}, all.Map())
	assert.Equal(t, 2, g.Count())
	require.NoError(t, g.Close())
	for o, err := range g.Outcomes(co) {
		require.NoError(t, err)
		v, ok := all.Get(o.Key)
		assert.True(t, ok)
		assert.Equal(t, v, o.Value)
	}
}

func TestGroup_TG01_KeysOfSeveralTypes(t *testing.T) {
	type point struct{ x, y int }
	type name string
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		groupKeyed(t, co, name("a"), name("b"))
		groupKeyed(t, co, point{1, 2}, point{2, 1})
		groupKeyed(t, co, [2]string{"a", "b"}, [2]string{"b", "a"})
		groupKeyed(t, co, math.Inf(1), -0.5)
		groupKeyed[any](t, co, 1, "1")
	})
}

func TestGroup_TG01_ADuplicateLeavesTheFirstAlone(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[string, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		again := func(key string) {
			t.Helper()
			never := func(*scheduler.Coroutine) (int, error) { e.Say("never"); return 0, nil }
			before := g.Stats()
			cotest.IsUsage(t, g.SpawnKey(co, key, never), "SpawnKey", key)
			assert.Equal(t, before, g.Stats())
			if err := g.TrySpawnKey(key, never); err != scope.ErrQueueFull {
				cotest.IsUsage(t, err, "TrySpawnKey", key)
			}
			assert.Equal(t, before, g.Stats())
		}
		running, queued, waiting := newGroupHold(e), newGroupHold(e), newGroupHold(e)
		require.NoError(t, g.SpawnKey(co, "running", running.task))
		again("running") // it has not begun
		cotest.Yields(co, 1)
		again("running")
		require.NoError(t, g.SpawnKey(co, "queued", queued.task))
		again("running")
		again("queued")
		e.Spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, "waiting", waiting.task) })
		cotest.Yields(co, 1)
		again("waiting")

		running.give(1)
		groupUntil(t, co, func() bool { return queued.begun() && g.Stats().SpawnersWaiting == 0 })
		again("running") // it has succeeded
		queued.fail(errBoom)
		groupUntil(t, co, waiting.begun)
		again("queued") // it has failed
		waiting.give(3)
		cotest.Yields(co, 2)
		assert.Equal(t, map[string]int{"running": 1, "waiting": 3}, g.Results().Map())
		assert.Equal(t, map[string]error{"queued": errBoom}, g.Errors().Map())
		assert.Empty(t, e.Said())
	})
}

func TestGroup_TG01_ASpawnerThatLeavesGivesItsKeyBack(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[string, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		first, second := newGroupHold(e), newGroupHold(e)
		require.NoError(t, g.TrySpawnKey("first", first.task))
		require.NoError(t, g.TrySpawnKey("second", second.task))
		cotest.IsTimeout(t, g.SpawnKey(co, "key", groupGives(1), scheduler.Timeout(ms)))
		waits := e.Spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, "key", groupGives(2)) })
		cotest.Yields(co, 1)
		require.True(t, waits.Suspended())
		require.NoError(t, waits.Cancel(nil))
		cotest.Yields(co, 2)
		last := e.Spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, "key", groupGives(3)) })
		cotest.Yields(co, 1)
		require.True(t, last.Suspended())
		first.give(0)
		second.give(0)
		cotest.Yields(co, 10)
		v, ok := g.Results().Get("key")
		assert.True(t, ok)
		assert.Equal(t, 3, v)
	})
}

func TestGroup_TG01_AnAutomaticKeyIsNoneThatIsTaken(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		require.NoError(t, g.SpawnKey(co, 1, groupGives(0)))
		require.NoError(t, g.SpawnKey(co, 2, groupGives(0)))
		require.NoError(t, g.TrySpawnKey(5, groupGives(0)))
		require.NoError(t, g.SpawnKey(co, -1, groupGives(0)))
		var keys []int
		for range 5 {
			keys = append(keys, groupMust(t, co, g, groupGives(0)))
		}
		assert.Equal(t, []int{0, 3, 4, 6, 7}, keys)
		for _, taken := range []int{-1, 0, 1, 2, 3, 4, 5, 6, 7} {
			cotest.IsUsage(t, g.SpawnKey(co, taken, groupGives(0)), fmt.Sprint(taken))
		}
		require.NoError(t, g.SpawnKey(co, 8, groupGives(0)))
		assert.Equal(t, 9, groupMust(t, co, g, groupGives(0)))
		assert.Equal(t, 11, g.Count())
	})
}

// A key that somebody waits with is taken, too.
func TestGroup_TG01_AnAutomaticKeyIsNoneThatSomebodyWaitsWith(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		e.Spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, 3, groupGives(0)) })
		for _, name := range []string{"a", "b"} {
			groupSpawner(e, co, g, name, groupGives(0))
		}
		cotest.Yields(co, 2)
		cotest.IsUsage(t, g.SpawnKey(co, 3, groupGives(0)))
		groupEnd(holds)
		cotest.Yields(co, 20)
		groupSaid(e, "a: 2", "b: 4")
	})
}

func TestGroup_TG01_AutomaticKeysAreInts(t *testing.T) {
	type number int
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		named, err := scope.NewKeyedGroup[string, int](co)
		require.NoError(t, err)
		_, err = named.Spawn(co, groupGives(0))
		cotest.IsUsage(t, err, "Group.Spawn", "string", "SpawnKey")
		_, err = named.TrySpawn(groupGives(0))
		cotest.IsUsage(t, err, "Group.TrySpawn", "string", "SpawnKey")

		numbers, err := scope.NewKeyedSet[number, int](co)
		require.NoError(t, err)
		_, err = numbers.Spawn(co, groupGives(0))
		cotest.IsUsage(t, err, "Set.Spawn", "number")
		anything, err := scope.NewKeyedGroup[any, int](co)
		require.NoError(t, err)
		_, err = anything.TrySpawn(groupGives(0))
		cotest.IsUsage(t, err)
		assert.Zero(t, named.Count()+numbers.Count()+anything.Count())
		assert.Zero(t, named.Stats().SpawnersWaiting)

		ints, err := scope.NewKeyedGroup[int, int](co)
		require.NoError(t, err)
		assert.Equal(t, 0, groupMust(t, co, ints, groupGives(0)))
	})
}

// A wrong key is the caller's bug; the group must not be the worse for it.
func TestGroup_TG01_AKeyThatCannotBeCompared(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[any, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		cotest.IsInvalid(t, g.SpawnKey(co, []int{1}, groupGives(1)), "scope: Group.SpawnKey", "key")
		cotest.IsInvalid(t, g.TrySpawnKey(func() {}, groupGives(1)), "scope: Group.TrySpawnKey", "key")
		assert.Equal(t, scope.GroupStats{}, g.Stats())
		require.NoError(t, g.SpawnKey(co, "good", groupGives(2)))
		assert.Equal(t, map[any]int{"good": 2}, groupAwait(t, co, g.All()).Map())
	})
}
