package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// What a finally handler leaves open and empty is no reason for the scope around not to end.
func TestScope_SCOPE14_SCOPE22_WhatAFinallyHandlerLeavesOpen(t *testing.T) {
	for name, handler := range map[string]func(self, _ *scheduler.Coroutine) error{
		"group": func(self, _ *scheduler.Coroutine) error {
			g, err := scope.NewGroup[int](self)
			if err != nil {
				return err
			}
			if _, err := g.Spawn(self, func(*scheduler.Coroutine) (int, error) { return 0, nil }); err != nil {
				return err
			}
			_, err = g.All().Await(self)
			return err
		},
		"scope": func(self, _ *scheduler.Coroutine) error {
			sub := scope.New(self)
			if _, err := sub.Spawn(func(*scheduler.Coroutine) error { return nil }); err != nil {
				return err
			}
			return sub.AwaitCompletion(self)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					s := scope.New(co)
					c := e.Spawn(s, func(*scheduler.Coroutine) error { return nil })
					require.NoError(t, c.OnFinally(handler))
					require.NoError(t, s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { e.Say("finally"); return nil }))
					require.NoError(t, co.Delay(ms))
					require.NoError(t, s.Close())
					assert.NoError(t, s.AwaitAfterCancellation(co, nil))
					require.NoError(t, co.Yield())
					assert.Equal(t, []string{"finally"}, e.Said())
					return nil
				})
			})
		})
	}
}
