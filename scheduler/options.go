package scheduler

import (
	"cmp"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"
)

// Options configure a [Scheduler]; the zero value is what most programs want.
type Options struct {
	// Name stands for the run in errors and logs; empty means "run-" and a number.
	Name string
	// Logger gets what goes wrong without being an error of anybody: late coroutines, futures nobody looked at. Nil is silent.
	Logger *slog.Logger
	// Zombies says where coroutines are told of that run on in scopes that were cancelled or disposed safely.
	Zombies ZombieLog
	// Grace is how long a shutdown waits for coroutines that were cancelled before it unwinds them (CANC-18); 0 means 5 s, a
	// negative value no time at all.
	Grace time.Duration
	// Budget is how many coroutines may be resumed between two looks at the event loop; 0 means 1024.
	Budget int
	// Slice is how long coroutines may run between two looks at the event loop, about; 0 means 1 ms.
	Slice time.Duration
	// Luck is how many operations of a coroutine may complete without suspending, in a row, before it yields; 0 means 128,
	// the most is 32767.
	Luck int
	// Watchdog is how long a coroutine may run without suspending before the Logger is told, with the stacks of the
	// process; 0 means 1 s, a negative value never. Without a Logger there is no watchdog.
	Watchdog time.Duration
	// SlowTurn is how long all that runs between two looks at the event loop may take before the Logger is told; 0 means
	// never.
	SlowTurn time.Duration
	// SpawnLines records which line started each coroutine, at about 0.2 µs a spawn. Otherwise reports name the function
	// that the coroutine runs.
	SpawnLines bool
	// PprofLabels labels the samples of CPU profiles with the coroutine's name and id ("coroutine", "coroutine_id").
	PprofLabels bool
	// Rand, when it is set, chooses which of the ready coroutines goes on: for tests of what must hold in any order.
	Rand *rand.Rand
	// Switch is told when coroutines go on, suspend and end.
	Switch *SwitchHandlers
}

// SwitchHandlers are called around the switches of a run; each may be nil. They run on the loop, outside of any coroutine,
// must not suspend, and must be fast.
type SwitchHandlers struct {
	Enter  func(co *Coroutine) // co begins or goes on
	Leave  func(co *Coroutine) // co suspends or has ended
	Finish func(co *Coroutine) // co has ended; after its Leave
}

func (o *Options) fill() {
	o.Budget = cmp.Or(o.Budget, 1024)
	o.Slice = cmp.Or(o.Slice, time.Millisecond)
	o.Luck = min(cmp.Or(o.Luck, 128), math.MaxInt16)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.Watchdog = cmp.Or(o.Watchdog, time.Second)
	if o.Logger == nil {
		o.Watchdog = -1
		o.SlowTurn = 0
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Zombies.Logger == nil {
		o.Zombies.Logger = o.Logger
	}
}
