package scope_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

type textless struct{ text string }

func (e *textless) Error() string { return e.text } // panics for a nil one

// What Run returns can be printed.
func TestGroup_GEN08_TheTextOfAnUnhandledErrorThatPanics(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co)
			_, err := g.Spawn(co, groupFails[int]((*textless)(nil)))
			require.NoError(t, err)
			_, err = g.Race()
			require.NoError(t, err)
			return co.Delay(ms)
		})
		require.NotNil(t, err)
		assert.NotPanics(t, func() { _ = err.Error() })
	})
}
