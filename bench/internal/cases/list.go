package cases

import (
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/internal/ours"
	"github.com/uvasync/uvasync/bench/naive"
	"github.com/uvasync/uvasync/bench/raw"
)

const (
	seed       = 20_250_301
	timersMost = 50 // ms, the longest delay of the timer cases
	stepMost   = 10 // ms, the longest step of the clock in deadline-500k-60s
)

// List builds the cases with their work divided by shrink: 1 for real figures,
// more to see quickly whether everything runs.
func List(shrink int) []Case {
	w := work{shrink}
	return []Case{
		w.tickEmpty(),
		w.timers("timer-100", 100, 150_000, 1.40),
		w.timers("timer-1k", 1_000, 250_000, 1.30),
		w.timers("timer-10k", 10_000, 400_000, 1.30),
		w.timersReal(),
		w.oneShot(),
		w.timerCallback(),
		w.deadlinesFire(),
		w.deadlinesCancel(),
		w.poll(),
		w.post(),
		w.closeTimers(),
		w.closePolls(),
		w.switching("switch", 2, 0.90),
		w.switching("switch-1k", 1_000, 1.05),
		w.spawn("spawn", 1),
		w.spawn("spawn-maxprocs", 0),
		w.spawnYield(),
		w.spawnMany(),
		w.parkBytes(),
		w.delays(),
		w.channel("chan-buffered", 64),
		w.channel("chan-rendezvous", 0),
		w.wake(),
		w.scopeSpawn(1),
		w.scopeSpawn(0),
		w.scopeTree(1),
		w.scopeTree(0),
		w.groupLimit(1),
		w.groupLimit(0),
		w.scopeFinish("scope-finish-1k", 1_000),
		w.scopeFinish("scope-finish-100k", crowded),
		w.scopeMemory(),
		w.scopeMemory1M(),
		w.poolUncontended(),
		w.poolContended(),
	}
}

type work struct{ shrink int }

func (w work) size(n int) int { return max(1, n/w.shrink) }

func (w work) tickEmpty() Case {
	turns := w.size(100_000)
	return Case{
		Name: "tick-empty", Unit: "ns/turn", Clock: Wall, Baseline: "uv_run, nothing to do", Per: perTurn,
		Ours:   func() (measure.Sample, error) { return ours.TickEmpty(turns) },
		Theirs: func() (measure.Sample, error) { return raw.TickEmpty(turns) },
	}
}

// timers has the slack of a turn's worth of timers: both sides stop at the end
// of the turn in which they reach the count, and every start but the first n is
// a re-arm.
func (w work) timers(name string, n, fires int, limit float64) Case {
	fires = w.size(fires)
	return Case{
		Name: name, Unit: "ns/fire", Clock: Wall, Baseline: "uv_timer_t", Limit: limit, Virtual: true, Slack: uint64(n), Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.Timers(n, timersMost, seed, uint64(fires)) },
		Theirs: func() (measure.Sample, error) { return raw.Timers(n, timersMost, seed, uint64(fires)) },
	}
}

// timersReal sleeps most of the time. How many timers fire in it is up to how
// punctual the machine is.
func (w work) timersReal() Case {
	const n = 1_000
	span := max(20, time.Duration(300/w.shrink)) * time.Millisecond
	expected := uint64(n * int(span/time.Millisecond) / (timersMost / 2))
	return Case{
		Name: "timer-1k-real", Unit: "ns/fire", Clock: CPU, Baseline: "uv_timer_t, real clock", Slack: expected, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.TimersReal(n, timersMost, seed, span) },
		Theirs: func() (measure.Sample, error) { return raw.TimersReal(n, timersMost, seed, span) },
	}
}

func (w work) oneShot() Case {
	const batch = 1_000
	batches := w.size(100)
	return Case{
		Name: "timer-oneshot", Unit: "ns/timer", Clock: Wall, Baseline: "malloc, uv_timer_t, free", Limit: 2.0, Virtual: true, Per: perClose,
		Ours:   func() (measure.Sample, error) { return ours.OneShot(batch, batches, timersMost, seed) },
		Theirs: func() (measure.Sample, error) { return raw.OneShot(batch, batches, timersMost, seed) },
	}
}

func (w work) timerCallback() Case {
	const n = 1_000
	fires := uint64(w.size(250_000))
	return Case{
		Name: "timer-callback", Unit: "ns/fire", Clock: Wall, Baseline: "uv_timer_t; ours: naive binding, for comparison", Virtual: true, Slack: n, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return naive.Timers(n, timersMost, seed, fires) },
		Theirs: func() (measure.Sample, error) { return raw.Timers(n, timersMost, seed, fires) },
	}
}

func (w work) deadlinesFire() Case {
	random := measure.NewRandom(seed)
	delays := random.Delays(w.size(500_000), 50*time.Millisecond)
	return Case{
		Name: "deadline-500k-50ms", Unit: "ns/deadline", Clock: CPU, Baseline: "uv_timer_t, real clock", Limit: 0.35, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.DeadlinesFire(delays) },
		Theirs: func() (measure.Sample, error) { return raw.DeadlinesFire(delays) },
	}
}

func (w work) deadlinesCancel() Case {
	random := measure.NewRandom(seed)
	n := w.size(500_000)
	delays := random.Delays(n, time.Minute)
	stopped := random.Pick(n/10*9, n)
	return Case{
		Name: "deadline-500k-60s", Unit: "ns/deadline", Clock: Wall, Baseline: "uv_timer_t, 90 % stopped", Limit: 0.35, Virtual: true, Per: perStart,
		Ours:   func() (measure.Sample, error) { return ours.DeadlinesCancel(delays, stopped, stepMost, seed) },
		Theirs: func() (measure.Sample, error) { return raw.DeadlinesCancel(delays, stopped, stepMost, seed) },
	}
}

func (w work) poll() Case {
	rounds := w.size(2_000)
	return Case{
		Name: "poll-64", Unit: "ns/event", Clock: Wall, Baseline: "uv_poll_t, read in C", Limit: 1.15, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.Poll(64, rounds) },
		Theirs: func() (measure.Sample, error) { return raw.Poll(64, rounds) },
	}
}

// post sends so many that the time in which the queues find their size is no
// great part of it.
func (w work) post() Case {
	messages := w.size(4_000_000)
	return Case{
		Name: "post", Unit: "ns/message", Clock: Wall, Baseline: "mutex queue, uv_async_t", Limit: 1.5, Per: perEvent,
		Ours:   func() (measure.Sample, error) { return ours.Post(messages) },
		Theirs: func() (measure.Sample, error) { return raw.Post(messages) },
	}
}

func (w work) closeTimers() Case {
	n, rounds := w.size(10_000), 10
	return Case{
		Name: "close-10k", Unit: "ns/handle", Clock: Wall, Baseline: "malloc, uv_timer_t, free", Per: perClose,
		Ours:   func() (measure.Sample, error) { return ours.CloseTimers(n, rounds) },
		Theirs: func() (measure.Sample, error) { return raw.CloseTimers(n, rounds) },
	}
}

func (w work) closePolls() Case {
	n, rounds := w.size(10_000), 2
	files := func(run func(n, rounds int) (measure.Sample, error)) func() (measure.Sample, error) {
		return func() (measure.Sample, error) {
			if err := needFiles(n); err != nil {
				return measure.Sample{}, err
			}
			return run(n, rounds)
		}
	}
	return Case{
		Name: "close-10k-poll", Unit: "ns/handle", Clock: Wall, Baseline: "malloc, uv_poll_t, free", Per: perClose,
		Ours:   files(ours.ClosePolls),
		Theirs: files(raw.ClosePolls),
	}
}
