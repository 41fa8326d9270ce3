package scope_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG23_AFailureIsTheGroups(t *testing.T) {
	for name, fails := range map[string]groupFn[int]{
		"error":        groupFails[int](errBoom),
		"panic":        func(*scheduler.Coroutine) (int, error) { panic(errBoom) },
		"after a wait": func(co *scheduler.Coroutine) (int, error) { _ = co.Delay(ms); return 0, errBoom },
	} {
		t.Run(name, func(t *testing.T) {
			for _, safe := range []bool{true, false} {
				groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
					sc, failures := groupScope(e, co)
					if !safe {
						sc.AsNotSafely()
					}
					require.NoError(t, sc.OnChildError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error { return sc.Cancel(err) }))
					sibling := e.Spawn(sc, cotest.Sleeper(5*ms))
					for _, g := range []groupInts{groupOf(t, sc), groupSet(t, sc)} {
						hold := groupHolds(e, g, 1)[0]
						groupMust(t, co, g, fails)
						require.NoError(t, co.Delay(3*ms))
						assert.Equal(t, 1, g.Stats().Failed)
						assert.False(t, hold.ended, "siblings are unaffected")
						assert.False(t, g.IsClosed())
						assert.False(t, sc.IsCancelled())
						assert.Empty(t, *failures)
						hold.give(1)
						cotest.Yields(co, 2)
						assert.Equal(t, map[int]int{0: 1}, g.Results().Map())
						err, _ := g.Errors().Get(1)
						assert.ErrorIs(t, err, errBoom)
					}
					_, err := co.Await(sibling)
					require.NoError(t, err)
					require.NoError(t, sc.Dispose())
					cotest.Yields(co, 2)
					assert.Empty(t, *failures)
				})
			}
		})
	}
}

// The failure of a coroutine that a task has left behind is that of its scope: of the group's, and those around (SCOPE-18).
func TestGroup_TG23_WhatATaskStartsFailsInItsScope(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc, failures := groupScope(e, co)
		g := groupOf(t, sc)
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			e.Spawn(co, cotest.Fails(errBoom))
			return 1, nil
		})
		cotest.Yields(co, 4)
		assert.Equal(t, []error{errBoom}, *failures)
		assert.True(t, g.IsClosed(), "its scope was cancelled")
		assert.False(t, sc.IsCancelled())
		assert.Equal(t, map[int]int{0: 1}, g.Results().Map())
		require.NoError(t, g.AwaitCompletion(co))
	})
}

func TestGroup_TG22_GEN08_WhatNobodyTookSurfacesOnceInTheOrderOfTheSpawns(t *testing.T) {
	errs := []error{errBoom, errOther, errStop}
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc, failures := groupScope(e, co)
		g := groupOf(t, sc)
		holds := groupHolds(e, g, 5)
		cotest.Yields(co, 1)
		for _, i := range []int{3, 0, 4} {
			holds[i].fail(fmt.Errorf("task %d: %w", i, errs[i/2]))
			cotest.Yields(co, 2)
		}
		groupEnd(holds)
		cotest.Yields(co, 2)
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		cotest.Yields(co, 3)
		assert.Empty(t, *failures, "the group is there, somebody may take them")
		assert.Equal(t, 3, g.Stats().Unhandled)
		require.NoError(t, sc.DisposeSafely())
		cotest.Yields(co, 5)
		require.Len(t, *failures, 1)
		groupComposite(t, (*failures)[0], errBoom, errOther, errStop)
		var composite *event.CompositeError
		require.ErrorAs(t, (*failures)[0], &composite)
		for i, key := range []int{0, 3, 4} {
			assert.ErrorContains(t, composite.Errors[i], fmt.Sprintf("task %d", key))
		}
		assert.Zero(t, g.Stats().Unhandled)
		assert.Equal(t, 3, g.Errors().Len(), "they can still be read")
		runtime.KeepAlive(g)
	})
}

func TestGroup_GEN08_WhatIsLeftWhenSomeWereTaken(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		for _, kind := range []string{"group", "set"} {
			for taken := 1; taken <= 3; taken++ {
				sc, failures := groupScope(e, co)
				var g groupInts = groupOf(t, sc)
				if kind == "set" {
					g = groupSet(t, sc)
				}
				errs := []error{errBoom, errOther, errStop}
				for _, err := range errs {
					groupMust(t, co, g, groupFails[int](err))
				}
				require.NoError(t, g.Close())
				require.NoError(t, g.AwaitCompletion(co))
				n := 0
				for range groupOutcomes(g, co) {
					if n++; n == taken {
						break
					}
				}
				assert.Equal(t, 3-n, g.Stats().Unhandled)
				require.NoError(t, sc.Dispose())
				cotest.Yields(co, 3)
				if n == 3 {
					assert.Empty(t, *failures)
				} else if assert.Len(t, *failures, 1) {
					groupComposite(t, (*failures)[0], errs[n:]...)
				}
				runtime.KeepAlive(g)
			}
		}
	})
}

// groupTimes counts how often text is in the message of err.
func groupTimes(err error, text string) int { return strings.Count(err.Error(), text) }

func TestGroup_TG22_GEN08_WithoutAHandlerItIsTheRuns(t *testing.T) {
	for _, kind := range []string{"group", "set"} {
		t.Run(kind, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				err := e.Run(func(co *scheduler.Coroutine) error {
					var g groupInts = groupOf(t, co)
					if kind == "set" {
						g = groupSet(t, co)
					}
					groupMust(t, co, g, groupFails[int](groupErr("first-failure")))
					groupMust(t, co, g, groupFails[int](groupErr("second-failure")))
					groupMust(t, co, g, groupGives(0))
					return nil // open, too
				})
				groupComposite(t, err, groupErr("first-failure"), groupErr("second-failure"))
				assert.Equal(t, 1, groupTimes(err, "first-failure"))
				assert.Equal(t, 1, groupTimes(err, "second-failure"))
			})
		})
	}
}

// Whoever was given a failure has it, or lets it surface: it does so once either way.
func TestGroup_GEN08_AFutureThatNobodyTakesSurfacesOnce(t *testing.T) {
	takes := map[string]func(t *testing.T, g *scope.Group[int, int]) error{
		"all":       func(t *testing.T, g *scope.Group[int, int]) error { g.All(); return nil },
		"all twice": func(t *testing.T, g *scope.Group[int, int]) error { g.All(); return g.All().Ignore() },
		"race":      func(t *testing.T, g *scope.Group[int, int]) error { groupFirst(t, g.Race); return nil },
		"any":       func(t *testing.T, g *scope.Group[int, int]) error { groupFirst(t, g.Any); return nil },
		"a future that was cancelled": func(t *testing.T, g *scope.Group[int, int]) error {
			return errors.Join(g.All().Cancel(nil), groupFirst(t, g.Race).Cancel(nil), groupFirst(t, g.Any).Cancel(nil))
		},
		"none": func(*testing.T, *scope.Group[int, int]) error { return nil },
	}
	for name, take := range takes {
		for _, when := range []string{"before", "after"} {
			if when == "after" && strings.HasPrefix(name, "a future") {
				continue // there is nothing to cancel
			}
			t.Run(name+" "+when, func(t *testing.T) {
				cotest.Each(t, func(t *testing.T, e *cotest.Env) {
					err := e.Run(func(co *scheduler.Coroutine) error {
						g := groupOf(t, co)
						groupMust(t, co, g, groupFails[int](groupErr("the-failure")))
						if when == "before" {
							require.NoError(t, take(t, g))
						}
						cotest.Yields(co, 3)
						if when == "after" {
							require.NoError(t, take(t, g))
						}
						runtime.KeepAlive(g)
						return g.Close()
					})
					require.Error(t, err)
					assert.ErrorIs(t, err, groupErr("the-failure"))
					assert.Equal(t, 1, groupTimes(err, "the-failure"), err.Error())
				})
			})
		}
	}
}

func TestGroup_GEN08_WhatWasTakenSurfacesNowhere(t *testing.T) {
	takes := map[string]func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]){
		"all":     func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) { _, _ = g.All().Await(co) },
		"ignored": func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) { _ = g.All().Ignore() },
		"race": func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) {
			_, _ = groupFirst(t, g.Race).Await(co)
		},
		"any": func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) {
			_, _ = groupFirst(t, g.Any).Await(co)
		},
		"outcomes": func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) {
			for range g.Outcomes(co) {
				break
			}
		},
		"errors":   func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) { g.Errors() },
		"suppress": func(t *testing.T, co *scheduler.Coroutine, g *scope.Group[int, int]) { g.SuppressErrors() },
	}
	for name, take := range takes {
		t.Run(name, func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				g := groupOf(t, co)
				groupMust(t, co, g, groupFails[int](errBoom))
				cotest.Yields(co, 2)
				assert.Equal(t, 1, g.Stats().Unhandled)
				take(t, co, g)
				assert.Zero(t, g.Stats().Unhandled)
				require.NoError(t, g.Close())
			})
		})
	}
}

// CANC-19: what was cancelled is no failure.
func TestGroup_CANC19_CancellationsAreNotReported(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc, failures := groupScope(e, co)
		g := groupOf(t, sc, groupLimit(2, 2))
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			return 0, fmt.Errorf("task: %w", co.Delay(hour))
		})
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			return 0, errors.Join(errBoom, co.Delay(hour)) // this is one
		})
		groupHolds(e, g, 2)
		cotest.Yields(co, 1)
		require.NoError(t, g.Cancel(errStop))
		require.NoError(t, g.AwaitCompletion(co))
		groupStats(t, g, 0, 0, 0, 4, 0)
		assert.Equal(t, 1, g.Stats().Unhandled)
		require.NoError(t, sc.Dispose())
		cotest.Yields(co, 3)
		require.Len(t, *failures, 1)
		groupComposite(t, (*failures)[0], errBoom)
	})
}

func TestGroup_TG22_AGroupThatIsCollected(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, kind := range []string{"group", "set"} {
				sc, failures := groupScope(e, co)
				make := func() groupInts {
					if kind == "set" {
						return groupSet(t, sc, groupLimit(1, 5))
					}
					return groupOf(t, sc, groupLimit(1, 5))
				}
				// With its tasks ended.
				func() {
					g := make()
					groupMust(t, co, g, groupFails[int](errBoom))
					groupMust(t, co, g, groupFails[int](errOther))
					groupMust(t, co, g, groupGives(0))
					groupUntil(t, co, g.IsFinished)
				}()
				assert.Empty(t, *failures)
				cotest.Collect(t, co, func() bool { return len(*failures) > 0 })
				groupComposite(t, (*failures)[0], errBoom, errOther)
				cotest.Storm(co)
				assert.Len(t, *failures, 1)
				*failures = nil

				// With tasks that run, and some that wait for their turn: they run on.
				var holds []*groupHold
				func() { holds = groupHolds(e, make(), 3) }()
				cotest.Yields(co, 1)
				cotest.Storm(co)
				holds[0].fail(errBoom)
				cotest.Yields(co, 2)
				holds[1].fail(errOther)
				cotest.Yields(co, 2)
				cotest.Storm(co)
				assert.Empty(t, *failures, "until the last has ended")
				holds[2].give(0)
				groupUntil(t, co, func() bool { return holds[2].ended })
				cotest.Collect(t, co, func() bool { return len(*failures) > 0 })
				groupComposite(t, (*failures)[0], errBoom, errOther)
				require.NoError(t, sc.Dispose())
				cotest.Storm(co)
				assert.Len(t, *failures, 1, "not again with the scope")
				runtime.KeepAlive(sc)
			}
			return nil
		})
	})
}

// A group that somebody waits on is in use, whoever holds its handle.
func TestGroup_TG22_NotWhileSomebodyWaits(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var errs [4]error
			hold := newGroupHold(e)
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				g := groupOf(t, co, groupLimit(1, 1))
				groupMust(t, co, g, hold.task)
				groupMust(t, co, g, groupGives(0))
				_, errs[0] = g.Spawn(co, groupGives(0))
				return nil
			})
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				s := groupSet(t, co, groupLimit(1, 1))
				groupMust(t, co, s, hold.task)
				groupMust(t, co, s, groupGives(0))
				errs[1] = s.SpawnKey(co, 9, groupGives(0))
				return nil
			})
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				for _, err := range groupOf(t, co).Outcomes(co, scheduler.Timeout(30*ms)) {
					errs[2] = err
				}
				return nil
			})
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				for _, err := range groupSet(t, co).Outcomes(co, scheduler.Timeout(30*ms)) {
					errs[3] = err
				}
				return nil
			})
			cotest.Yields(co, 2)
			cotest.Storm(co)
			hold.give(0)
			require.NoError(t, co.Delay(40*ms))
			assert.NoError(t, errs[0])
			assert.NoError(t, errs[1])
			cotest.IsTimeout(t, errs[2])
			cotest.IsTimeout(t, errs[3])
			return nil
		})
	})
}

func TestGroup_TG24_FuturesOutliveTheGroup(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var all *future.Future[future.Keyed[int, int]]
			var race, any, next *future.Future[int]
			var holds []*groupHold
			func() {
				g, s := groupOf(t, co), groupSet(t, co)
				holds = append(groupHolds(e, g, 2), groupHolds(e, s, 1)...)
				all, race, any, next = g.All(), groupFirst(t, g.Race), groupFirst(t, g.Any), groupFirst(t, s.JoinNext)
			}()
			cotest.Yields(co, 1)
			cotest.Storm(co)
			for i, h := range holds {
				assert.NoError(t, h.err, "tasks run on")
				h.give(10 + i)
			}
			assert.Equal(t, []int{10, 11}, groupAwait(t, co, all).Values())
			assert.Equal(t, 10, groupAwait(t, co, race))
			assert.Equal(t, 10, groupAwait(t, co, any))
			assert.Equal(t, 12, groupAwait(t, co, next))
			return nil
		})
	})
}

// A future that was settled when it was made keeps its value, and nothing of the group.
func TestGroup_TG24_ASettledFutureIsDetached(t *testing.T) {
	type large [1 << 16]byte
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			freed := make(chan string, 3)
			make := func(name string) *large {
				v := &large{}
				runtime.AddCleanup(v, func(name string) { freed <- name }, name)
				return v
			}
			var race *future.Future[*large]
			func() {
				g, err := scope.NewGroup[*large](co)
				require.NoError(t, err)
				groupMust(t, co, g, groupGives(make("kept")))
				groupMust(t, co, g, groupGives(make("not kept")))
				require.NoError(t, g.Close())
				require.NoError(t, g.AwaitCompletion(co))
				race = groupFirst(t, g.Race)
			}()
			cotest.Collect(t, co, func() bool { return len(freed) > 0 })
			cotest.Storm(co)
			assert.Equal(t, "not kept", <-freed)
			assert.Empty(t, freed)
			assert.NotNil(t, groupAwait(t, co, race))
			return nil
		})
	})
}

// What a task has captured is not kept with its outcome.
func TestGroup_TG24_AGroupKeepsOutcomesNotFunctions(t *testing.T) {
	type large [1 << 16]byte
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var freed int
			ext, err := e.S.NewExternal()
			require.NoError(t, err)
			defer ext.Close()
			g := groupOf(t, co, groupLimit(1, 3))
			func() {
				for i := range 4 {
					v := &large{}
					runtime.AddCleanup(v, func(int) { _ = ext.Post(func() { freed++ }) }, 0)
					groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
						_ = co.Yield()
						if v[0]++; i == 1 {
							return 0, errBoom
						}
						return 0, nil
					})
				}
				groupUntil(t, co, func() bool { return g.Stats().Failed == 1 })
				_ = g.Cancel(nil) // those that have not begun
				groupUntil(t, co, g.IsFinished)
			}()
			cotest.Collect(t, co, func() bool { return freed == 4 })
			assert.Equal(t, 4, g.Count())
			g.SuppressErrors()
			return nil
		})
	})
}

// The end of the run is the end of its main scope: what is unhandled there comes with its error.
func TestGroup_TG22_AFailureDuringTheShutdownIsNotLost(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co)
			groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
				_ = co.Delay(hour)
				return 0, errBoom
			})
			cotest.Yields(co, 1)
			require.NoError(t, e.S.Shutdown(errStop))
			return nil
		})
		assert.ErrorIs(t, err, errStop)
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, context.Canceled)
	})
}
