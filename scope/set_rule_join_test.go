package scope_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestSet_TSET03_TwoResultsInTheOrderInWhichTheyEnded(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		holds := groupHolds(e, s, 2)
		cotest.Yields(co, 1)
		holds[1].give(11)
		cotest.Yields(co, 2)
		holds[0].give(10)
		cotest.Yields(co, 2)
		assert.Equal(t, 2, s.Count())
		first := groupFirst(t, s.JoinNext)
		assert.True(t, first.Completed())
		assert.Equal(t, 1, s.Count())
		second := groupFirst(t, s.JoinNext)
		assert.Zero(t, s.Count())
		assert.Equal(t, 10, groupAwait(t, co, second))
		assert.Equal(t, 11, groupAwait(t, co, first))
		assert.Equal(t, scope.GroupStats{}, s.Stats())
	})
}

func TestSet_TSET01_JoinNextOfAnEmptySet(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		check := func() {
			t.Helper()
			f, err := s.JoinNext()
			cotest.IsUsage(t, err, "Set.JoinNext", "empty")
			assert.Nil(t, f)
			f, err = s.JoinAny()
			cotest.IsUsage(t, err, "Set.JoinAny", "empty")
			assert.Nil(t, f)
		}
		check()
		groupMust(t, co, s, groupGives(1))
		groupAwait(t, co, groupFirst(t, s.JoinNext))
		check()
		require.NoError(t, s.Close())
		check()
	})
}

func TestSet_TSET01_WhoWaitsIsServedInTheOrderOfArrival(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		holds := groupHolds(e, s, 5)
		var fs []*future.Future[int]
		for range 4 {
			fs = append(fs, groupFirst(t, s.JoinNext))
		}
		require.NoError(t, fs[1].Cancel(errStop))
		cotest.Yields(co, 1)
		for i, at := range []int{3, 0, 4, 2} {
			holds[at].give(at)
			cotest.Yields(co, 2)
			assert.Equal(t, []int{4, 3, 2, 2}[i], s.Count())
		}
		assert.Equal(t, 3, groupAwait(t, co, fs[0]))
		assert.Equal(t, 0, groupAwait(t, co, fs[2]))
		assert.Equal(t, 4, groupAwait(t, co, fs[3]))
		assert.Equal(t, 2, groupAwait(t, co, groupFirst(t, s.JoinNext)), "the future that was cancelled took nothing")
		assert.Equal(t, 1, s.Count(), "it runs")
		groupEnd(holds)
		assert.Equal(t, 1, groupAwait(t, co, groupFirst(t, s.JoinNext)))
	})
}

func TestSet_TSET01_AFailureIsHandedOutOnce(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		waiting := func() *future.Future[int] {
			groupMust(t, co, s, groupFails[int](errBoom))
			return groupFirst(t, s.JoinNext)
		}()
		_, err := waiting.Await(co)
		assert.Equal(t, errBoom, err)
		groupMust(t, co, s, groupFails[int](errOther))
		cotest.Yields(co, 2)
		assert.Equal(t, 1, s.Stats().Unhandled)
		_, err = groupFirst(t, s.JoinNext).Await(co)
		assert.Equal(t, errOther, err)
		assert.Equal(t, scope.GroupStats{}, s.Stats())
		assert.Zero(t, s.Errors().Len())
	})
}

func TestSet_TSET01_WhenOthersWereGivenAll(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		holds := groupHolds(e, s, 1)
		first, second, any := groupFirst(t, s.JoinNext), groupFirst(t, s.JoinNext), groupFirst(t, s.JoinAny)
		holds[0].give(1)
		assert.Equal(t, 1, groupAwait(t, co, first))
		cotest.Yields(co, 2)
		assert.False(t, second.Completed(), "the set is open")
		require.NoError(t, s.Close())
		for _, f := range []*future.Future[int]{second, any} {
			_, err := f.Await(co)
			assert.ErrorIs(t, err, event.ErrClosed)
		}
	})
}

func TestSet_TSET01_JoinAnySkipsFailures(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		holds := groupHolds(e, s, 4)
		any := groupFirst(t, s.JoinAny)
		cotest.Yields(co, 1)
		holds[3].fail(errBoom)
		cotest.Yields(co, 2)
		assert.False(t, any.Completed())
		assert.Equal(t, 4, s.Count(), "failures stay")
		holds[1].give(1)
		assert.Equal(t, 1, groupAwait(t, co, any))
		assert.Equal(t, 3, s.Count())
		assert.Equal(t, 1, s.Stats().Unhandled)
		holds[2].give(2)
		cotest.Yields(co, 2)
		assert.Equal(t, 2, groupAwait(t, co, groupFirst(t, s.JoinAny)), "past the failure")
		assert.Equal(t, 2, s.Count())

		last := groupFirst(t, s.JoinAny)
		holds[0].fail(errOther)
		_, err := last.Await(co)
		groupComposite(t, err, errOther, errBoom)
		assert.Zero(t, s.Count(), "they were handed out")

		groupMust(t, co, s, groupFails[int](errStop))
		cotest.Yields(co, 2)
		settled := groupFirst(t, s.JoinAny)
		assert.True(t, settled.Completed())
		_, err = settled.Await(co)
		groupComposite(t, err, errStop)
		assert.Equal(t, scope.GroupStats{}, s.Stats())
	})
}

// JoinNext and JoinAny stand in one line.
func TestSet_TSET01_NextAndAnyInOneLine(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		holds := groupHolds(e, s, 4)
		any1, next1, any2, next2 := groupFirst(t, s.JoinAny), groupFirst(t, s.JoinNext), groupFirst(t, s.JoinAny), groupFirst(t, s.JoinNext)
		cotest.Yields(co, 1)
		holds[0].fail(errBoom)
		_, err := next1.Await(co)
		assert.Equal(t, errBoom, err, "the first who takes failures")
		holds[1].give(1)
		assert.Equal(t, 1, groupAwait(t, co, any1), "the first of all")
		assert.False(t, any2.Completed())
		holds[2].give(2)
		assert.Equal(t, 2, groupAwait(t, co, any2))
		assert.False(t, next2.Completed())
		holds[3].give(3)
		assert.Equal(t, 3, groupAwait(t, co, next2))
		assert.Zero(t, s.Count())
	})
}

func TestSet_TSET01_JoinAllTakesEverything(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s, err := scope.NewKeyedSet[string, int](co)
		require.NoError(t, err)
		for i, key := range []string{"slow", "quick", "at once"} {
			require.NoError(t, s.SpawnKey(co, key, groupSleeps(2-i, i)))
		}
		pending := s.JoinAll()
		assert.Equal(t, 3, s.Count())
		all := groupAwait(t, co, pending)
		assert.Equal(t, []string{"slow", "quick", "at once"}, all.Keys(), "in the order of the spawns")
		assert.Equal(t, []int{0, 1, 2}, all.Values())
		assert.Zero(t, s.Count())
		assert.Zero(t, s.Results().Len())

		require.NoError(t, s.SpawnKey(co, "slow", groupGives(7)), "keys are free again")
		cotest.Yields(co, 2)
		again := s.JoinAll()
		assert.True(t, again.Completed())
		assert.Equal(t, map[string]int{"slow": 7}, groupAwait(t, co, again).Map())
		assert.Zero(t, groupAwait(t, co, s.JoinAll()).Len())
	})
}

func TestSet_TSET01_JoinAllWithFailures(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		t.Run(fmt.Sprint("ignore ", ignore), func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				s := groupSet(t, co, scope.GroupConfig{IgnoreErrors: ignore})
				for _, when := range []string{"pending", "settled"} {
					groupMust(t, co, s, groupFails[int](errBoom))
					key := groupMust(t, co, s, groupGives(5))
					groupMust(t, co, s, groupFails[int](errOther))
					if when == "settled" {
						cotest.Yields(co, 2)
					}
					all, err := s.JoinAll().Await(co)
					if ignore {
						require.NoError(t, err)
						assert.Equal(t, map[int]int{key: 5}, all.Map())
					} else {
						groupComposite(t, err, errBoom, errOther)
					}
					assert.Equal(t, scope.GroupStats{}, s.Stats())
				}
			})
		})
	}
}

func TestSet_TSET04_FinallyAfterJoinAllSeesNothing(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		count := -1
		require.NoError(t, s.OnFinally(func(_ *scheduler.Coroutine, s *scope.Set[int, int]) error {
			count = s.Count()
			return nil
		}))
		for i := range 3 {
			groupMust(t, co, s, groupGives(i))
		}
		require.NoError(t, s.Close())
		assert.Equal(t, 3, groupAwait(t, co, s.JoinAll()).Len())
		cotest.Yields(co, 3)
		assert.Zero(t, count)

		empty := groupSet(t, co)
		require.NoError(t, empty.Close())
		f := empty.JoinAll()
		assert.True(t, f.Completed())
		assert.Zero(t, groupAwait(t, co, f).Len())
	})
}

func TestSet_TSET01_AKeyIsTakenUntilItIsHandedOut(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s, err := scope.NewKeyedSet[string, int](co)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, s.SpawnKey(co, "key", groupGives(1)))
			cotest.IsUsage(t, s.SpawnKey(co, "key", groupGives(1)), "key")
			cotest.Yields(co, 2)
			cotest.IsUsage(t, s.TrySpawnKey("key", groupGives(1)), "key")
			groupAwait(t, co, groupFirst(t, s.JoinNext))
		}
		require.NoError(t, s.SpawnKey(co, "key", groupFails[int](errBoom)))
		cotest.Yields(co, 2)
		_, err = groupFirst(t, s.JoinAny).Await(co)
		groupComposite(t, err, errBoom)
		require.NoError(t, s.SpawnKey(co, "key", groupGives(2)))
		require.NoError(t, s.Close())
		for o, err := range s.Outcomes(co) {
			require.NoError(t, err)
			assert.Equal(t, scope.Outcome[string, int]{Key: "key", Value: 2}, o)
		}
		assert.Zero(t, s.Count())
	})
}

func TestSet_TG01_AutomaticKeysNeverRepeat(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		for i := range 10 {
			assert.Equal(t, i, groupMust(t, co, s, groupGives(0)))
			groupAwait(t, co, groupFirst(t, s.JoinNext))
		}
		require.NoError(t, s.SpawnKey(co, 10, groupGives(0)))
		require.NoError(t, s.SpawnKey(co, 3, groupGives(0)), "it was handed out")
		assert.Equal(t, 11, groupMust(t, co, s, groupGives(0)))
		groupAwait(t, co, s.JoinAll())
		assert.Equal(t, 12, groupMust(t, co, s, groupGives(0)))
		groupAwait(t, co, s.JoinAll())
	})
}

func TestSet_TG20_LoopsShareTheTasks(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co, groupLimit(3, 3))
		seen := map[int]int{}
		loops := make([]int, 3)
		var workers []*scheduler.Coroutine
		for i := range loops {
			workers = append(workers, e.Spawn(co, func(co *scheduler.Coroutine) error {
				for o, err := range s.Outcomes(co) {
					require.NoError(t, err)
					seen[o.Key]++
					loops[i]++
					cotest.Yields(co, 1)
				}
				return nil
			}))
		}
		for i := range 100 {
			groupMust(t, co, s, groupSleeps(i%2, i))
		}
		require.NoError(t, s.Close())
		for _, w := range workers {
			_, err := co.Await(w)
			require.NoError(t, err)
		}
		assert.Len(t, seen, 100)
		for key, n := range seen {
			assert.Equal(t, 1, n, "task %d", key)
		}
		for i, n := range loops {
			assert.NotZero(t, n, "loop %d", i)
		}
		assert.Zero(t, s.Count())
	})
}

func TestSet_TG20_ALoopThatBreaksLeavesTheRest(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		for i := range 4 {
			groupMust(t, co, s, groupGives(i))
		}
		cotest.Yields(co, 2)
		for range 2 {
			for _, err := range s.Outcomes(co) {
				require.NoError(t, err)
				break
			}
		}
		assert.Equal(t, 2, s.Count())
		assert.Equal(t, map[int]int{2: 2, 3: 3}, s.Results().Map())
		assert.Equal(t, 2, groupAwait(t, co, groupFirst(t, s.JoinNext)))
		assert.Equal(t, 3, groupAwait(t, co, groupFirst(t, s.JoinAny)))
	})
}

// groupLoop is a loop that takes one outcome and says it.
func groupLoop(e *cotest.Env, co *scheduler.Coroutine, s *scope.Set[int, int], name string, opts ...scheduler.WaitOption) *scheduler.Coroutine {
	return e.Spawn(co, func(co *scheduler.Coroutine) error {
		n := 0
		for o, err := range s.Outcomes(co, opts...) {
			n++
			if err != nil {
				e.Say(name + ": " + groupShort(err))
				return nil
			}
			e.Say(fmt.Sprintf("%s: %d", name, o.Value))
			return nil
		}
		if n == 0 {
			e.Say(name + ": none")
		}
		return nil
	})
}

func TestSet_GEN01_WhatWasSetAsideIsNobodyElses(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		hold := groupHolds(e, s, 1)[0]
		loop := groupLoop(e, co, s, "a")
		cotest.Yields(co, 2)
		hold.give(7)
		groupUntil(t, co, func() bool { return hold.ended })
		if !loop.Completed() {
			require.True(t, loop.Queued())
			assert.Equal(t, 1, s.Count(), "counted until it is taken")
			assert.Equal(t, 1, s.Stats().Succeeded)
			next := groupFirst(t, s.JoinNext)
			assert.False(t, next.Completed())
			assert.Zero(t, groupAwait(t, co, s.JoinAll()).Len())
			cotest.Yields(co, 2)
			groupSaid(e, "a: 7")
			assert.Zero(t, s.Count())
			assert.False(t, next.Completed())
			require.NoError(t, s.Close())
			_, err := next.Await(co)
			assert.ErrorIs(t, err, event.ErrClosed)
		}
	})
}

func TestSet_GEN02_CANC22_ALoopIsCancelledBeforeItRuns(t *testing.T) {
	for name, taker := range map[string]string{"to the next loop": "loop", "to a future": "future", "into the set": "none"} {
		t.Run(name, func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				s := groupSet(t, co)
				holds := groupHolds(e, s, 2)
				cotest.Yields(co, 1)
				loop := groupLoop(e, co, s, "a")
				cotest.Yields(co, 1)
				var f *future.Future[int]
				switch taker {
				case "loop":
					groupLoop(e, co, s, "b")
					cotest.Yields(co, 1)
				case "future":
					f = groupFirst(t, s.JoinNext)
				}
				holds[0].give(7)
				groupUntil(t, co, func() bool { return holds[0].ended })
				require.True(t, loop.Queued(), "it is woken for the first")
				holds[1].give(8)
				require.NoError(t, loop.Cancel(errStop))
				if f != nil {
					assert.True(t, f.Completed(), "in the same step")
				}
				cotest.Yields(co, 3)
				switch taker {
				case "loop":
					groupSaid(e, "a: cancelled stop", "b: 7")
				case "future":
					groupSaid(e, "a: cancelled stop")
					assert.Equal(t, 7, groupAwait(t, co, f))
				case "none":
					groupSaid(e, "a: cancelled stop")
					assert.Equal(t, 2, s.Count())
					assert.Equal(t, 7, groupAwait(t, co, groupFirst(t, s.JoinNext)), "in its old place")
				}
				assert.Equal(t, 8, groupAwait(t, co, groupFirst(t, s.JoinNext)))
				assert.Equal(t, scope.GroupStats{}, s.Stats())
			})
		})
	}
}

// As long as a loop may leave the success that was set aside for it, not all is lost for who wants one.
func TestSet_GEN05_JoinAnyWaitsForWhatALoopMayLeave(t *testing.T) {
	for _, leaves := range []bool{true, false} {
		groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
			s := groupSet(t, co)
			holds := groupHolds(e, s, 2)
			cotest.Yields(co, 1)
			loop := groupLoop(e, co, s, "a")
			cotest.Yields(co, 1)
			holds[0].give(7)
			holds[1].fail(errBoom)
			cotest.Yields(co, 1)
			require.True(t, holds[0].ended && holds[1].ended)
			require.True(t, loop.Queued(), "it is woken for the first")
			any := groupFirst(t, s.JoinAny)
			assert.False(t, any.Completed())
			if leaves {
				require.NoError(t, loop.Cancel(nil))
				assert.Equal(t, 7, groupAwait(t, co, any))
				assert.Equal(t, 1, s.Count())
				s.SuppressErrors()
				return
			}
			_, err := any.Await(co)
			groupComposite(t, err, errBoom)
			groupSaid(e, "a: 7")
			assert.Zero(t, s.Count())
		})
	}
}

func TestSet_GEN05_WhatAFailureWasSetAsideForIsUnhandledAgain(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc, failures := groupScope(e, co)
		s := groupSet(t, sc)
		hold := groupHolds(e, s, 1)[0]
		cotest.Yields(co, 1)
		loop := groupLoop(e, co, s, "a")
		any := groupFirst(t, s.JoinAny)
		require.NoError(t, any.Cancel(nil))
		cotest.Yields(co, 1)
		hold.fail(errBoom)
		groupUntil(t, co, func() bool { return hold.ended })
		require.True(t, loop.Queued())
		require.NoError(t, loop.Cancel(nil))
		cotest.Yields(co, 2)
		assert.Equal(t, 1, s.Stats().Unhandled)
		require.NoError(t, s.Close())
		require.NoError(t, sc.Dispose())
		cotest.Yields(co, 3)
		require.Len(t, *failures, 1)
		groupComposite(t, (*failures)[0], errBoom)
		runtime.KeepAlive(s)
	})
}

func TestSet_TG20_ALoopEndsWhenOthersTakeTheLast(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		hold := groupHolds(e, s, 1)[0]
		cotest.Yields(co, 1)
		for _, name := range []string{"a", "b", "c"} {
			groupLoop(e, co, s, name)
		}
		cotest.Yields(co, 1)
		require.NoError(t, s.Close())
		hold.give(1)
		cotest.Yields(co, 4)
		assert.ElementsMatch(t, []string{"a: 1", "b: none", "c: none"}, e.Said())
		require.NoError(t, s.AwaitCompletion(co))
	})
}

func TestSet_TG13_LookingHandsOutNothing(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co)
		groupMust(t, co, s, groupGives(1))
		groupMust(t, co, s, groupFails[int](errBoom))
		require.NoError(t, s.Close())
		require.NoError(t, s.AwaitCompletion(co))
		for range 2 {
			assert.Equal(t, map[int]int{0: 1}, s.Results().Map())
			assert.Equal(t, map[int]error{1: errBoom}, s.Errors().Map())
			s.SuppressErrors()
			assert.Equal(t, 2, s.Count())
		}
		assert.Equal(t, 1, groupAwait(t, co, groupFirst(t, s.JoinNext)))
		_, err := groupFirst(t, s.JoinNext).Await(co)
		assert.Equal(t, errBoom, err, "what was seen is there all the same")
		assert.Zero(t, s.Count())
	})
}

func TestSet_TG16_TheOutcomesOfACancelledSetCanBeTaken(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s := groupSet(t, co, groupLimit(1, 3))
		groupHolds(e, s, 4)
		pending := groupFirst(t, s.JoinNext)
		cotest.Yields(co, 1)
		require.NoError(t, s.Cancel(errStop))
		_, err := pending.Await(co)
		cotest.IsCancelled(t, err, errStop)
		require.NoError(t, s.AwaitCompletion(co))
		assert.Equal(t, 3, s.Count())
		_, err = groupFirst(t, s.JoinNext).Await(co)
		cotest.IsCancelled(t, err, errStop)
		n := 0
		for o, err := range s.Outcomes(co) {
			require.NoError(t, err)
			cotest.IsCancelled(t, o.Err, errStop)
			n++
			break
		}
		_, err = groupFirst(t, s.JoinAny).Await(co)
		groupComposite(t, err, errStop)
		assert.Equal(t, 1, n)
		assert.Zero(t, s.Count())
	})
}

// A subscriber of one joined future uses the set, whose entry is gone by then (GEN-10).
func TestSet_GEN10_SubscribersUseTheSet(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		s, err := scope.NewKeyedSet[string, int](co, groupLimit(1, 1))
		require.NoError(t, err)
		var rounds []int
		var again func()
		again = func() {
			f, err := s.JoinNext()
			require.NoError(t, err)
			_, err = f.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
				require.NoError(t, err)
				rounds = append(rounds, result.(int))
				assert.Zero(t, s.Count(), "it was handed out")
				if len(rounds) < 10 {
					require.NoError(t, s.TrySpawnKey("key", groupGives(len(rounds))))
					again()
				}
			})
			require.NoError(t, err)
		}
		require.NoError(t, s.SpawnKey(co, "key", groupGives(0)))
		again()
		groupUntil(t, co, func() bool { return len(rounds) == 10 })
		assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, rounds)
	})
}

// A server: one task after the other, for long, and no more memory for it.
func TestSet_TSET01_AHundredThousandTasksWithoutGrowth(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	takes := map[string]func(t *testing.T, co *scheduler.Coroutine, s *scope.Set[int, int]) int{
		"join next": func(t *testing.T, co *scheduler.Coroutine, s *scope.Set[int, int]) int {
			_, _ = groupFirst(t, s.JoinNext).Await(co)
			return 1
		},
		"join all": func(t *testing.T, co *scheduler.Coroutine, s *scope.Set[int, int]) int {
			_, _ = s.JoinAll().Await(co)
			return 10
		},
		"outcomes": func(t *testing.T, co *scheduler.Coroutine, s *scope.Set[int, int]) (n int) {
			for range s.Outcomes(co) {
				if n++; n == 10 {
					break
				}
			}
			return n
		},
	}
	for name, take := range takes {
		t.Run(name, func(t *testing.T) {
			cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					s := groupSet(t, co, groupLimit(4, 6))
					run := func(tasks int) {
						for range tasks / 10 {
							for i := range 10 {
								key := i - 100
								fn := groupGives(i)
								if i == 5 {
									fn = groupFails[int](errBoom)
								}
								if i%2 == 0 {
									require.NoError(t, s.SpawnKey(co, key, fn))
								} else {
									groupMust(t, co, s, fn)
								}
							}
							for n := 0; n < 10; {
								n += take(t, co, s)
							}
						}
						assert.Equal(t, scope.GroupStats{}, s.Stats())
					}
					run(2000)
					before := heap()
					run(100_000 / len(takes))
					after := heap()
					assert.Less(t, int64(after)-int64(before), int64(32<<10), "%d bytes before", before)
					runtime.KeepAlive(s)
					return nil
				})
			})
		})
	}
}
