package cases

import (
	"fmt"
	"time"

	"github.com/uvasync/uvasync/bench/goroutines"
	"github.com/uvasync/uvasync/bench/internal/fresh"
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/internal/ours"
)

const (
	spawnAtOnce = 64
	crowded     = 100_000
)

// switching has the same number of switches however many take part.
func (w work) switching(name string, n int, limit float64) Case {
	yields := w.size(1_000_000 / n)
	return Case{
		Name: name, Unit: "ns/switch", Clock: Wall, Baseline: "runtime.Gosched, GOMAXPROCS=1", Limit: limit, Procs: 1, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.Switch(n, yields) },
		Theirs: func() (measure.Sample, error) { return goroutines.Switch(n, yields) },
	}
}

func (w work) spawn(name string, procs int) Case {
	rounds := w.size(5_000)
	baseline := "go, sync.WaitGroup, default GOMAXPROCS"
	if procs > 0 {
		baseline = fmt.Sprintf("go, sync.WaitGroup, GOMAXPROCS=%d", procs)
	}
	return Case{
		Name: name, Unit: "ns/coroutine", Clock: Wall, Baseline: baseline, Limit: 0.35, Procs: procs, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.Spawn(spawnAtOnce, rounds) },
		Theirs: func() (measure.Sample, error) { return goroutines.Spawn(spawnAtOnce, rounds) },
	}
}

func (w work) spawnYield() Case {
	rounds := w.size(5_000)
	return Case{
		Name: "spawn-yield", Unit: "ns/coroutine", Clock: Wall, Baseline: "go, runtime.Gosched, sync.WaitGroup, GOMAXPROCS=1", Limit: 0.90, Procs: 1, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.SpawnYield(spawnAtOnce, rounds) },
		Theirs: func() (measure.Sample, error) { return goroutines.SpawnYield(spawnAtOnce, rounds) },
	}
}

func (w work) spawnMany() Case {
	n := w.size(crowded)
	return Case{
		Name: "spawn-100k", Unit: "ns/coroutine", Clock: Wall, Baseline: "go, sync.WaitGroup, GOMAXPROCS=1", Limit: 0.50, Procs: 1, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.Spawn(n, 1) },
		Theirs: func() (measure.Sample, error) { return goroutines.Spawn(n, 1) },
	}
}

const (
	oursPark       = "ours.Park"
	goroutinesPark = "goroutines.Park"
)

// Fresh are the sides that run in a process of their own, by name.
func Fresh() map[string]fresh.Func {
	return map[string]fresh.Func{
		oursPark: ours.Park, goroutinesPark: goroutines.Park,
		oursScopeMemory: ours.ScopeMemory, oursScopeQueued: ours.ScopeQueued, oursScopesQueued: ours.ScopesQueued,
	}
}

// parkBytes runs on one P: those that are to be weighed have parked when the
// one that waits for their arrival runs again.
func (w work) parkBytes() Case {
	n := w.size(crowded)
	return Case{
		Name: "park-bytes", Unit: "bytes/coroutine", Clock: Memory, Baseline: "goroutine that receives", Limit: 1.30, Procs: 1, Per: perStart,
		Ours:   func() (measure.Sample, error) { return fresh.Run(oursPark, n) },
		Theirs: func() (measure.Sample, error) { return fresh.Run(goroutinesPark, n) },
	}
}

func (w work) delays() Case {
	random := measure.NewRandom(seed)
	delays := random.Delays(w.size(crowded), 49*time.Millisecond)
	for i := range delays {
		delays[i] += uint64(time.Millisecond)
	}
	return Case{
		Name: "delay-100k", Unit: "ns/delay", Clock: CPU, Baseline: "go, time.Sleep", Limit: 0.80, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.Delay(delays) },
		Theirs: func() (measure.Sample, error) { return goroutines.Delay(delays) },
	}
}

func (w work) channel(name string, capacity int) Case {
	messages := w.size(500_000)
	return Case{
		Name: name, Unit: "ns/message", Clock: Wall, Baseline: fmt.Sprintf("make(chan int, %d), GOMAXPROCS=1", capacity), Limit: 0.80, Procs: 1, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.Channel(capacity, messages) },
		Theirs: func() (measure.Sample, error) { return goroutines.Channel(capacity, messages) },
	}
}

func (w work) wake() Case {
	wakes := w.size(200_000)
	return Case{
		Name: "wake", Unit: "ns/wake-up", Clock: Wall, Baseline: "make(chan struct{}), close, GOMAXPROCS=1", Limit: 0.60, Procs: 1, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.Wake(wakes) },
		Theirs: func() (measure.Sample, error) { return goroutines.Wake(wakes) },
	}
}
