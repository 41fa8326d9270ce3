package scope_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// A set does not grow by keys that were handed out.
func TestSet_TSET01_NaNKeysAreForgotten(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, err := scope.NewKeyedSet[float64, int](co)
			require.NoError(t, err)
			var before uint64
			heap := func() uint64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			for i := range 60000 {
				if i == 10000 {
					before = heap()
				}
				require.NoError(t, s.SpawnKey(co, math.NaN(), groupGives(0)))
				f, err := s.JoinNext()
				require.NoError(t, err)
				_, err = f.Await(co)
				require.NoError(t, err)
			}
			assert.Less(t, int64(heap())-int64(before), int64(200_000))
			return nil
		})
	})
}
