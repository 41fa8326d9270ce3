package scope_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// groupRefuses checks that g takes no more tasks.
func groupRefuses(t *testing.T, co *scheduler.Coroutine, g groupInts) {
	t.Helper()
	never := func(*scheduler.Coroutine) (int, error) { assert.Fail(t, "it was refused"); return 0, nil }
	count := g.Count()
	_, err := g.Spawn(co, never)
	cotest.IsUsage(t, err, "Spawn", "closed")
	cotest.IsUsage(t, g.SpawnKey(co, 1000, never), "SpawnKey", "closed")
	_, err = g.TrySpawn(never)
	cotest.IsUsage(t, err, "TrySpawn", "closed")
	cotest.IsUsage(t, g.TrySpawnKey(1000, never), "TrySpawnKey", "closed")
	assert.Equal(t, count, g.Count())
	assert.True(t, g.IsClosed())
	assert.True(t, g.Stats().Closed)
	assert.Contains(t, g.Info(), "closed")
}

func TestGroup_TG06_AClosedGroupFinishesWhatItHas(t *testing.T) {
	groupBoth(t, groupLimit(1, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		assert.False(t, g.IsClosed())
		assert.False(t, g.Stats().Closed)
		assert.NotContains(t, g.Info(), "closed")
		holds := groupHolds(e, g, 3)
		require.NoError(t, g.Close())
		groupRefuses(t, co, g)
		require.NoError(t, g.Close(), "again")
		groupStats(t, g, 2, 1, 0, 0, 0)
		assert.False(t, g.IsFinished())
		groupEnd(holds)
		require.NoError(t, g.AwaitCompletion(co))
		assert.Equal(t, map[int]int{0: 0, 1: 1, 2: 2}, g.Results().Map())
		require.NoError(t, g.Close(), "after the end")
		groupRefuses(t, co, g)
	})
}

func TestGroup_TG06_CloseWithNothingInIt(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		require.NoError(t, g.Close())
		groupRefuses(t, co, g)
		require.NoError(t, g.AwaitCompletion(co))
		assert.True(t, g.IsFinished())
		_, err := co.Await(g)
		require.NoError(t, err)
	})
}

func TestGroup_TG15_AwaitCompletionOfAnOpenGroup(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		cotest.IsUsage(t, g.AwaitCompletion(co), "AwaitCompletion", "open", "Close")
		groupMust(t, co, g, groupGives(0))
		cotest.IsUsage(t, g.AwaitCompletion(co), "AwaitCompletion", "open", "Close")
		cotest.Yields(co, 3)
		cotest.IsUsage(t, g.AwaitCompletion(co), "AwaitCompletion", "open", "Close")
	})
}

func TestGroup_TG15_ItNeverReturnsWhatTasksFailWith(t *testing.T) {
	groupBoth(t, groupLimit(1, scope.NoQueueLimit), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		for _, fn := range []groupFn[int]{
			groupFails[int](errBoom),
			func(*scheduler.Coroutine) (int, error) { panic("boom") },
			func(co *scheduler.Coroutine) (int, error) { return 0, co.Cancel(errStop) },
			groupFails[int](&event.CancelledError{}),
		} {
			groupMust(t, co, g, fn)
		}
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		groupStats(t, g, 0, 0, 0, 4, 0)
		require.NoError(t, g.AwaitCompletion(co), "again")
		g.SuppressErrors()
	})
}

func TestGroup_TG15_ItWaitsForCancelledTasksToEnd(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		done := 0
		cleanup := func(co *scheduler.Coroutine) (int, error) {
			err := co.Delay(hour)
			_ = co.Protect(func(context.Context) error { return co.Delay(2 * ms) })
			done++
			return 0, err
		}
		for range 3 {
			groupMust(t, co, g, cleanup)
		}
		cotest.Yields(co, 1)
		require.NoError(t, g.Cancel(errStop))
		assert.False(t, g.IsFinished())
		assert.Zero(t, done)
		require.NoError(t, g.AwaitCompletion(co))
		assert.Equal(t, 3, done)
		assert.True(t, g.IsFinished())
	})
}

func TestGroup_TG15_ATaskCannotAwaitItsOwnGroup(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		refused := 0
		refuses := func(co *scheduler.Coroutine) error {
			cotest.IsUsage(t, g.AwaitCompletion(co), "AwaitCompletion", "task")
			refused++
			return nil
		}
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			_ = refuses(co)
			e.Spawn(co, refuses)            // in the scope of the tasks
			e.Spawn(scope.New(co), refuses) // and below it
			inner := groupOf(t, co)
			groupMust(t, co, inner, func(co *scheduler.Coroutine) (int, error) { return 0, refuses(co) })
			require.NoError(t, inner.Close())
			return 0, inner.AwaitCompletion(co) // of another group it can
		})
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		cotest.Yields(co, 5)
		assert.Equal(t, 4, refused)
	})
}

func TestGroup_TG15_ItsWaitIsBounded(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		require.NoError(t, g.Close())
		cotest.IsTimeout(t, g.AwaitCompletion(co, scheduler.Timeout(ms)))
		cotest.IsTokens(t, g.AwaitCompletion(co, scheduler.Token(future.Completed(co, 1))), nil)
		assert.ErrorIs(t, g.AwaitCompletion(co, scheduler.Timeout(-1)), event.ErrInvalidArgument)
		var got error
		waiter := e.Spawn(co, func(co *scheduler.Coroutine) error { got = g.AwaitCompletion(co); return nil })
		cotest.Yields(co, 1)
		require.NoError(t, waiter.Cancel(errStop))
		cotest.Yields(co, 2)
		cotest.IsCancelled(t, got, errStop)
		groupStats(t, g, 1, 1, 0, 0, 0)
		groupEnd(holds)
		require.NoError(t, g.AwaitCompletion(co))
		require.NoError(t, g.AwaitCompletion(co, scheduler.Token(future.Completed(co, 1))), "it has ended (CANC-25)")

		// GEN-02: a cancellation wins over the end that has woken it.
		g2 := groupOf(t, co)
		h := groupHolds(e, g2, 1)
		require.NoError(t, g2.Close())
		late := e.Spawn(co, func(co *scheduler.Coroutine) error { got = g2.AwaitCompletion(co); return nil })
		cotest.Yields(co, 1)
		h[0].give(0)
		groupUntil(t, co, func() bool { return late.Queued() || late.Completed() })
		if !late.Completed() {
			require.NoError(t, late.Cancel(errOther))
			cotest.Yields(co, 2)
			cotest.IsCancelled(t, got, errOther)
		}
		canceller := e.Spawn(co, func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Cancel(errStop))
			cotest.IsCancelled(t, g.AwaitCompletion(co), errStop) // CANC-00
			return nil
		})
		_, _ = co.Await(canceller)
	})
}

func TestGroup_TG16_CancelEndsRunningAndQueuedTasks(t *testing.T) {
	for name, closed := range map[string]bool{"open": false, "closed before": true} {
		t.Run(name, func(t *testing.T) {
			groupBoth(t, groupLimit(2, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
				require.True(t, co.Scope().Safe(), "even in a safe scope")
				holds := groupHolds(e, g, 4)
				cotest.Yields(co, 1)
				if closed {
					require.NoError(t, g.Close())
				}
				require.NoError(t, g.Cancel(errStop))
				groupRefuses(t, co, g)
				groupStats(t, g, 0, 2, 0, 2, 0)
				assert.False(t, g.IsFinished(), "until the running ones have ended")
				require.NoError(t, g.Cancel(errOther), "again")
				require.NoError(t, g.AwaitCompletion(co))
				assert.True(t, g.IsFinished())
				cotest.IsCancelled(t, holds[0].err, errStop)
				cotest.IsCancelled(t, holds[1].err, errStop)
				assert.False(t, holds[2].begun())
				assert.False(t, holds[3].begun())
				failed := g.Errors()
				assert.Equal(t, []int{0, 1, 2, 3}, failed.Keys())
				for _, err := range failed.Values() {
					cotest.IsCancelled(t, err, errStop)
					assert.NotErrorIs(t, err, errOther)
				}
				require.NoError(t, g.Cancel(errOther), "after the end")
				require.NoError(t, g.Dispose(), "and so")
			})
		})
	}
}

func TestGroup_TG16_OneThatHasNotBegunNeverDoes(t *testing.T) {
	groupBoth(t, groupLimit(2, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 3)
		require.NoError(t, g.Cancel(nil))
		require.NoError(t, g.AwaitCompletion(co))
		for _, h := range holds {
			assert.False(t, h.begun())
		}
		for _, err := range g.Errors().Values() {
			cotest.IsCancelled(t, err, nil)
		}
		groupStats(t, g, 0, 0, 0, 3, 0)
	})
}

func TestGroup_TG16_ATaskThatIgnoresItHasItsResult(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) { _ = co.Delay(hour); return 5, nil })
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			return 0, event.WithCause(errBoom, co.Delay(hour))
		})
		cotest.Yields(co, 1)
		require.NoError(t, g.Cancel(errStop))
		require.NoError(t, g.AwaitCompletion(co))
		assert.Equal(t, map[int]int{0: 5}, g.Results().Map())
		err, _ := g.Errors().Get(1)
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errStop)
	})
}

func TestGroup_TG16_CancelOfAnEmptyGroup(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		require.NoError(t, g.Cancel(errStop))
		assert.True(t, g.IsFinished())
		groupRefuses(t, co, g)
		require.NoError(t, g.AwaitCompletion(co))
	})
}

func TestGroup_GEN07_TheFirstReasonStays(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		cotest.Yields(co, 1)
		require.NoError(t, g.Dispose())
		require.NoError(t, g.Dispose())
		require.NoError(t, g.Cancel(errStop))
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		cotest.IsCancelled(t, holds[0].err, scope.ErrDisposed)
		for _, err := range g.Errors().Values() {
			cotest.IsCancelled(t, err, scope.ErrDisposed)
			assert.NotErrorIs(t, err, errStop)
		}
	})
}

func TestGroup_TG18_DisposeHandlesNoErrors(t *testing.T) {
	for name, end := range map[string]func(g groupInts) error{
		"dispose": func(g groupInts) error { return g.Dispose() },
		"cancel":  func(g groupInts) error { return g.Cancel(errStop) },
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					for _, set := range []bool{false, true} {
						sc, failures := groupScope(e, co)
						var g groupInts = groupOf(t, sc)
						if set {
							g = groupSet(t, sc)
						}
						groupMust(t, co, g, groupFails[int](errBoom))
						groupHolds(e, g, 1)
						cotest.Yields(co, 2)
						require.NoError(t, end(g))
						cotest.Yields(co, 5)
						assert.Equal(t, 1, g.Stats().Unhandled)
						assert.Empty(t, *failures, "not before the scope completes")
						require.NoError(t, sc.Dispose())
						cotest.Yields(co, 5)
						require.Len(t, *failures, 1)
						groupComposite(t, (*failures)[0], errBoom)
						assert.Zero(t, g.Stats().Unhandled)
					}
					return nil
				})
			})
		})
	}
}

func TestGroup_TG16_ATaskCancelsItsGroup(t *testing.T) {
	groupBoth(t, groupLimit(2, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			require.NoError(t, co.Yield())
			require.NoError(t, g.Cancel(errStop))
			e.Say("goes on") // SCOPE-31
			groupRefuses(t, co, groupCancelledSpawns{g})
			cotest.IsCancelled(t, co.Yield(), errStop)
			return 1, nil
		})
		other := groupHolds(e, g, 2)
		groupUntil(t, co, g.IsFinished)
		groupSaid(e, "goes on")
		cotest.IsCancelled(t, other[0].err, errStop)
		assert.False(t, other[1].begun())
		assert.Equal(t, 3, g.Count())
		for key, err := range g.Errors().All() {
			cotest.IsCancelled(t, err, errStop)
			assert.NotZero(t, key, "the value that it returned after a cancelled wait stays (CANC-05)")
		}
		assert.Equal(t, map[int]int{0: 1}, g.Results().Map())
	})
}

// groupCancelledSpawns is a group for a coroutine that is cancelled, whose suspending calls answer that (CANC-00).
type groupCancelledSpawns struct{ groupInts }

func (c groupCancelledSpawns) Spawn(_ *scheduler.Coroutine, fn func(co *scheduler.Coroutine) (int, error), _ ...scheduler.WaitOption) (int, error) {
	return c.TrySpawn(fn)
}

func (c groupCancelledSpawns) SpawnKey(_ *scheduler.Coroutine, key int, fn func(co *scheduler.Coroutine) (int, error), _ ...scheduler.WaitOption) error {
	return c.TrySpawnKey(key, fn)
}

func TestGroup_TG06_ATaskClosesItsGroup(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			require.NoError(t, co.Yield())
			return 1, g.Close()
		})
		groupMust(t, co, g, groupGives(2))
		groupSpawner(e, co, g, "late", groupGives(0))
		groupUntil(t, co, g.IsClosed)
		require.NoError(t, g.AwaitCompletion(co))
		cotest.Yields(co, 2)
		groupSaid(e, "late: closed")
		assert.Equal(t, map[int]int{0: 1, 1: 2}, g.Results().Map())
	})
}

func TestGroup_EVT07_ItsEndIsAnEvent(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		told := 0
		subscribe := func() {
			_, err := g.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
				told++
				assert.Nil(t, result)
				assert.NoError(t, err)
				assert.True(t, g.IsFinished())
				assert.True(t, g.IsClosed())
			})
			require.NoError(t, err)
		}
		subscribe()
		assert.Zero(t, g.Flags()&event.FlagClosed)
		holds := groupHolds(e, g, 2)
		holds[0].fail(errBoom)
		cotest.Yields(co, 3)
		_, err := co.Await(g, scheduler.Timeout(ms))
		cotest.IsTimeout(t, err)
		holds[1].give(0)
		cotest.Yields(co, 3)
		assert.Zero(t, told, "it is open")
		e.After(ms, func() { assert.NoError(t, g.Close()) })
		fired, _, err := co.AwaitFirst([]event.Event{e.Gate(), g})
		require.NoError(t, err)
		assert.Equal(t, 1, fired)
		assert.Equal(t, 1, told)
		subscribe()
		assert.Equal(t, 2, told, "replayed")
		assert.NotZero(t, g.Flags()&event.FlagClosed)
		_, err = co.Await(g)
		require.NoError(t, err)
		_, _, err = future.AwaitAll(co, future.Events(g, g))
		require.NoError(t, err)
		g.SuppressErrors()
	})
}

func TestGroup_EVT07_AnEventThatIsAskedForAfterTheEnd(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, groupGives(0))
		require.NoError(t, g.Close())
		cotest.Yields(co, 3)
		assert.NotZero(t, g.Flags()&event.FlagClosed)
		told := 0
		_, err := g.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { told++ })
		require.NoError(t, err)
		assert.Equal(t, 1, told)
		_, err = co.Await(g)
		require.NoError(t, err)
	})
}
