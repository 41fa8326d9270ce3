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

func TestGroup_TG02_AtMostSoManyRunAndStartInOrder(t *testing.T) {
	for _, k := range []int{1, 2, 3, 7} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			groupBoth(t, scope.GroupConfig{Concurrency: k, QueueLimit: scope.NoQueueLimit}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
				const tasks = 40
				var begun []int
				running, most := 0, 0
				for i := range tasks {
					groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
						begun = append(begun, i)
						running++
						most = max(most, running)
						defer func() { running-- }()
						return groupSleeps((i*7)%4, i)(co)
					})
				}
				require.NoError(t, g.Close())
				require.NoError(t, g.AwaitCompletion(co))
				assert.Equal(t, k, most)
				require.Len(t, begun, tasks)
				assert.IsIncreasing(t, begun)
				assert.Len(t, g.Results().Map(), tasks)
			})
		})
	}
}

// What ends does so in every way that there is, and makes room for the next.
func TestGroup_TG02_AnEndOfEveryKindMakesRoom(t *testing.T) {
	ends := map[string]func(h *groupHold){
		"value":          func(h *groupHold) { h.give(1) },
		"failure":        func(h *groupHold) { h.fail(errBoom) },
		"panic":          func(h *groupHold) { h.end(func() (int, error) { panic(errBoom) }) },
		"nil panic":      func(h *groupHold) { h.end(func() (int, error) { panic(nil) }) },
		"cancelled":      func(h *groupHold) { _ = h.co.Cancel(errStop) },
		"cancels itself": func(h *groupHold) { h.end(func() (int, error) { return 1, h.co.Cancel(errStop) }) },
		"a cancel ignored": func(h *groupHold) {
			h.told, h.finish = true, func() (int, error) { return 1, nil }
			_ = h.co.Cancel(errStop)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			groupBoth(t, groupLimit(1, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
				holds := groupHolds(e, g, 3)
				groupSpawner(e, co, g, "waits", groupGives(7))
				cotest.Yields(co, 2)
				groupStats(t, g, 2, 1, 0, 0, 1)
				for i, h := range holds {
					groupUntil(t, co, h.begun)
					for _, later := range holds[i+1:] {
						assert.False(t, later.begun())
					}
					end(h)
					groupUntil(t, co, func() bool { return h.ended })
				}
				cotest.Yields(co, 10)
				groupSaid(e, "waits: 3")
				assert.True(t, g.IsFinished())
				st := g.Stats()
				assert.Equal(t, 4, st.Succeeded+st.Failed)
				assert.Zero(t, st.Queued+st.Running+st.SpawnersWaiting)
				g.SuppressErrors()
			})
		})
	}
}

func TestGroup_TG02_NoLimit(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 300)
		groupStats(t, g, 0, 300, 0, 0, 0)
		cotest.Yields(co, 1)
		for _, h := range holds {
			assert.True(t, h.begun())
		}
		groupEnd(holds)
		cotest.Yields(co, 2)
		groupStats(t, g, 0, 0, 300, 0, 0)
	})
}

func TestGroup_TG02_NeverBeforeSpawnReturns(t *testing.T) {
	groupBoth(t, groupLimit(2, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		for i := range 4 {
			h := newGroupHold(e)
			groupMust(t, co, g, h.task)
			assert.False(t, h.begun(), "task %d", i)
			h.give(0)
		}
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			h := newGroupHold(e)
			groupMust(t, co, g, h.task) // waits
			assert.False(t, h.begun())
			h.give(0)
			return nil
		})
		cotest.Yields(co, 10)
		assert.True(t, g.IsFinished())
		assert.Equal(t, 5, g.Count())
	})
}

func TestGroup_TG02_TG03_NegativeNumbersAreRefused(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		for _, n := range []int{-1, math.MinInt} {
			_, err := scope.NewGroup[int](co, scope.GroupConfig{Concurrency: n})
			cotest.IsInvalid(t, err, "scope: NewGroup", "Concurrency")
			_, err = scope.NewGroup[int](co, scope.GroupConfig{Concurrency: 1, QueueLimit: n})
			cotest.IsInvalid(t, err, "scope: NewGroup", "QueueLimit")
			_, err = scope.NewKeyedGroup[string, int](co, scope.GroupConfig{Concurrency: n})
			cotest.IsInvalid(t, err, "scope: NewKeyedGroup", "Concurrency")
			_, err = scope.NewSet[int](co, scope.GroupConfig{QueueLimit: n})
			cotest.IsInvalid(t, err, "scope: NewSet", "QueueLimit")
			_, err = scope.NewKeyedSet[string, int](co, scope.GroupConfig{Concurrency: n})
			cotest.IsInvalid(t, err, "scope: NewKeyedSet", "Concurrency")
		}
		for range co.Scope().Children() {
			assert.Fail(t, "a group that was not made has left a scope behind")
		}
	})
}

func TestGroup_TG03_PlacesToWait(t *testing.T) {
	cases := map[string]struct {
		config scope.GroupConfig
		places int // running and queued
	}{
		"default of 1":                 {scope.GroupConfig{Concurrency: 1}, 3},
		"default of 2":                 {scope.GroupConfig{Concurrency: 2}, 6},
		"default of 5":                 {scope.GroupConfig{Concurrency: 5}, 15},
		"one":                          {groupLimit(3, 1), 4},
		"four":                         {groupLimit(2, 4), 6},
		"a million":                    {groupLimit(1, 1_000_000), 500},
		"any number":                   {groupLimit(1, scope.NoQueueLimit), 500},
		"any number of many":           {groupLimit(math.MaxInt-1, scope.NoQueueLimit), 500},
		"default of many":              {scope.GroupConfig{Concurrency: math.MaxInt}, 500},
		"default of half as many":      {scope.GroupConfig{Concurrency: math.MaxInt / 2}, 500},
		"many":                         {groupLimit(2, math.MaxInt-1), 500},
		"without a limit, any is none": {scope.GroupConfig{QueueLimit: 1}, 500},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			groupBoth(t, c.config, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
				holds := groupHolds(e, g, c.places)
				running := min(c.places, c.config.Concurrency)
				if c.config.Concurrency == 0 {
					running = c.places
				}
				groupStats(t, g, c.places-running, running, 0, 0, 0)
				_, err := g.TrySpawn(groupGives(0))
				if c.places < 500 {
					assert.ErrorIs(t, err, scope.ErrQueueFull)
					assert.ErrorIs(t, g.TrySpawnKey(77, groupGives(0)), scope.ErrQueueFull)
					_, err = g.Spawn(co, groupGives(0), scheduler.Timeout(ms))
					cotest.IsTimeout(t, err)
				} else {
					require.NoError(t, err)
				}
				for !g.IsFinished() {
					groupEnd(holds)
					cotest.Yields(co, 1)
				}
				if c.places < 500 {
					require.NoError(t, g.TrySpawnKey(77, groupGives(0)), "it was not taken by what was refused")
				}
			})
		})
	}
}
