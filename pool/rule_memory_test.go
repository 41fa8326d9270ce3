package pool_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

type bigKey struct{}

// heap is what is live on it.
func heap() int64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestPool_POOL41_NothingOfWhoHasLeftIsKept(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 20)
		gs := d.gates(20)
		d.creates(func(co *scheduler.Coroutine, call int) error { return passes(co, gs[call-1]) })
		e.MustRun(func(co *scheduler.Coroutine) error {
			d.open(co)
			before := heap()
			for range 20 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					require.NoError(t, co.Values().Set(bigKey{}, make([]byte, 1<<20)))
					_, err := d.p.Acquire(co, scheduler.Timeout(ms))
					require.Error(t, err)
					return nil
				})
			}
			require.NoError(t, co.Delay(5*ms))
			for i := range gs {
				gs[19-i].Open(nil, nil)
				settle(co)
			}
			d.has(20, 20, 0)
			after := heap()
			assert.Less(t, after-before, int64(1<<19))
			return nil
		})
	})
}
