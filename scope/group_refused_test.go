package scope_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// A group keeps no function that it has refused.
func TestGroup_TG24_ARefusedFunctionIsNotKept(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := groupOf(t, co, groupLimit(1, 1))
			hold := e.Gate()
			for range 2 {
				_, err := g.Spawn(co, func(co *scheduler.Coroutine) (int, error) { _, err := co.Await(hold); return 0, err })
				require.NoError(t, err)
			}
			require.NoError(t, co.Yield())
			const n = 20
			var freed atomic.Int32
			for range n {
				big := make([]byte, 1<<16)
				runtime.AddCleanup(&big[0], func(int) { freed.Add(1) }, 0)
				_, err := g.Spawn(co, func(*scheduler.Coroutine) (int, error) { return len(big), nil }, scheduler.Timeout(ms))
				cotest.IsTimeout(t, err)
			}
			cotest.Collect(t, co, func() bool { return freed.Load() >= n-2 })
			return g.Cancel(nil)
		})
	})
}
