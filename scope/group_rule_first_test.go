package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG10_RaceIsTheFirstToSettle(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 3)
		first, second := groupFirst(t, g.Race), groupFirst(t, g.Race)
		cotest.Yields(co, 1)
		assert.False(t, first.Completed())
		holds[2].give(2)
		assert.Equal(t, 2, groupAwait(t, co, first))
		assert.Equal(t, 2, groupAwait(t, co, second))
		assert.Equal(t, 2, groupAwait(t, co, groupFirst(t, g.Race)), "as before")
		groupStats(t, g, 0, 2, 1, 0, 0) // TG-12
		groupEnd(holds)
		cotest.Yields(co, 2)
		groupStats(t, g, 0, 0, 3, 0, 0)
		assert.Equal(t, 2, groupAwait(t, co, first), "a future stays as it is")
	})
}

func TestGroup_TG12_TheOthersRunOn(t *testing.T) {
	for name, first := range map[string]func(g *scope.Group[int, int]) (*future.Future[int], error){
		"race": (*scope.Group[int, int]).Race,
		"any":  (*scope.Group[int, int]).Any,
	} {
		t.Run(name, func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				g := groupOf(t, co)
				holds := groupHolds(e, g, 3)
				answer, err := first(g)
				require.NoError(t, err)
				cotest.Yields(co, 1)
				holds[1].give(1)
				assert.Equal(t, 1, groupAwait(t, co, answer))
				cotest.Yields(co, 2)
				groupStats(t, g, 0, 2, 1, 0, 0)
				for _, hold := range []int{0, 2} {
					assert.NoError(t, holds[hold].co.Err())
				}
				groupEnd(holds)
				cotest.Yields(co, 2)
				groupStats(t, g, 0, 0, 3, 0, 0)
			})
		})
	}
}

func TestGroup_TG10_RaceTakesAFailureToo(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 2)
		race := groupFirst(t, g.Race)
		holds[1].fail(errBoom)
		_, err := race.Await(co)
		assert.Equal(t, errBoom, err, "itself, not in a composite")
		assert.Zero(t, g.Stats().Unhandled, "it was taken")
		_, err = groupFirst(t, g.Race).Await(co)
		assert.Equal(t, errBoom, err)
		groupEnd(holds)
	})
}

func TestGroup_TG10_OfSeveralThatHaveSettledTheFirstSpawned(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 5)
		cotest.Yields(co, 1)
		holds[4].give(4)
		cotest.Yields(co, 2)
		holds[2].fail(errBoom)
		cotest.Yields(co, 2)
		holds[3].give(3)
		cotest.Yields(co, 2)
		for range 3 {
			race := groupFirst(t, g.Race)
			assert.True(t, race.Completed())
			_, err := race.Await(co)
			assert.Equal(t, errBoom, err)
		}
		groupEnd(holds)
		cotest.Yields(co, 2)
		for range 2 {
			_, err := groupFirst(t, g.Race).Await(co)
			assert.Equal(t, errBoom, err, "further calls have the same answer")
		}
	})
}

func TestGroup_TG10_TG11_AnEmptyGroupHasNoFirst(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		for range 2 {
			f, err := g.Race()
			cotest.IsUsage(t, err, "Group.Race", "empty")
			assert.Nil(t, f)
			f, err = g.Any()
			cotest.IsUsage(t, err, "Group.Any", "empty")
			assert.Nil(t, f)
			require.NoError(t, g.Close())
		}
		queued := groupOf(t, co, groupLimit(1, 1))
		groupHolds(e, queued, 2)
		groupFirst(t, queued.Race)
		require.NoError(t, queued.Cancel(nil))
	})
}

func TestGroup_TG11_AnyIsTheFirstSuccess(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 4)
		any := groupFirst(t, g.Any)
		holds[3].fail(errBoom)
		cotest.Yields(co, 2)
		assert.False(t, any.Completed(), "errors are skipped")
		assert.False(t, groupFirst(t, g.Any).Completed())
		holds[2].give(2)
		assert.Equal(t, 2, groupAwait(t, co, any))
		assert.Equal(t, 1, g.Stats().Unhandled, "the failure was skipped, not dealt with")
		groupStats(t, g, 0, 2, 1, 1, 0) // TG-12
		holds[1].give(1)
		cotest.Yields(co, 2)
		assert.Equal(t, 2, groupAwait(t, co, groupFirst(t, g.Any)), "further calls have the same answer")
		holds[0].fail(errOther)
		cotest.Yields(co, 2)
		assert.Equal(t, 2, groupAwait(t, co, groupFirst(t, g.Any)))
		g.SuppressErrors()
	})
}

func TestGroup_TG11_OfSeveralThatHaveSucceededTheFirstSpawned(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 5)
		cotest.Yields(co, 1)
		for _, i := range []int{4, 0, 1, 3} {
			if i == 0 {
				holds[i].fail(errBoom)
			} else {
				holds[i].give(i)
			}
			cotest.Yields(co, 2)
		}
		for range 2 {
			any := groupFirst(t, g.Any)
			assert.True(t, any.Completed())
			assert.Equal(t, 1, groupAwait(t, co, any))
		}
		_, err := groupFirst(t, g.Race).Await(co)
		assert.Equal(t, errBoom, err)
		groupEnd(holds)
	})
}

func TestGroup_TG11_AllHaveFailed(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		holds := groupHolds(e, g, 2)
		first, second := groupFirst(t, g.Any), groupFirst(t, g.Any)
		holds[1].fail(errBoom)
		cotest.Yields(co, 2)
		holds[0].fail(errOther)
		for range 2 {
			_, err := first.Await(co)
			groupComposite(t, err, errOther, errBoom)
		}
		_, err := second.Await(co)
		groupComposite(t, err, errOther, errBoom)
		assert.Zero(t, g.Stats().Unhandled)
		settled := groupFirst(t, g.Any)
		assert.True(t, settled.Completed())
		_, err = settled.Await(co)
		groupComposite(t, err, errOther, errBoom)

		groupMust(t, co, g, groupGives(7)) // the group is open
		assert.Equal(t, 7, groupAwait(t, co, groupFirst(t, g.Any)))
	})
}

func TestGroup_TG11_AllAreCancelled(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(1, 1))
		groupHolds(e, g, 2)
		race, any := groupFirst(t, g.Race), groupFirst(t, g.Any)
		cotest.Yields(co, 1)
		require.NoError(t, g.Cancel(errStop))
		_, err := any.Await(co)
		groupComposite(t, err, errStop, errStop)
		_, err = race.Await(co)
		cotest.IsCancelled(t, err, errStop)
	})
}

// What a queued task, cancelled with its group, ends with is the first to settle, too.
func TestGroup_TG10_ACancelledGroupSettlesTheRaceAtOnce(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(1, 1))
		holds := groupHolds(e, g, 2)
		race := groupFirst(t, g.Race)
		cotest.Yields(co, 1)
		require.NoError(t, g.Cancel(errStop))
		assert.True(t, race.Completed())
		assert.False(t, holds[0].ended)
		_, err := race.Await(co)
		cotest.IsCancelled(t, err, errStop)
	})
}

func TestGroup_GEN10_SubscribersOfTheFirstUseTheGroup(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(1, 1))
		holds := groupHolds(e, g, 2)
		calls := 0
		for range 2 {
			for _, first := range []func() *event.Base{
				func() *event.Base { return groupFirst(t, g.Race).AsEvent() },
				func() *event.Base { return groupFirst(t, g.Any).AsEvent() },
			} {
				_, err := first().Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
					calls++
					assert.NoError(t, err)
					assert.Equal(t, 3, result)
					st := g.Stats()
					assert.Equal(t, 1, st.Succeeded)
					if calls == 1 {
						assert.Equal(t, 1, st.Running, "the next one was started before")
						_, err := g.TrySpawn(groupGives(0))
						assert.NoError(t, err)
						require.NoError(t, g.Close())
						assert.Equal(t, 3, g.Count())
						again := groupFirst(t, g.Race)
						assert.True(t, again.Completed())
						require.NoError(t, again.Ignore())
					}
				})
				require.NoError(t, err)
			}
		}
		holds[0].give(3)
		groupEnd(holds)
		groupUntil(t, co, g.IsClosed)
		require.NoError(t, g.AwaitCompletion(co))
		assert.Equal(t, 4, calls)
		assert.Equal(t, 3, g.Count())
	})
}

// A subscriber cancels the group between two that wait.
func TestGroup_GEN10_ASubscriberCancelsTheGroup(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co, groupLimit(2, 2))
		holds := groupHolds(e, g, 4)
		first, second := groupFirst(t, g.Race), groupFirst(t, g.Race)
		all := g.All()
		ended := 0
		require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { ended++; return nil }))
		_, err := first.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
			require.NoError(t, g.Cancel(errStop))
			groupStats(t, g, 0, 2-1+1, 1, 1, 0)
		})
		require.NoError(t, err)
		holds[1].give(1)
		assert.Equal(t, 1, groupAwait(t, co, second))
		_, err = all.Await(co)
		groupComposite(t, err, errStop, errStop, errStop)
		cotest.Yields(co, 3)
		assert.Equal(t, 1, ended)
		assert.False(t, holds[2].begun())
	})
}
