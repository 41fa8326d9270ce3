package cases

import (
	"fmt"

	"github.com/uvasync/uvasync/bench/goroutines"
	"github.com/uvasync/uvasync/bench/internal/fresh"
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/internal/ours"
)

// both has the baseline run with either GOMAXPROCS, because goroutines gain by a
// second processor here and lose there, and may be had either way. procs, 1 or 0
// for the machine's default, is that of ours.
func both(procs int, c Case) Case {
	c.Procs, c.Both = procs, true
	if procs == 0 {
		c.Name += "-maxprocs"
		c.Baseline += ", default GOMAXPROCS"
	} else {
		c.Baseline += fmt.Sprintf(", GOMAXPROCS=%d", procs)
	}
	return c
}

func (w work) scopeSpawn(procs int) Case {
	const n = 1_000
	rounds := w.size(300)
	return both(procs, Case{
		Name: "scope-spawn", Unit: "ns/coroutine", Clock: Wall, Baseline: "errgroup", Limit: 0.50, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.ScopeSpawn(n, rounds) },
		Theirs: func() (measure.Sample, error) { return goroutines.Group(n, 0, rounds) },
	})
}

func (w work) scopeTree(procs int) Case {
	const depth = 100
	rounds := w.size(1_000)
	return both(procs, Case{
		Name: "scope-tree", Unit: "ns/level", Clock: Wall, Baseline: "context.WithCancel, go, sync.WaitGroup", Limit: 0.90, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.ScopeTree(depth, rounds) },
		Theirs: func() (measure.Sample, error) { return goroutines.Tree(depth, rounds) },
	})
}

func (w work) groupLimit(procs int) Case {
	const n, limit = 10_000, 50
	rounds := w.size(20)
	return both(procs, Case{
		Name: "group-limit", Unit: "ns/task", Clock: Wall, Baseline: "errgroup, SetLimit(50)", Limit: 0.60, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.Group(n, limit, rounds) },
		Theirs: func() (measure.Sample, error) { return goroutines.Group(n, limit, rounds) },
	})
}

// The rest has the library on both sides: what is asked is how the cost grows
// with a scope, and there it is the ratio that must stay near 1.

// scopeFinish allows for what the live ones push out of the processor's caches.
// Going through them would make it hundreds.
func (w work) scopeFinish(name string, live int) Case {
	live = w.size(live)
	rounds := w.size(2_000)
	return Case{
		Name: name, Unit: "ns/coroutine", Clock: Wall, Baseline: "ours, in a scope with 10 live ones", Limit: 1.30, Procs: 1, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.ScopeFinish(live, spawnAtOnce, rounds) },
		Theirs: func() (measure.Sample, error) { return ours.ScopeFinish(10, spawnAtOnce, rounds) },
	}
}

const (
	oursScopeMemory  = "ours.ScopeMemory"
	oursScopeQueued  = "ours.ScopeQueued"
	oursScopesQueued = "ours.ScopesQueued"
	million          = 1_000_000
)

// scopeMemory would be 1.30 with one byte kept for each that has ended.
func (w work) scopeMemory() Case {
	ended := w.size(million)
	return Case{
		Name: "scope-memory", Unit: "bytes/coroutine", Clock: Memory, Baseline: "ours, 1,000 and not 1,000,000 have ended before", Limit: 1.10, Procs: 1, Per: perStart,
		Ours:   func() (measure.Sample, error) { return fresh.Run(oursScopeMemory, ended) },
		Theirs: func() (measure.Sample, error) { return fresh.Run(oursScopeMemory, 1_000) },
	}
}

// scopeMemory1M has coroutines that have not begun: a million that wait would
// be gigabytes of stacks, beside which nothing shows.
func (w work) scopeMemory1M() Case {
	n := w.size(million)
	return Case{
		Name: "scope-memory-1m", Unit: "bytes/coroutine", Clock: Memory, Baseline: "ours, in scopes of 1,000 each", Limit: 1.20, Procs: 1, Per: perStart,
		Ours:   func() (measure.Sample, error) { return fresh.Run(oursScopeQueued, n) },
		Theirs: func() (measure.Sample, error) { return fresh.Run(oursScopesQueued, n) },
	}
}
