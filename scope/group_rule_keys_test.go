package scope_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG01_AutomaticKeysCountFromZero(t *testing.T) {
	groupMain(t, func(t *testing.T, e *env, co *scheduler.Coroutine) {
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
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *env, co *scheduler.Coroutine, g groupInts) {
		holds := e.groupHolds(g, 2)
		_, err := g.TrySpawn(groupGives(0))
		assert.ErrorIs(t, err, scope.ErrQueueFull)
		_, err = g.Spawn(co, nil)
		assert.Error(t, err)
		_, err = g.Spawn(co, groupGives(0), scheduler.Timeout(ms))
		isTimeout(t, err)
		gone := e.groupSpawner(co, g, "gone", groupGives(0))
		e.groupSpawner(co, g, "stays", groupGives(0))
		yields(co, 2)
		require.NoError(t, gone.Cancel(errStop))
		yields(co, 2)
		groupEnd(holds)
		yields(co, 10)
		e.groupSaid("gone: cancelled stop", "stays: 2")
		assert.Equal(t, 3, groupMust(t, co, g, groupGives(0)))
	})
}

func TestGroup_TG01_WhoWaitsGetsItsNumberWithItsPlace(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *env, co *scheduler.Coroutine, g groupInts) {
		holds := e.groupHolds(g, 2)
		for _, name := range []string{"a", "b", "c"} {
			e.groupSpawner(co, g, name, groupGives(0))
		}
		yields(co, 2)
		groupEnd(holds)
		yields(co, 20)
		e.groupSaid("a: 2", "b: 3", "c: 4")
	})
}

// groupKeyed spawns two tasks with keys of one type and finds them again under them.
func groupKeyed[K comparable](t *testing.T, co *scheduler.Coroutine, a, b K) {
	t.Helper()
	g, err := scope.NewKeyedGroup[K, string](co)
	require.NoError(t, err)
	require.NoError(t, g.SpawnKey(co, b, groupGives("second")))
	require.NoError(t, g.TrySpawnKey(a, groupGives("first")))
	isUsage(t, g.SpawnKey(co, a, groupGives("again")), "SpawnKey", fmt.Sprint(a))
	isUsage(t, g.TrySpawnKey(b, groupGives("again")), "TrySpawnKey", fmt.Sprint(b))
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
	groupMain(t, func(t *testing.T, e *env, co *scheduler.Coroutine) {
		groupKeyed(t, co, name("a"), name("b"))
		groupKeyed(t, co, point{1, 2}, point{2, 1})
		groupKeyed(t, co, [2]string{"a", "b"}, [2]string{"b", "a"})
		groupKeyed(t, co, math.Inf(1), -0.5)
		groupKeyed[any](t, co, 1, "1")
	})
}

func TestGroup_TG01_ADuplicateLeavesTheFirstAlone(t *testing.T) {
	groupMain(t, func(t *testing.T, e *env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[string, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		again := func(key string) {
			t.Helper()
			never := func(*scheduler.Coroutine) (int, error) { e.say("never"); return 0, nil }
			before := g.Stats()
			isUsage(t, g.SpawnKey(co, key, never), "SpawnKey", key)
			assert.Equal(t, before, g.Stats())
			if err := g.TrySpawnKey(key, never); err != scope.ErrQueueFull {
				isUsage(t, err, "TrySpawnKey", key)
			}
			assert.Equal(t, before, g.Stats())
		}
		running, queued, waiting := e.groupHold(), e.groupHold(), e.groupHold()
		require.NoError(t, g.SpawnKey(co, "running", running.task))
		again("running") // it has not begun
		yields(co, 1)
		again("running")
		require.NoError(t, g.SpawnKey(co, "queued", queued.task))
		again("running")
		again("queued")
		e.spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, "waiting", waiting.task) })
		yields(co, 1)
		again("waiting")

		running.give(1)
		groupUntil(t, co, func() bool { return queued.begun() && g.Stats().SpawnersWaiting == 0 })
		again("running") // it has succeeded
		queued.fail(errBoom)
		groupUntil(t, co, waiting.begun)
		again("queued") // it has failed
		waiting.give(3)
		yields(co, 2)
		assert.Equal(t, map[string]int{"running": 1, "waiting": 3}, g.Results().Map())
		assert.Equal(t, map[string]error{"queued": errBoom}, g.Errors().Map())
		assert.Empty(t, e.said())
	})
}

func TestGroup_TG01_ASpawnerThatLeavesGivesItsKeyBack(t *testing.T) {
	groupMain(t, func(t *testing.T, e *env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[string, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		first, second := e.groupHold(), e.groupHold()
		require.NoError(t, g.TrySpawnKey("first", first.task))
		require.NoError(t, g.TrySpawnKey("second", second.task))
		isTimeout(t, g.SpawnKey(co, "key", groupGives(1), scheduler.Timeout(ms)))
		waits := e.spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, "key", groupGives(2)) })
		yields(co, 1)
		require.True(t, waits.Suspended())
		require.NoError(t, waits.Cancel(nil))
		yields(co, 2)
		last := e.spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, "key", groupGives(3)) })
		yields(co, 1)
		require.True(t, last.Suspended())
		first.give(0)
		second.give(0)
		yields(co, 10)
		v, ok := g.Results().Get("key")
		assert.True(t, ok)
		assert.Equal(t, 3, v)
	})
}

func TestGroup_TG01_AnAutomaticKeyIsNoneThatIsTaken(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *env, co *scheduler.Coroutine, g groupInts) {
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
			isUsage(t, g.SpawnKey(co, taken, groupGives(0)), fmt.Sprint(taken))
		}
		require.NoError(t, g.SpawnKey(co, 8, groupGives(0)))
		assert.Equal(t, 9, groupMust(t, co, g, groupGives(0)))
		assert.Equal(t, 11, g.Count())
	})
}

// A key that somebody waits with is taken, too.
func TestGroup_TG01_AnAutomaticKeyIsNoneThatSomebodyWaitsWith(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *env, co *scheduler.Coroutine, g groupInts) {
		holds := e.groupHolds(g, 2)
		e.spawn(co, func(co *scheduler.Coroutine) error { return g.SpawnKey(co, 3, groupGives(0)) })
		for _, name := range []string{"a", "b"} {
			e.groupSpawner(co, g, name, groupGives(0))
		}
		yields(co, 2)
		isUsage(t, g.SpawnKey(co, 3, groupGives(0)))
		groupEnd(holds)
		yields(co, 20)
		e.groupSaid("a: 2", "b: 4")
	})
}

func TestGroup_TG01_AutomaticKeysAreInts(t *testing.T) {
	type number int
	groupMain(t, func(t *testing.T, e *env, co *scheduler.Coroutine) {
		named, err := scope.NewKeyedGroup[string, int](co)
		require.NoError(t, err)
		_, err = named.Spawn(co, groupGives(0))
		isUsage(t, err, "Group.Spawn", "string", "SpawnKey")
		_, err = named.TrySpawn(groupGives(0))
		isUsage(t, err, "Group.TrySpawn", "string", "SpawnKey")

		numbers, err := scope.NewKeyedSet[number, int](co)
		require.NoError(t, err)
		_, err = numbers.Spawn(co, groupGives(0))
		isUsage(t, err, "Set.Spawn", "number")
		anything, err := scope.NewKeyedGroup[any, int](co)
		require.NoError(t, err)
		_, err = anything.TrySpawn(groupGives(0))
		isUsage(t, err)
		assert.Zero(t, named.Count()+numbers.Count()+anything.Count())
		assert.Zero(t, named.Stats().SpawnersWaiting)

		ints, err := scope.NewKeyedGroup[int, int](co)
		require.NoError(t, err)
		assert.Equal(t, 0, groupMust(t, co, ints, groupGives(0)))
	})
}

// A wrong key is the caller's bug; the group must not be the worse for it.
func TestGroup_TG01_AKeyThatCannotBeCompared(t *testing.T) {
	groupMain(t, func(t *testing.T, e *env, co *scheduler.Coroutine) {
		g, err := scope.NewKeyedGroup[any, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		isInvalid(t, g.SpawnKey(co, []int{1}, groupGives(1)), "scope: Group.SpawnKey", "key")
		isInvalid(t, g.TrySpawnKey(func() {}, groupGives(1)), "scope: Group.TrySpawnKey", "key")
		assert.Equal(t, scope.GroupStats{}, g.Stats())
		require.NoError(t, g.SpawnKey(co, "good", groupGives(2)))
		assert.Equal(t, map[any]int{"good": 2}, groupAwait(t, co, g.All()).Map())
	})
}
