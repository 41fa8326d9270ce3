package scope_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// groupOnFinally registers a handler that takes no group.
func groupOnFinally(g groupInts, h func(self *scheduler.Coroutine, g groupInts) error) error {
	switch g := g.(type) {
	case *scope.Group[int, int]:
		return g.OnFinally(func(self *scheduler.Coroutine, g *scope.Group[int, int]) error { return h(self, g) })
	case *scope.Set[int, int]:
		return g.OnFinally(func(self *scheduler.Coroutine, s *scope.Set[int, int]) error { return h(self, s) })
	}
	panic("neither")
}

func TestGroup_TG19_FinallyIsCalledOnceWhenAllHasEnded(t *testing.T) {
	ends := map[string]func(g groupInts, holds []*groupHold) error{
		"close":        func(g groupInts, holds []*groupHold) error { groupEnd(holds); return g.Close() },
		"close before": func(g groupInts, holds []*groupHold) error { defer groupEnd(holds); return g.Close() },
		"cancel":       func(g groupInts, holds []*groupHold) error { return g.Cancel(errStop) },
		"dispose":      func(g groupInts, holds []*groupHold) error { return g.Dispose() },
		"fail": func(g groupInts, holds []*groupHold) error {
			holds[0].fail(errBoom)
			groupEnd(holds)
			return g.Close()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			groupBoth(t, groupLimit(1, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
				for i := range 3 {
					require.NoError(t, groupOnFinally(g, func(self *scheduler.Coroutine, of groupInts) error {
						e.Say(fmt.Sprint("finally ", i))
						assert.True(t, of.IsFinished())
						assert.True(t, of.IsClosed())
						assert.Equal(t, g.Stats(), of.Stats(), "it is the group")
						of.SuppressErrors()
						require.NoError(t, self.Check("test"))
						return self.Delay(ms)
					}))
				}
				holds := groupHolds(e, g, 3)
				cotest.Yields(co, 3)
				assert.Empty(t, e.Said(), "it is open")
				require.NoError(t, end(g, holds))
				require.NoError(t, g.AwaitCompletion(co))
				e.Say("awaited")
				for e.Steps() < 4 {
					require.NoError(t, co.Delay(ms))
				}
				require.NoError(t, g.Close())
				require.NoError(t, g.Cancel(nil))
				require.NoError(t, co.Delay(2*ms))
				groupSaid(e, "awaited", "finally 0", "finally 1", "finally 2")
			})
		})
	}
}

func TestGroup_TG19_NotWhileItIsOpenHoweverFinished(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		require.NoError(t, groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error { e.Say("finally"); return nil }))
		for range 3 {
			groupMust(t, co, g, groupGives(0))
			cotest.Yields(co, 4)
			assert.True(t, g.IsFinished())
		}
		assert.Empty(t, e.Said())
		require.NoError(t, g.Close())
		assert.Empty(t, e.Said(), "asynchronously")
		cotest.Yields(co, 3)
		groupSaid(e, "finally")
	})
}

func TestGroup_TG19_AfterWhoAwaitsAll(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { e.Say("finally"); return nil }))
		hold := groupHolds(e, g, 1)[0]
		all := g.All()
		for i := range 3 {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, err := all.Await(co)
				e.Say(fmt.Sprint("awaiter ", i))
				return err
			})
		}
		e.Spawn(co, func(co *scheduler.Coroutine) error { defer e.Say("completion"); return g.AwaitCompletion(co) })
		require.NoError(t, g.Close())
		cotest.Yields(co, 2)
		hold.give(0)
		cotest.Yields(co, 5)
		steps := e.Said()
		require.Len(t, steps, 5)
		assert.Equal(t, "finally", steps[4])
	})
}

func TestGroup_TG19_OnACompletedGroupAtOnce(t *testing.T) {
	groupBoth(t, scope.GroupConfig{}, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		groupMust(t, co, g, groupGives(0))
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		called := false
		require.NoError(t, groupOnFinally(g, func(self *scheduler.Coroutine, of groupInts) error {
			called = true
			assert.Equal(t, co, self)
			assert.Same(t, g, of)
			return self.Delay(ms)
		}))
		assert.True(t, called)
		assert.Equal(t, errBoom, groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error { return errBoom }))
		err := groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error { panic(errOther) })
		var p *event.PanicError
		require.ErrorAs(t, err, &p)
		assert.ErrorIs(t, err, errOther)
		assert.Contains(t, string(p.Stack), "group_rule_finally_test.go")

		called = false
		e.After(ms, func() {
			_ = groupOnFinally(g, func(self *scheduler.Coroutine, _ groupInts) error {
				called = true
				assert.Nil(t, self, "in a callback")
				return nil
			})
		})
		require.NoError(t, co.Delay(3*ms))
		assert.True(t, called)
	})
}

func TestGroup_TG19_FailuresOfHandlersGoToTheScope(t *testing.T) {
	for name, fails := range map[string][]error{"one": {nil, errBoom}, "two": {errBoom, nil, errOther}} {
		t.Run(name, func(t *testing.T) {
			groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
				sc, failures := groupScope(e, co)
				for _, g := range []groupInts{groupOf(t, sc), groupSet(t, sc)} {
					for _, err := range fails {
						require.NoError(t, groupOnFinally(g, func(*scheduler.Coroutine, groupInts) error {
							e.Say("called")
							return err
						}))
					}
					require.NoError(t, g.Close())
					cotest.Yields(co, 5)
					assert.Len(t, e.Said(), len(fails))
					require.Len(t, *failures, 1)
					if name == "one" {
						assert.Equal(t, errBoom, (*failures)[0])
					} else {
						groupComposite(t, (*failures)[0], errBoom, errOther)
					}
					*failures = nil
				}
				require.NoError(t, sc.Dispose())
				cotest.Yields(co, 2)
				assert.Empty(t, *failures)
			})
		})
	}
}

func TestGroup_TG19_APanicOfAHandlerIsItsFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co)
			require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { panic(errBoom) }))
			require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { e.Say("second"); return nil }))
			return g.Close()
		})
		assert.ErrorIs(t, err, errBoom)
		groupSaid(e, "second")
	})
}

// A handler may use what has ended: it takes failures, and they are reported to nobody.
func TestGroup_TG19_GEN10_AHandlerTakesWhatIsLeft(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc, failures := groupScope(e, co)
		for _, g := range []groupInts{groupOf(t, sc), groupSet(t, sc)} {
			groupMust(t, co, g, groupFails[int](errBoom))
			groupMust(t, co, g, groupGives(5))
			require.NoError(t, groupOnFinally(g, func(self *scheduler.Coroutine, g groupInts) error {
				require.NoError(t, self.Delay(2*ms))
				groupRefuses(t, self, g)
				require.NoError(t, g.Close())
				require.NoError(t, g.Cancel(nil))
				require.NoError(t, g.AwaitCompletion(self))
				nested := false
				require.NoError(t, groupOnFinally(g, func(again *scheduler.Coroutine, _ groupInts) error {
					nested = again == self
					return nil
				}))
				assert.True(t, nested)
				assert.Equal(t, map[int]error{0: errBoom}, g.Errors().Map())
				assert.Equal(t, map[int]int{1: 5}, g.Results().Map())
				inner := groupOf(t, self)
				groupMust(t, self, inner, groupGives(0))
				assert.Equal(t, []int{0}, groupAwait(t, self, inner.All()).Values())
				e.Say("done")
				return nil
			}))
			require.NoError(t, g.Close())
			cotest.Yields(co, 2)
			if _, ok := g.(*scope.Group[int, int]); ok {
				for e.Steps() < 1 {
					require.NoError(t, co.Delay(ms))
				}
			}
		}
		require.NoError(t, sc.Close())
		for e.Steps() < 2 {
			require.NoError(t, co.Delay(ms))
		}
		cotest.Yields(co, 3)
		groupSaid(e, "done", "done")
		assert.Empty(t, *failures)
	})
}

// The scope of the handlers outlives cancellation.
func TestGroup_TG19_AHandlerAfterTheScopeWasDisposed(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		sc := scope.New(co)
		g := groupOf(t, sc)
		hold := groupHolds(e, g, 1)[0]
		require.NoError(t, g.OnFinally(func(self *scheduler.Coroutine, g *scope.Group[int, int]) error {
			e.Say("begun")
			err := self.Delay(2 * ms)
			e.Say("done")
			return err
		}))
		cotest.Yields(co, 1)
		require.NoError(t, sc.Dispose())
		for e.Steps() < 2 {
			require.NoError(t, co.Delay(ms))
		}
		cotest.IsCancelled(t, hold.err, scope.ErrDisposed)
		groupSaid(e, "begun", "done")
		assert.True(t, g.IsFinished())
	})
}

func TestGroup_TG19_NoHandlerIsRefused(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g, s := groupOf(t, co), groupSet(t, co)
		for range 2 {
			assert.ErrorIs(t, g.OnFinally(nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, s.OnFinally(nil), event.ErrInvalidArgument)
			require.NoError(t, errors.Join(g.Close(), s.Close()))
		}
	})
}

// A handler that is registered while the handlers run belongs to a group that has ended.
func TestGroup_TG19_InTheSubscriberOfTheLastFuture(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		g := groupOf(t, co)
		groupMust(t, co, g, groupGives(0))
		_, err := g.All().AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) {
			e.Say("all")
			require.NoError(t, g.OnFinally(func(*scheduler.Coroutine, *scope.Group[int, int]) error { e.Say("finally"); return nil }))
		})
		require.NoError(t, err)
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		cotest.Yields(co, 4)
		groupSaid(e, "all", "finally")
	})
}
