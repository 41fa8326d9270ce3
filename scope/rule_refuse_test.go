package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestScope_Misuse_RefuseWaitOfNothing(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			assert.NotPanics(t, func() { assert.Error(t, (*scope.Scope)(nil).RefuseWait("x", co)) })
			assert.NotPanics(t, func() { assert.Error(t, (&scope.Scope{}).RefuseWait("x", co)) })
			assert.NotPanics(t, func() { assert.Error(t, scope.New(co).RefuseWait("x", nil)) })
			return nil
		})
	})
}
