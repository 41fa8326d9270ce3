package cases

import (
	"github.com/uvasync/uvasync/bench/goroutines"
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/internal/ours"
)

const pooled = 10 // resources of a pool

func (w work) poolUncontended() Case {
	n := w.size(500_000)
	return Case{
		Name: "pool-uncontended", Unit: "ns/acquire", Clock: Wall, Baseline: "puddle, GOMAXPROCS=1", Limit: 0.25, Procs: 1, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.PoolUncontended(pooled, n) },
		Theirs: func() (measure.Sample, error) { return goroutines.PoolUncontended(pooled, n) },
	}
}

func (w work) poolContended() Case {
	const waiters = 1_000
	rounds := w.size(100)
	return Case{
		Name: "pool-contended", Unit: "ns/acquire", Clock: Wall, Baseline: "puddle, 1,000 goroutines, GOMAXPROCS=1", Limit: 0.45, Procs: 1, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.PoolContended(waiters, pooled, rounds) },
		Theirs: func() (measure.Sample, error) { return goroutines.PoolContended(waiters, pooled, rounds) },
	}
}
