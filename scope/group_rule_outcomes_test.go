package scope_test

import (
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

type groupOutcome = scope.Outcome[int, int]

func TestGroup_TG20_TG21_EachOnceInTheOrderOfCompletion(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 4)
		cotest.Yields(co, 1)
		holds[2].give(2)
		cotest.Yields(co, 2)
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			for _, i := range []int{3, 0, 1} {
				cotest.Yields(co, 2)
				if i == 0 {
					holds[i].fail(errBoom)
				} else {
					holds[i].give(i)
				}
			}
			cotest.Yields(co, 2)
			_, err := g.Spawn(co, groupGives(7))
			require.NoError(t, err)
			cotest.Yields(co, 3)
			return g.Close()
		})
		var got []groupOutcome
		for o, err := range g.Outcomes(co) {
			require.NoError(t, err)
			got = append(got, o)
			if o.Key != 4 {
				assert.False(t, g.IsClosed(), "it waits while the group is open")
			}
		}
		want := []groupOutcome{{Key: 2, Value: 2}, {Key: 3, Value: 3}, {Key: 0, Err: errBoom}, {Key: 1, Value: 1}, {Key: 4, Value: 7}}
		assert.Equal(t, want, got)
		assert.True(t, g.IsClosed())
		assert.Zero(t, g.Stats().Unhandled, "what was delivered was dealt with")
		again := 0
		for o, err := range g.Outcomes(co) {
			require.NoError(t, err)
			assert.Equal(t, want[again], o, "each loop begins with the first")
			again++
		}
		assert.Equal(t, 5, again)
	})
}

func TestGroup_TG20_TheEndOfALoop(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		require.NoError(t, g.Close())
		for range groupOutcomes(g, co) {
			assert.Fail(t, "it is empty")
		}
	})
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		// Woken by the close, with nothing to come.
		e.After(2*ms, func() { assert.NoError(t, g.Close()) })
		n := 0
		for range groupOutcomes(g, co) {
			n++
		}
		assert.Zero(t, n)
		assert.True(t, g.IsClosed())
	})
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupHolds(e, g, 2)
		e.After(2*ms, func() { assert.NoError(t, g.Cancel(errStop)) })
		var keys []int
		for o, err := range groupOutcomes(g, co) {
			require.NoError(t, err)
			cotest.IsCancelled(t, o.Err, errStop)
			keys = append(keys, o.Key)
		}
		assert.ElementsMatch(t, []int{0, 1}, keys)
	})
}

func groupOutcomes(g groupInts, co *scheduler.Coroutine, opts ...scheduler.WaitOption) func(yield func(groupOutcome, error) bool) {
	switch g := g.(type) {
	case *scope.Group[int, int]:
		return g.Outcomes(co, opts...)
	case *scope.Set[int, int]:
		return g.Outcomes(co, opts...)
	}
	panic("neither")
}

func TestGroup_TG20_SeveralLoopsSeeAllOfAGroup(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(2, 2))
		seen := make([][]int, 3)
		for i := range seen {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				for o, err := range g.Outcomes(co) {
					require.NoError(t, err)
					seen[i] = append(seen[i], o.Key)
					if i == 1 {
						cotest.Yields(co, 3)
					}
				}
				return nil
			})
		}
		for i := range 20 {
			groupMust(t, co, g, groupSleeps(i%3, i))
		}
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		groupUntil(t, co, func() bool { return len(seen[1]) == 20 })
		assert.Len(t, seen[0], 20)
		assert.Equal(t, seen[0], seen[1])
		assert.Equal(t, seen[0], seen[2])
	})
}

func TestGroup_TG20_ALoopThatBreaksDealsWithWhatItHadAlone(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		for _, err := range []error{errBoom, errOther, errStop} {
			groupMust(t, co, g, groupFails[int](err))
		}
		cotest.Yields(co, 2)
		assert.Equal(t, 3, g.Stats().Unhandled)
		for o, err := range g.Outcomes(co) {
			require.NoError(t, err)
			if o.Err == errOther {
				break
			}
		}
		assert.Equal(t, 1, g.Stats().Unhandled)
		assert.Equal(t, 3, g.Count())
		g.SuppressErrors()
	})
}

func TestGroup_TG20_TheErrorOfTheWaitComesLast(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		token, fired := future.New[int](co)
		collect := func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) (keys []int, last error) {
			for o, err := range groupOutcomes(g, co, opts...) {
				require.NoError(t, last, "after an error, there is nothing")
				if last = err; err == nil {
					keys = append(keys, o.Key)
				} else {
					assert.Equal(t, groupOutcome{}, o)
				}
			}
			return keys, last
		}
		groupMust(t, co, g, groupGives(0))
		hold := groupHolds(e, g, 1)[0]
		cotest.Yields(co, 2)
		keys, err := collect(co, scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		assert.Equal(t, []int{0}, keys)

		_, err = collect(co, scheduler.Timeout(-1))
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = collect(nil)
		cotest.IsUsage(t, err, "Outcomes")

		var got error
		looping := e.Spawn(co, func(co *scheduler.Coroutine) error { _, got = collect(co); return nil })
		cotest.Yields(co, 1)
		_, err = collect(looping)
		cotest.IsUsage(t, err, "Outcomes")
		require.NoError(t, looping.Cancel(errStop))
		cotest.Yields(co, 2)
		cotest.IsCancelled(t, got, errStop)

		e.Spawn(co, func(co *scheduler.Coroutine) error { _, got = collect(co, scheduler.Token(fired)); return nil })
		cotest.Yields(co, 1)
		require.NoError(t, token.Fail(errBoom))
		cotest.Yields(co, 2)
		cotest.IsTokens(t, got, errBoom)

		hold.give(4)
		cotest.Yields(co, 2)
		require.NoError(t, g.Close())
		keys, err = collect(co, scheduler.Token(fired), scheduler.Timeout(1))
		require.NoError(t, err, "nothing had to wait (CANC-25)")
		assert.Contains(t, keys, 1)
	})
}

// CANC-00: a cancelled coroutine gets nothing, though there is something.
func TestGroup_CANC00_ALoopOfACancelledCoroutine(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		for i := range 3 {
			groupMust(t, co, g, groupGives(i))
		}
		cotest.Yields(co, 2)
		count := 0
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			for _, err := range groupOutcomes(g, co) {
				count++
				if count == 1 {
					require.NoError(t, err)
					require.NoError(t, co.Cancel(errStop))
					continue
				}
				cotest.IsCancelled(t, err, errStop)
			}
			return nil
		})
		cotest.Yields(co, 2)
		assert.Equal(t, 2, count)
		require.NoError(t, g.Close())
		left := 0
		for _, err := range groupOutcomes(g, co) {
			require.NoError(t, err)
			left++
		}
		assert.Equal(t, 2+groupKept(g), left)
	})
}

func TestGroup_TG20_TheBodyUsesTheGroup(t *testing.T) {
	groupBoth(t, groupLimit(2, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, groupGives(0))
		var values []int
		for o, err := range groupOutcomes(g, co) {
			require.NoError(t, err)
			values = append(values, o.Value)
			if o.Value == 20 {
				require.NoError(t, g.Close())
				continue
			}
			_, err = g.Spawn(co, groupGives(o.Value+1))
			require.NoError(t, err)
		}
		require.Len(t, values, 21)
		assert.IsIncreasing(t, values)
	})
}

func TestGroup_TG20_TheBodyPanicsOrLeaves(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		for i := range 3 {
			groupMust(t, co, g, groupGives(i))
		}
		cotest.Yields(co, 2)
		first := func() (o groupOutcome) {
			defer func() { assert.Equal(t, "out", recover()) }()
			for o = range groupOutcomes(g, co) {
				panic("out")
			}
			return o
		}()
		assert.Equal(t, 0, first.Value)
		require.NoError(t, g.Close())
		n := 0
		for _, err := range groupOutcomes(g, co) {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 2+groupKept(g), n)
	})
}

// With more outcomes than may be had in a row, the others have their turn (REACT-20).
func TestGroup_REACT20_ALoopOverManyLetsOthersRun(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		for range 1000 {
			groupMust(t, co, g, groupGives(0))
		}
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		ran := false
		e.Spawn(co, func(*scheduler.Coroutine) error { ran = true; return nil })
		n := 0
		for _, err := range groupOutcomes(g, co) {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 1000, n)
		assert.True(t, ran)
	})
}

// A task that loops over its own group until the end waits for itself.
func TestGroup_DEAD10_ATaskThatLoopsOverItsOwnGroup(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			for _, g := range []groupInts{groupOf(t, co), groupSet(t, co)} {
				groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
					for o, err := range groupOutcomes(g, co) {
						if err != nil {
							return 0, err
						}
						e.Say(fmt.Sprint(o.Value))
					}
					return 0, nil
				})
				groupMust(t, co, g, groupGives(5))
				require.NoError(t, g.Close())
			}
			return nil
		})
		groupSaid(e, "5", "5")
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 2, dead.Waiting)
		assert.Contains(t, dead.Report, "group, 1 running")
		assert.Contains(t, dead.Report, "set, 1 running")
	})
}
