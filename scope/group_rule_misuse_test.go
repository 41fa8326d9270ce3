package scope_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// groupPanic turns a panic of fn into its error; those of calls that return none.
func groupPanic(fn func()) func() error {
	return func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = v.(error)
			}
		}()
		fn()
		return nil
	}
}

// groupCalls are all calls of a group, or a set, as one may make them with co. Those that could do something are illegal
// otherwise, too.
func groupCalls(g groupInts, co *scheduler.Coroutine) map[string]func() error {
	fn := groupGives(0)
	calls := map[string]func() error{
		"Spawn":           func() error { _, err := g.Spawn(co, fn); return err },
		"SpawnKey":        func() error { return g.SpawnKey(co, 77, fn) },
		"TrySpawn":        func() error { _, err := g.TrySpawn(fn); return err },
		"TrySpawnKey":     func() error { return g.TrySpawnKey(78, fn) },
		"Close":           g.Close,
		"Cancel":          func() error { return g.Cancel(errStop) },
		"Dispose":         g.Dispose,
		"AwaitCompletion": func() error { return g.AwaitCompletion(co) },
		"Outcomes": func() (last error) {
			for _, err := range groupOutcomes(g, co) {
				if last = err; err == nil {
					break
				}
			}
			return last
		},
		"OnFinally": func() error {
			return groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error { return nil })
		},
		"Results":        groupPanic(func() { g.Results() }),
		"Errors":         groupPanic(func() { g.Errors() }),
		"SuppressErrors": groupPanic(g.SuppressErrors),
		"Stats":          groupPanic(func() { g.Stats() }),
		"Count":          groupPanic(func() { g.Count() }),
		"IsFinished":     groupPanic(func() { g.IsFinished() }),
		"IsClosed":       groupPanic(func() { g.IsClosed() }),
		"Info":           groupPanic(func() { _ = g.Info() }),
	}
	switch g := g.(type) {
	case *scope.Group[int, int]:
		calls["All"] = groupPanic(func() { g.All() })
		calls["Race"] = func() error { _, err := g.Race(); return err }
		calls["Any"] = func() error { _, err := g.Any(); return err }
	case *scope.Set[int, int]:
		calls["JoinAll"] = groupPanic(func() { s := g; s.JoinAll() })
		calls["JoinNext"] = func() error { _, err := g.JoinNext(); return err }
		calls["JoinAny"] = func() error { _, err := g.JoinAny(); return err }
	}
	return calls
}

func groupKind(g groupInts) string {
	if groupKept(g) == 1 {
		return "Group"
	}
	return "Set"
}

func TestGroup_CORO30_FromAForeignGoroutine(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		holds := groupHolds(e, g, 2)
		cotest.Yields(co, 1)
		before := g.Stats()
		cotest.Foreign(func() {
			for name, call := range groupCalls(g, co) {
				cotest.IsUsage(t, call(), groupKind(g)+"."+name)
			}
			cotest.IsUsage(t, groupPanic(func() { g.AsEvent() })(), "AsEvent")
			for _, make := range []func() error{
				func() error { _, err := scope.NewGroup[int](co); return err },
				func() error { _, err := scope.NewKeyedGroup[string, int](co.Scope()); return err },
				func() error { _, err := scope.NewSet[int](co); return err },
				func() error { _, err := scope.NewKeyedSet[string, int](co); return err },
			} {
				cotest.IsUsage(t, make(), "New")
			}
		})
		assert.Equal(t, before, g.Stats(), "nothing has changed")
		groupEnd(holds)
	})
}

func TestGroup_GEN11_InAnotherRun(t *testing.T) {
	for _, kind := range []string{"group", "set"} {
		t.Run(kind, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					var g groupInts = groupOf(t, co)
					if kind == "set" {
						g = groupSet(t, co)
					}
					groupMust(t, co, g, groupGives(0))
					// While this run stands still.
					cotest.Foreign(func() {
						r := simreactor.New(1)
						assert.NoError(t, scheduler.New(r, scheduler.Options{Name: "the-other"}).Run(context.Background(), func(co *scheduler.Coroutine) error {
							for name, call := range groupCalls(g, co) {
								err := call()
								cotest.IsUsage(t, err, groupKind(g)+"."+name)
								switch name {
								case "Spawn", "SpawnKey", "AwaitCompletion", "Outcomes":
									assert.ErrorContains(t, err, "the-other")
									assert.ErrorContains(t, err, "the-first")
								}
							}
							return nil
						}))
						assert.NoError(t, r.Close())
					})
					groupStats(t, g, 0, 1, 0, 0, 0)
					assert.False(t, g.IsClosed())
					return nil
				}, cotest.WithName("the-first"))
			})
		})
	}
}

func TestGroup_CORO30_WhenTheRunIsOver(t *testing.T) {
	for _, kind := range []string{"group", "set"} {
		t.Run(kind, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				var g groupInts
				var late *scheduler.Coroutine
				e.MustRun(func(co *scheduler.Coroutine) error {
					late = co
					g = groupOf(t, co)
					if kind == "set" {
						g = groupSet(t, co)
					}
					groupMust(t, co, g, groupGives(0))
					return nil
				})
				for name, call := range groupCalls(g, late) {
					cotest.IsUsage(t, call(), name)
				}
				_, err := scope.NewGroup[int](late)
				cotest.IsUsage(t, err)
				e.MustRun(func(co *scheduler.Coroutine) error {
					for name, call := range groupCalls(g, co) {
						cotest.IsUsage(t, call(), name)
					}
					return nil
				})
			})
		})
	}
}

func TestGroup_CORO30_WithAnotherCoroutine(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		other := e.Spawn(co, cotest.Sleeper(ms))
		ended := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
		cotest.Yields(co, 1)
		require.NoError(t, g.Close())
		for name, wrong := range map[string]*scheduler.Coroutine{"nil": nil, "zero": {}, "parked": other, "ended": ended} {
			_, err := g.Spawn(wrong, groupGives(0))
			cotest.IsUsage(t, err, "Spawn")
			cotest.IsUsage(t, g.SpawnKey(wrong, 1, groupGives(0)), "SpawnKey")
			cotest.IsUsage(t, g.AwaitCompletion(wrong), "AwaitCompletion")
			n := 0
			for _, err := range groupOutcomes(g, wrong) {
				n++
				cotest.IsUsage(t, err, "Outcomes")
			}
			assert.Equal(t, 1, n, name)
		}
		// Its own coroutine, in the body of another.
		e.Spawn(co, func(*scheduler.Coroutine) error {
			cotest.IsUsage(t, g.AwaitCompletion(co), "AwaitCompletion")
			return nil
		})
		cotest.Yields(co, 2)
	})
}

func TestGroup_CORO29_InCallbacks(t *testing.T) {
	groupBoth(t, groupLimit(2, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		done := 0
		legal := func() {
			done++
			_, err := g.Spawn(co, groupGives(0))
			cotest.IsUsage(t, err, "Spawn", "callback")
			cotest.IsUsage(t, g.SpawnKey(co, 9, groupGives(0)), "SpawnKey")
			cotest.IsUsage(t, g.AwaitCompletion(co), "AwaitCompletion")
			for _, err := range groupOutcomes(g, co) {
				cotest.IsUsage(t, err, "Outcomes")
			}
			key, err := g.TrySpawn(groupGives(1))
			require.NoError(t, err)
			assert.Equal(t, done-1, key)
			assert.NoError(t, g.TrySpawnKey(100+done, groupGives(2)))
			groupStats(t, g, 0, 2, g.Stats().Succeeded, 0, 0)
			assert.NoError(t, groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error { return nil }))
		}
		e.After(ms, legal)
		require.NoError(t, co.Delay(3*ms))
		require.NoError(t, e.S.Microtask(func() error { legal(); return nil }))
		cotest.Yields(co, 3)
		require.NoError(t, e.S.Post(legal))
		require.NoError(t, co.Delay(3*ms))
		assert.Equal(t, 3, done)
		assert.Equal(t, 6, g.Count())
		require.NoError(t, e.S.Post(func() { assert.NoError(t, g.Cancel(errStop)) }))
		require.NoError(t, co.Delay(3*ms))
		assert.True(t, g.IsClosed())
	})
}

func TestGroup_TG01_WrongArguments(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		for _, full := range []bool{false, true} {
			_, err := g.Spawn(co, nil)
			cotest.IsInvalid(t, err, "scope: "+groupKind(g)+".Spawn", "function")
			cotest.IsInvalid(t, g.SpawnKey(co, 5, nil), "scope: "+groupKind(g)+".SpawnKey", "function")
			_, err = g.TrySpawn(nil)
			cotest.IsInvalid(t, err, "scope: "+groupKind(g)+".TrySpawn", "function")
			cotest.IsInvalid(t, g.TrySpawnKey(5, nil), "scope: "+groupKind(g)+".TrySpawnKey", "function")
			if !full {
				assert.Zero(t, g.Count())
				groupHolds(e, g, 2)
			}
		}
		assert.Equal(t, 2, g.Count())
		assert.NoError(t, g.Cancel(nil))
	})
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		for name, owner := range map[string]scheduler.Scoped{"nil": nil, "coroutine": (*scheduler.Coroutine)(nil), "scope": (*scheduler.Scope)(nil)} {
			_, err := scope.NewGroup[int](owner)
			cotest.IsUsage(t, err, "NewGroup", "owner")
			_, err = scope.NewKeyedGroup[string, int](owner)
			cotest.IsUsage(t, err, "NewKeyedGroup", "owner")
			_, err = scope.NewSet[int](owner)
			cotest.IsUsage(t, err, "NewSet", "owner")
			_, err = scope.NewKeyedSet[string, int](owner)
			cotest.IsUsage(t, err, "NewKeyedSet", "owner", name[:0])
		}
		_, err := scope.NewGroup[int](co, scope.GroupConfig{}, scope.GroupConfig{})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
		_, err = scope.NewKeyedSet[string, int](co, scope.GroupConfig{}, scope.GroupConfig{})
		assert.ErrorIs(t, err, event.ErrInvalidArgument)
	})
}

// A nil *Scope as an owner is no crash either.
func TestGroup_TG25_ANilScopeAsOwner(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		var err error
		assert.NotPanics(t, func() { _, err = scope.NewGroup[int]((*scope.Scope)(nil)) })
		cotest.IsUsage(t, err, "NewGroup", "owner")
		assert.NotPanics(t, func() { _, err = scope.NewSet[int](&scope.Scope{}) })
		cotest.IsUsage(t, err, "NewSet", "owner")
	})
}

func TestGroup_CORO30_OneThatWasNotMade(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		for _, g := range []groupInts{
			(*scope.Group[int, int])(nil), &scope.Group[int, int]{}, (*scope.Set[int, int])(nil), &scope.Set[int, int]{},
		} {
			for name, call := range groupCalls(g, co) {
				cotest.IsUsage(t, call(), groupKind(g)+"."+name)
			}
			assert.Nil(t, g.AsEvent())
			assert.Zero(t, g.Flags())
			_, err := co.Await(g)
			assert.Error(t, err)
		}
	})
}

// After the end, what only looks works, what would add is refused, and what ends does nothing.
func TestGroup_GEN07_AfterDispose(t *testing.T) {
	groupBoth(t, groupLimit(1, 1), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, groupGives(4))
		groupMust(t, co, g, groupFails[int](errBoom))
		cotest.Yields(co, 4)
		require.NoError(t, g.Dispose())
		for range 3 {
			require.NoError(t, g.Dispose())
			require.NoError(t, g.Cancel(errStop))
			require.NoError(t, g.Close())
			groupRefuses(t, co, g)
			require.NoError(t, g.AwaitCompletion(co))
			assert.True(t, g.IsFinished())
			assert.Equal(t, map[int]int{0: 4}, g.Results().Map())
			assert.Equal(t, map[int]error{1: errBoom}, g.Errors().Map())
			called := false
			require.NoError(t, groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error { called = true; return nil }))
			assert.True(t, called)
		}
		n := 0
		for o, err := range groupOutcomes(g, co) {
			require.NoError(t, err)
			assert.Equal(t, n, o.Key)
			n++
		}
		assert.Equal(t, 2, n)
		if g, ok := g.(*scope.Group[int, int]); ok {
			assert.Equal(t, 4, groupAwait(t, co, groupFirst(t, g.Race)))
			assert.Equal(t, 4, groupAwait(t, co, groupFirst(t, g.Any)))
			_, err := g.All().Await(co)
			groupComposite(t, err, errBoom)
		}
	})
}

func TestGroup_CORO_WhatTasksDo(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, func(*scheduler.Coroutine) (int, error) { panic("panic-value") })
		groupMust(t, co, g, func(*scheduler.Coroutine) (int, error) { panic(errBoom) })
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) { var s []int; s[co.ID()] = 1; return 1, nil })
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) { return 1, co.Cancel(errStop) })          // CANC-07
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) { _ = co.Cancel(nil); return 0, errBoom }) // CANC-09
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) { return 1, fmt.Errorf("wrapped: %w", errOther) })
		groupMust(t, co, g, func(co *scheduler.Coroutine) (_ int, err error) {
			defer func() { err = fmt.Errorf("recovered: %v", recover()) }()
			panic("x")
		})
		groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) {
			require.NoError(t, co.OnFinally(func(self, ended *scheduler.Coroutine) error { e.Say("finally of a task"); return nil }))
			return 7, nil
		})
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		cotest.Yields(co, 2)
		errs := g.Errors().Map()
		var p *event.PanicError
		for key, value := range map[int]any{0: "panic-value", 1: errBoom} {
			require.ErrorAs(t, errs[key], &p)
			assert.Equal(t, value, p.Value)
			assert.Contains(t, string(p.Stack), "group_rule_misuse_test.go")
		}
		assert.ErrorIs(t, errs[1], errBoom)
		require.ErrorAs(t, errs[2], &p)
		cotest.IsCancelled(t, errs[3], errStop)
		assert.ErrorIs(t, errs[4], errBoom)
		assert.ErrorIs(t, errs[4], context.Canceled)
		assert.ErrorIs(t, errs[5], errOther)
		assert.ErrorContains(t, errs[6], "recovered: x")
		assert.Equal(t, map[int]int{7: 7}, g.Results().Map())
		groupSaid(e, "finally of a task")
	})
}

// A Goexit, as t.FailNow makes one, is the failure of the task. The others have their turn, and Run exits in the end.
func TestGroup_TG23_ATaskThatExits(t *testing.T) {
	for _, kind := range []string{"group", "set"} {
		t.Run(kind, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				returned := false
				cotest.Foreign(func() {
					_ = e.Run(func(co *scheduler.Coroutine) error {
						var g groupInts = groupOf(t, co, groupLimit(2, 1))
						if kind == "set" {
							g = groupSet(t, co, groupLimit(2, 1))
						}
						groupMust(t, co, g, groupSleeps(2, 1))
						groupMust(t, co, g, func(co *scheduler.Coroutine) (int, error) { _ = co.Yield(); runtime.Goexit(); return 0, nil })
						groupMust(t, co, g, groupGives(3))
						groupSpawner(e, co, g, "spawner", groupGives(4))
						cotest.Yields(co, 1)
						assert.NoError(t, g.Close())
						assert.NoError(t, g.AwaitCompletion(co))
						errs := g.Errors()
						assert.Equal(t, []int{1}, errs.Keys())
						assert.ErrorContains(t, errs.Values()[0], "Goexit")
						assert.Subset(t, g.Results().Map(), map[int]int{0: 1, 2: 3})
						return nil
					})
					returned = true
				})
				assert.False(t, returned)
				assert.Zero(t, e.S.Stats().Total)
				assert.Len(t, e.Said(), 1)
			})
		})
	}
}
