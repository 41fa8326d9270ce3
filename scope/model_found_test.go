package scope_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// What the random trees have found, as plain tests.

func TestScope_SCOPE22_FinallyHandlersOfARootRunWhenTheEndOfTheRunEndsIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var kept *scope.Scope
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, scope.Main(co).OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { e.Say("main"); return nil }))
			kept = scope.NewRoot(co)
			require.NoError(t, kept.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { e.Say("other"); return nil }))
			e.Spawn(kept, cotest.Sleeper(hour), scheduler.Hidden())
			return co.Yield()
		})
		assert.Equal(t, []string{"main", "other"}, e.Said())
	})
}

func TestScope_CORO22_ARunThatFailsDoesNotCancelTheFinallyHandlersOfRoots(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var child *scheduler.Coroutine
		err := e.Run(func(co *scheduler.Coroutine) error {
			root := scope.NewRoot(co)
			require.NoError(t, root.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error {
				child = e.Spawn(self, e.Sayer("child"))
				return errBoom
			}))
			return root.Dispose()
		})
		require.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"child"}, e.Said())
		assert.NoError(t, child.Error())
	})
}

func TestNewRoot_SCOPE01_IsSafeAlsoWhenTheRunTakesNoMore(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, scope.Main(co).AsNotSafely().Cancel(errStop))
			assert.True(t, scope.New(co).Safe())
			assert.True(t, scope.NewRoot(co).Safe())
			return nil
		})
	})
}

// An awaiter whose time was over, or whose token had fired, and that has not run since, does not get the failure: the scope must.
func TestAwait_GEN08_AFailureIsNotLostInAWaitThatHasEnded(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			require.NoError(t, s.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
				e.Say(err.Error())
				return nil
			}))
			g, token := e.Gate(), e.Gate()
			failing := e.Spawn(s, func(co *scheduler.Coroutine) error { _, _ = co.Await(g); return errBoom })
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, err := co.Await(failing, scheduler.Token(token))
				var cancelled *event.CancelledError
				require.ErrorAs(t, err, &cancelled)
				if errors.Is(err, errBoom) {
					e.Say(errBoom.Error())
				}
				return nil
			})
			cotest.Yields(co, 2)
			g.Open(nil, nil) // the failing one runs first
			token.Open(nil, nil)
			cotest.Yields(co, 3)
			return nil
		})
		assert.Equal(t, []string{"boom"}, e.Said())
	})
}

// A helper that delays when the run ends leaves its fiber, and the deadline of that, to coroutines that are waited for.
func TestScope_DEAD04_TheDeadlineOfAHelperHidesNothingFromThoseAfterIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, scope.Main(co).OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error {
				e.Spawn(self, func(co *scheduler.Coroutine) error {
					require.NoError(t, co.Delay(10*ms))
					e.Say("later")
					return nil
				})
				return nil
			}))
			e.Spawn(co, cotest.Sleeper(hour), scheduler.Hidden())
			return co.Yield()
		})
		assert.Equal(t, []string{"later"}, e.Said())
	})
}

func TestScope_CORO22_AwaitCompletionWaitsForTheFinallyHandlersOfScopesBelow(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			around := scope.New(co)
			below := scope.New(around)
			require.NoError(t, below.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error {
				defer e.Say("finally")
				return self.Delay(5 * ms)
			}))
			e.Spawn(below, cotest.Sleeper(ms))
			require.NoError(t, below.DisposeAfterTimeout(hour))
			require.NoError(t, around.AwaitCompletion(co))
			e.Say("awaited")
			return nil
		})
		assert.Equal(t, []string{"finally", "awaited"}, e.Said())
	})
}
