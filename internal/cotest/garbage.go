package cotest

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

// Collect runs the garbage collector, and the loop with it, until done, or the test fails.
func Collect(t *testing.T, co *scheduler.Coroutine, done func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience / 2); !done(); {
		runtime.GC()
		require.NoError(t, co.Delay(time.Millisecond)) // what is collected is told of by another goroutine
		require.True(t, time.Now().Before(end), "what was dropped is not collected")
	}
}

// Storm collects garbage some times, with turns of the loop between, for those who must not lose anything by it.
func Storm(co *scheduler.Coroutine) {
	for range 5 {
		runtime.GC()
		_ = co.Delay(time.Millisecond)
	}
}
