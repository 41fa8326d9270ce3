package scope_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics for a nil one

// Crashes the process.
func TestScope_ZombieLog_AnErrorWhoseTextPanics(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			require.NoError(t, s.LogZombies(scheduler.ZombieLog{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}))
			e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return (*nilError)(nil) })
			require.NoError(t, co.Yield())
			require.NoError(t, s.Close())
			return s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { return nil })
		})
	})
}
