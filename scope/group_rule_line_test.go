package scope_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// groupFull makes a group, or a set, of one task at a time, fills it, and lets spawners wait for places: those of names, in order.
// The spawned tasks are queued until the two that hold the group end.
func groupFull(t *testing.T, names []string, body func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine)) {
	t.Helper()
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		var spawners []*scheduler.Coroutine
		for _, name := range names {
			spawners = append(spawners, groupSpawner(e, co, g, name, func(*scheduler.Coroutine) (int, error) {
				e.Say(name + " runs")
				return 0, nil
			}))
		}
		cotest.Yields(co, 2)
		groupStats(t, g, 1, 1, 0, 0, len(names))
		require.Empty(t, e.Said())
		body(t, e, co, g, holds, spawners)
	})
}

// groupWoken ends the first task, after which the first spawner is woken and has not run. It returns in that instant.
func groupWoken(t *testing.T, co *scheduler.Coroutine, g groupInts, hold *groupHold, first *scheduler.Coroutine) {
	t.Helper()
	require.True(t, first.Suspended())
	require.False(t, first.Queued())
	groupUntil(t, co, hold.begun)
	hold.give(0)
	groupUntil(t, co, func() bool { return g.Stats().Running == 0 || hold.ended })
	require.True(t, first.Queued(), "it is woken")
	require.NotZero(t, g.Stats().SpawnersWaiting, "and has not run")
}

// groupRuns tells what spawners have said from what their tasks have.
func groupRuns(steps []string) (spawned, run []string) {
	for _, step := range steps {
		if strings.HasSuffix(step, " runs") {
			run = append(run, step)
		} else {
			spawned = append(spawned, step)
		}
	}
	return spawned, run
}

func TestGroup_TG04_SpawnersGoOnInTheOrderOfArrival(t *testing.T) {
	groupFull(t, []string{"a", "b", "c", "d"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, _ []*scheduler.Coroutine) {
		holds[0].give(0)
		cotest.Yields(co, 10)
		groupSaid(e, "a: 2")
		groupStats(t, g, 1, 1, g.Stats().Succeeded, 0, 3)
		holds[1].give(0)
		cotest.Yields(co, 20)
		spawned, run := groupRuns(e.Said())
		assert.Equal(t, []string{"b: 3", "c: 4", "d: 5"}, spawned)
		assert.Equal(t, []string{"a runs", "b runs", "c runs", "d runs"}, run)
		groupStats(t, g, 0, 0, 6, 0, 0)
	})
}

func TestGroup_TG04_AsManyGoOnAsPlacesAreFree(t *testing.T) {
	groupBoth(t, groupLimit(3, 3), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 6)
		for i := range 5 {
			groupSpawner(e, co, g, fmt.Sprint("s", i), groupGives(0))
		}
		cotest.Yields(co, 2)
		holds[0].give(0)
		holds[2].give(0)
		groupUntil(t, co, func() bool { return holds[0].ended && holds[2].ended })
		cotest.Yields(co, 10)
		groupSaid(e, "s0: 6", "s1: 7")
		groupStats(t, g, 3, 3, 2, 0, 3)
		groupEnd(holds)
		cotest.Yields(co, 10)
		groupSaid(e, "s2: 8", "s3: 9", "s4: 10")
	})
}

func TestGroup_TG04_APlaceThatIsFreeIsTakenWithoutAWait(t *testing.T) {
	groupBoth(t, groupLimit(1, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		e.Spawn(co, e.Sayer("somebody else"))
		for range 3 {
			groupMust(t, co, g, groupGives(0))
		}
		assert.Empty(t, e.Said(), "nobody else has run")
	})
}

// Nobody is kept waiting while there is room, whatever makes the room.
func TestGroup_TG04_NobodyOvertakes(t *testing.T) {
	groupFull(t, []string{"a", "b"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		never := func(*scheduler.Coroutine) (int, error) { e.Say("never"); return 0, nil }
		_, err := g.TrySpawn(never)
		assert.ErrorIs(t, err, scope.ErrQueueFull)
		groupWoken(t, co, g, holds[0], spawners[0])
		// The place of a is free and promised. The line is there, too.
		_, err = g.TrySpawn(never)
		assert.ErrorIs(t, err, scope.ErrQueueFull)
		assert.ErrorIs(t, g.TrySpawnKey(9, never), scope.ErrQueueFull)
		groupEnd(holds)
		groupMust(t, co, g, func(*scheduler.Coroutine) (int, error) { e.Say("main runs"); return 0, nil })
		groupUntil(t, co, g.IsFinished)
		_, run := groupRuns(e.Said())
		assert.Equal(t, []string{"a runs", "b runs", "main runs"}, run)
	})
}

// A second place is free, and nobody else waits: who comes now is still behind the one that was woken.
func TestGroup_GEN04_WhoWasWokenIsInFrontThoughThereIsRoom(t *testing.T) {
	groupBoth(t, groupLimit(2, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 3)
		cotest.Yields(co, 1)
		a := groupSpawner(e, co, g, "a", groupGives(0))
		cotest.Yields(co, 1)
		holds[0].give(0)
		holds[1].give(0)
		cotest.Yields(co, 1)
		require.True(t, holds[0].ended && holds[1].ended)
		require.True(t, a.Queued(), "it is woken and has not run")
		_, err := g.TrySpawn(groupGives(0))
		assert.ErrorIs(t, err, scope.ErrQueueFull)
		key, err := g.Spawn(co, groupGives(0))
		require.NoError(t, err)
		assert.Equal(t, 4, key)
		groupSaid(e, "a: 3")
		groupEnd(holds)
	})
}

func TestGroup_GEN04_TheEnderIsNoExceptionToTheLine(t *testing.T) {
	groupFull(t, []string{"a"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		// What is told of an end, in that very step, comes behind those in line.
		first, err := groupNext(g)()
		require.NoError(t, err)
		_, err = first.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
			_, err := g.TrySpawn(groupGives(0))
			e.Say("callback: " + groupShort(err))
			groupStats(t, g, 0, 1, groupKept(g), 0, 1)
		})
		require.NoError(t, err)
		holds[0].give(0)
		groupUntil(t, co, func() bool { return spawners[0].Completed() })
		groupSaid(e, "callback: full", "a: 2")
		groupEnd(holds)
	})
}

// groupNext is the future of the next task that ends.
func groupNext(g groupInts) func() (*future.Future[int], error) {
	switch g := g.(type) {
	case *scope.Group[int, int]:
		return g.Race
	case *scope.Set[int, int]:
		return g.JoinNext
	}
	panic("neither")
}

// groupKept is 1 for a group, which keeps what has ended, and 0 for a set.
func groupKept(g groupInts) int {
	if _, ok := g.(*scope.Group[int, int]); ok {
		return 1
	}
	return 0
}

func TestGroup_GEN02_ACancelWinsOverThePlace(t *testing.T) {
	groupFull(t, []string{"a", "b", "c"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		groupWoken(t, co, g, holds[0], spawners[0])
		require.NoError(t, spawners[0].Cancel(errStop))
		// In the same step the place is b's (CANC-22).
		assert.True(t, spawners[1].Queued())
		assert.False(t, spawners[2].Queued())
		assert.Equal(t, 2, g.Stats().SpawnersWaiting)
		_, err := g.TrySpawn(groupGives(0))
		assert.ErrorIs(t, err, scope.ErrQueueFull)
		cotest.Yields(co, 3)
		groupSaid(e, "a: cancelled stop", "b: 2")
		groupEnd(holds)
		cotest.Yields(co, 20)
		groupSaid(e, "b runs", "c: 3", "c runs")
		groupStats(t, g, 0, 0, 4, 0, 0)
	})
}

func TestGroup_GEN02_AllOfTheLineAreCancelledOneAfterTheOther(t *testing.T) {
	groupFull(t, []string{"a", "b", "c"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		groupWoken(t, co, g, holds[0], spawners[0])
		for i, s := range spawners {
			assert.True(t, s.Queued())
			require.NoError(t, s.Cancel(errStop))
			assert.Equal(t, 2-i, g.Stats().SpawnersWaiting)
		}
		// GEN-05: the place is free again.
		key, err := g.TrySpawn(groupGives(0))
		require.NoError(t, err)
		assert.Equal(t, 2, key)
		cotest.Yields(co, 3)
		groupSaid(e, "a: cancelled stop", "b: cancelled stop", "c: cancelled stop")
		groupEnd(holds)
	})
}

func TestGroup_GEN04_WhoLeavesTheMiddleChangesNothingForTheOthers(t *testing.T) {
	groupFull(t, []string{"a", "b", "c", "d"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		require.NoError(t, spawners[1].Cancel(errStop))
		cotest.Yields(co, 2)
		groupSaid(e, "b: cancelled stop")
		require.NoError(t, spawners[3].Cancel(nil))
		cotest.Yields(co, 2)
		groupSaid(e, "d: cancelled")
		groupSpawner(e, co, g, "e", groupGives(0))
		cotest.Yields(co, 1)
		groupEnd(holds)
		cotest.Yields(co, 20)
		spawned, run := groupRuns(e.Said())
		assert.Equal(t, []string{"a: 2", "c: 3", "e: 4"}, spawned)
		assert.Equal(t, []string{"a runs", "c runs"}, run)
	})
}

func TestGroup_GEN01_AWokenSpawnerIsNotTimedOut(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co, groupLimit(1, 1))
			holds := groupHolds(e, g, 2)
			token, fired := future.New[int](co)
			cotest.Yields(co, 1)
			a := groupSpawner(e, co, g, "a", groupGives(0), scheduler.Token(fired))
			cotest.Yields(co, 1)
			groupWoken(t, co, g, holds[0], a)
			require.NoError(t, token.Complete(1))
			cotest.Yields(co, 2)
			groupSaid(e, "a: 2")
			groupEnd(holds)
			return nil
		})
	})
}

func TestGroup_GEN01_CloseReachesTheWokenOne(t *testing.T) {
	ends := map[string]struct {
		call func(g groupInts) error
		said string
	}{
		"close":   {func(g groupInts) error { return g.Close() }, "closed"},
		"cancel":  {func(g groupInts) error { return g.Cancel(errStop) }, "closed stop"},
		"dispose": {func(g groupInts) error { return g.Dispose() }, "closed disposed"},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			groupFull(t, []string{"a", "b"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
				groupWoken(t, co, g, holds[0], spawners[0])
				require.NoError(t, end.call(g))
				cotest.Yields(co, 3)
				assert.ElementsMatch(t, []string{"a: " + end.said, "b: " + end.said}, e.Said())
				assert.Equal(t, 2, g.Count(), "neither was added")
				assert.Zero(t, g.Stats().SpawnersWaiting)
				groupEnd(holds)
				require.NoError(t, g.AwaitCompletion(co))
			})
		})
	}
}

// A task that was given a coroutine may be cancelled alone, before it begins: its place is the next one's.
func TestGroup_GEN05_ThePlaceOfATaskThatNeverBegins(t *testing.T) {
	groupFull(t, []string{"a"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		before := map[*scheduler.Coroutine]bool{}
		for _, c := range e.S.Coroutines() {
			before[c] = true
		}
		holds[0].give(0)
		var second *scheduler.Coroutine
		for range 100 {
			for _, c := range e.S.Coroutines() {
				if !before[c] {
					second = c
				}
			}
			if second != nil {
				break
			}
			require.NoError(t, co.Yield())
		}
		require.NotNil(t, second)
		require.False(t, second.Started())
		require.NoError(t, second.Cancel(errStop))
		cotest.Yields(co, 10)
		assert.False(t, holds[1].begun())
		groupSaid(e, "a: 2", "a runs")
		failed := g.Errors()
		require.Equal(t, []int{1}, failed.Keys())
		cotest.IsCancelled(t, failed.Values()[0], errStop)
		groupStats(t, g, 0, 0, 2, 1, 0)
	})
}

func TestGroup_CANC00_ACancelledCoroutineSpawnsNothingThatMayWait(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		spawner := e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Cancel(errStop))
			_, err := g.Spawn(co, groupGives(0))
			cotest.IsCancelled(t, err, errStop)
			cotest.IsCancelled(t, g.SpawnKey(co, 5, groupGives(0)), errStop)
			assert.Zero(t, g.Count())
			key, err := g.TrySpawn(groupGives(0))
			assert.NoError(t, err)
			assert.Zero(t, key)
			assert.NoError(t, g.TrySpawnKey(5, groupGives(0)))
			assert.NoError(t, g.Close())
			return nil
		})
		cotest.Yields(co, 2)
		assert.True(t, spawner.Cancelled())
		assert.Equal(t, 2, g.Count())
	})
}

func TestGroup_CANC23_TheTokenOfASpawner(t *testing.T) {
	groupFull(t, []string{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, _ []*scheduler.Coroutine) {
		for _, reason := range []error{nil, errBoom} {
			token, fired := future.New[int](co)
			var got error
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, got = g.Spawn(co, groupGives(0), scheduler.Token(fired))
				assert.NoError(t, co.Err(), "it is not cancelled itself")
				return nil
			})
			cotest.Yields(co, 1)
			assert.Equal(t, 1, g.Stats().SpawnersWaiting)
			if reason == nil {
				require.NoError(t, token.Complete(1))
			} else {
				require.NoError(t, token.Fail(reason))
			}
			assert.Zero(t, g.Stats().SpawnersWaiting, "in the same step")
			cotest.Yields(co, 2)
			cotest.IsTokens(t, got, reason)

			_, err := g.Spawn(co, groupGives(0), scheduler.Token(fired)) // CANC-24
			cotest.IsTokens(t, err, reason)
			cotest.IsTokens(t, g.SpawnKey(co, 99, groupGives(0), scheduler.Token(fired)), reason)
		}
		assert.Equal(t, 2, g.Count())
		groupEnd(holds)
	})
}

func TestGroup_CANC25_APlaceWinsOverATokenThatHasFired(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		key, err := g.Spawn(co, groupGives(0), scheduler.Token(future.Completed(co, 1)), scheduler.Timeout(1))
		require.NoError(t, err)
		assert.Zero(t, key)
		require.NoError(t, g.SpawnKey(co, 9, groupGives(0), scheduler.Token(future.Completed(co, 1))))
		assert.Equal(t, 2, g.Count())
	})
}

func TestGroup_CANC26_TheOwnCancellationIsPlain(t *testing.T) {
	groupFull(t, []string{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, _ []*scheduler.Coroutine) {
		_, token := future.New[int](co)
		var got error
		spawner := e.Spawn(co, func(co *scheduler.Coroutine) error {
			_, got = g.Spawn(co, groupGives(0), scheduler.Token(token), scheduler.Timeout(hour))
			return got
		})
		cotest.Yields(co, 1)
		require.NoError(t, spawner.Cancel(errStop))
		cotest.Yields(co, 2)
		cotest.IsCancelled(t, got, errStop)
		require.NoError(t, token.Dispose())
		groupEnd(holds)
	})
}

func TestGroup_TG04_TheTimeLimitOfASpawner(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, spawn := range map[string]func(opts ...scheduler.WaitOption) error{
				"group": func(opts ...scheduler.WaitOption) error {
					g := groupOf(t, co, groupLimit(1, 1))
					defer g.Cancel(nil)
					groupHolds(e, g, 2)
					_, err := g.Spawn(co, groupGives(0), opts...)
					assert.Equal(t, 2, g.Count())
					return err
				},
				"set, with a key": func(opts ...scheduler.WaitOption) error {
					s := groupSet(t, co, groupLimit(1, 1))
					defer s.Cancel(nil)
					groupHolds(e, s, 2)
					err := s.SpawnKey(co, 7, groupGives(0), opts...)
					assert.Equal(t, 2, s.Count())
					return err
				},
			} {
				begin := e.W.Now()
				err := spawn(scheduler.Timeout(3*ms), scheduler.Timeout(5*ms))
				cotest.IsTimeout(t, err)
				assert.GreaterOrEqual(t, e.W.Now().Sub(begin), 3*ms, name)
				var limit *event.TimeoutError
				if assert.ErrorAs(t, err, &limit) {
					assert.Contains(t, limit.Call, "Spawn")
				}
				for _, d := range []time.Duration{0, -1} {
					assert.ErrorIs(t, spawn(scheduler.Timeout(d)), event.ErrInvalidArgument)
				}
			}
			return nil
		})
	})
}

// What is wrong with the options is wrong whether there is a place or not: there is no task then (GEN-03).
func TestGroup_TG04_WrongOptionsAddNothing(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		never := func(*scheduler.Coroutine) (int, error) { e.Say("never"); return 0, nil }
		_, err := g.Spawn(co, never, scheduler.Timeout(-1))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		assert.ErrorContains(t, err, "Spawn")
		assert.ErrorIs(t, g.SpawnKey(co, 3, never, scheduler.Timeout(0)), event.ErrInvalidArgument)
		assert.Zero(t, g.Count())
		require.NoError(t, g.SpawnKey(co, 3, groupGives(0)), "the key is free")
		assert.Empty(t, e.Said())
	})
}

// A group is a token, too: it fires when it has ended.
func TestGroup_CANC23_AGroupAsTheTokenOfAnother(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		limiting, full := groupOf(t, co), groupOf(t, co, groupLimit(1, 1))
		groupHolds(e, full, 2)
		groupMust(t, co, limiting, groupSleeps(2, 0))
		require.NoError(t, limiting.Close())
		_, err := full.Spawn(co, groupGives(0), scheduler.Token(limiting))
		cotest.IsTokens(t, err, nil)
		require.NoError(t, full.Cancel(nil))
	})
}

// A block with a time limit bounds the wait, too (CANC-28).
func TestGroup_CANC28_ABlockBoundsTheWaitOfASpawner(t *testing.T) {
	groupFull(t, []string{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, _ []*scheduler.Coroutine) {
		var got error
		_ = co.WithTimeout(2*ms, func(co *scheduler.Coroutine) error {
			_, got = g.Spawn(co, groupGives(0))
			return got
		})
		cotest.IsTimeout(t, got)
		assert.Zero(t, g.Stats().SpawnersWaiting)
		require.NoError(t, co.Protect(func(context.Context) error {
			holds[0].give(0)
			_, err := g.Spawn(co, groupGives(0))
			return err
		}))
		groupEnd(holds)
	})
}

// GEN-03: who was told that there is no task must never see it run, and who was told of one does.
func TestGroup_GEN03_WhatWasRefusedNeverRuns(t *testing.T) {
	groupFull(t, []string{"a", "b", "c"}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, spawners []*scheduler.Coroutine) {
		groupWoken(t, co, g, holds[0], spawners[0])
		require.NoError(t, spawners[0].Cancel(errStop))
		require.NoError(t, spawners[1].Cancel(errOther))
		groupEnd(holds)
		cotest.Yields(co, 20)
		groupSaid(e, "a: cancelled stop", "b: cancelled other", "c: 2", "c runs")
	})
}

// A task that spawns into its own full group waits for itself. Whoever looks for the reason must find it.
func TestGroup_DEAD10_ATaskThatSpawnsIntoItsOwnFullGroup(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var spawned error
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co, groupLimit(1, 1))
			groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
				for {
					if _, spawned = g.Spawn(co, groupGives(0)); spawned != nil {
						return 0, spawned
					}
				}
			})
			return nil
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 1, dead.Waiting)
		assert.Contains(t, dead.Report, "group")
		assert.Contains(t, dead.Report, "spawn")
		assert.Contains(t, dead.Report, "1 running")
		assert.ErrorIs(t, spawned, context.Canceled)
	})
}

// With room for it, or somebody else who makes room, a task may.
func TestGroup_TG04_TasksSpawnIntoTheirOwnGroup(t *testing.T) {
	groupBoth(t, groupLimit(2, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		var tree func(depth int) groupFn[int]
		tree = func(depth int) groupFn[int] {
			return func(co *scheduler.Coroutine) (int, error) {
				e.Say(fmt.Sprint(depth))
				if depth == 0 {
					return 0, nil
				}
				_, err := g.Spawn(co, tree(depth-1))
				return depth, err
			}
		}
		groupMust(t, co, g, tree(20))
		groupUntil(t, co, g.IsFinished)
		assert.Len(t, e.Said(), 21)
		assert.Equal(t, 21, g.Count())
		assert.Zero(t, g.Errors().Len())
	})
}

func TestGroup_TG04_TheErrorOfTheLineIsOneOfTheSpawner(t *testing.T) {
	groupFull(t, []string{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts, holds []*groupHold, _ []*scheduler.Coroutine) {
		var got, keyed error
		e.Spawn(co, func(co *scheduler.Coroutine) error { _, got = g.Spawn(co, groupGives(0)); return nil })
		e.Spawn(co, func(co *scheduler.Coroutine) error { keyed = g.SpawnKey(co, 10, groupGives(0)); return nil })
		cotest.Yields(co, 1)
		require.NoError(t, g.Close())
		cotest.Yields(co, 2)
		for _, err := range []error{got, keyed} {
			var closed *event.ClosedError
			require.ErrorAs(t, err, &closed)
			assert.Contains(t, closed.Call, "Spawn")
			assert.NotEmpty(t, closed.What)
			assert.NoError(t, closed.Reason)
			assert.False(t, errors.Is(err, context.Canceled))
		}
		groupEnd(holds)
	})
}
