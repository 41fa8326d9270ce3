package scheduler

import (
	"fmt"
	"unsafe"

	"github.com/uvasync/uvasync/event"
)

// Scoped is what has a current scope: a coroutine, a scope.
type Scoped interface{ Scope() *Scope }

// Spawner starts coroutines: a coroutine does so in its scope, a scope in itself.
type Spawner interface {
	Scoped
	// Spawn starts a coroutine; see [Scope.Spawn].
	Spawn(fn func(co *Coroutine) error, opts ...SpawnOption) (*Coroutine, error)
}

// SpawnOption says how a coroutine is started. Of the same option the last counts.
type SpawnOption struct {
	name     string
	hidden   bool
	serving  bool
	settler  Settler
	strategy SpawnStrategy
	entry    uintptr
	outer    *Coroutine
}

// Named gives the coroutine a name, for logs and reports.
func Named(name string) SpawnOption { return SpawnOption{name: name} }

// Hidden makes the coroutine not count as active: the run does not wait for its end but cancels it, and its waiting alone
// is no deadlock. It is for helpers that serve the others.
func Hidden() SpawnOption { return SpawnOption{hidden: true} }

// Serving is Hidden for a helper that others may be waiting for: as long as it waits for time to pass, there is no deadlock.
func Serving() SpawnOption { return SpawnOption{hidden: true, serving: true} }

// Settler takes over the outcome of a coroutine: the scope and the run see nothing of its error (CORO-14).
type Settler interface {
	// Settle is called once, on the loop, when co has ended in whatever way, before those who await it are told.
	Settle(co *Coroutine, err error)
}

// SettledBy makes s get the outcome of the coroutine.
func SettledBy(s Settler) SpawnOption { return SpawnOption{settler: s} }

// EntryOf makes reports name fn, a function, as what the coroutine runs: for wrappers.
func EntryOf(fn any) SpawnOption { return SpawnOption{entry: entryOf(fn)} }

// ValuesOf makes the coroutine find what is stored with co, and with what is around co, instead of with its own scope: for
// what is done on behalf of co by others. What is stored with the coroutine itself still comes first.
func ValuesOf(co *Coroutine) SpawnOption { return SpawnOption{outer: co} }

// SpawnStrategy decides where a coroutine is started and is told when. An error of any of its methods is that of Spawn, and
// the body never runs (CORO-27).
type SpawnStrategy interface {
	// ProvideScope is asked once; nil means the scope that Spawn was called for (CORO-26).
	ProvideScope() (*Scope, error)
	// BeforeEnqueue is called when the coroutine exists and is in no queue.
	BeforeEnqueue(co *Coroutine) error
	// AfterEnqueue is called when it is in the ready queue.
	AfterEnqueue(co *Coroutine) error
}

// By starts the coroutine by a strategy.
func By(s SpawnStrategy) SpawnOption { return SpawnOption{strategy: s} }

func (o *SpawnOption) merge(opts []SpawnOption) {
	for i := range opts {
		p := &opts[i]
		if p.name != "" {
			o.name = p.name
		}
		if p.settler != nil {
			o.settler = p.settler
		}
		if p.strategy != nil {
			o.strategy = p.strategy
		}
		if p.entry != 0 {
			o.entry = p.entry
		}
		if p.outer != nil {
			o.outer = p.outer
		}
		o.hidden = o.hidden || p.hidden
		o.serving = o.serving || p.serving
	}
}

// Spawn starts a coroutine in the scope that co belongs to; see [Scope.Spawn]. Any coroutine or callback of the run may call
// it, whichever coroutine co is.
func (co *Coroutine) Spawn(fn func(co *Coroutine) error, opts ...SpawnOption) (*Coroutine, error) {
	const call = "Coroutine.Spawn"
	if co == nil || co.scope == nil {
		return nil, co.misuse(call)
	}
	return co.scope.spawn(call, fn, opts)
}

// Spawn starts a coroutine: fn runs when those that are ready have had their turn, never before Spawn returns (CORO-01). Its
// failure goes to whoever awaits it, otherwise to the scope (CORO-15). Errors: *event.UsageError when the scope is closed or
// cancelled, the run is over (CORO-28), or the caller is not on the loop; *event.InvalidArgumentError for a nil fn; those of
// the strategy.
func (sc *Scope) Spawn(fn func(co *Coroutine) error, opts ...SpawnOption) (*Coroutine, error) {
	return sc.spawn("Scope.Spawn", fn, opts)
}

func (sc *Scope) spawn(call string, fn func(co *Coroutine) error, opts []SpawnOption) (*Coroutine, error) {
	if sc == nil {
		return nil, usage(call, "the scope is nil", "use that of a coroutine, or make one with scope.New")
	}
	if err := sc.s.Check(call); err != nil {
		return nil, err
	}
	if fn == nil {
		return nil, invalid(call, "function", nil, "pass what the coroutine shall run")
	}
	if len(opts) == 0 && !sc.s.opts.SpawnLines {
		if sc.sealed {
			return nil, sc.noSpawn(call)
		}
		co := sc.s.newCoroutine(sc, fn, nil)
		sc.s.ready.Push(co)
		return co, nil
	}
	var o SpawnOption
	o.merge(opts)
	return sc.spawnWith(call, fn, &o)
}

func (sc *Scope) spawnWith(call string, fn func(co *Coroutine) error, o *SpawnOption) (*Coroutine, error) {
	if o.strategy != nil {
		provided, err := o.strategy.ProvideScope()
		if err != nil {
			return nil, err
		}
		if provided != nil {
			if provided.s != sc.s {
				return nil, usage(call, fmt.Sprintf("the strategy provided a scope of another run than %s: of %s", sc.s.name, provided.s.name), "provide one of the run that spawns")
			}
			sc = provided
		}
	}
	if sc.sealed {
		return nil, sc.noSpawn(call)
	}
	s := sc.s
	var co *Coroutine
	if o.hidden {
		co = s.newHidden(sc, fn, o.settler)
		if o.serving {
			co.marks |= markServing
		}
	} else {
		co = s.newCoroutine(sc, fn, o.settler)
	}
	if o.entry != 0 {
		co.entry = o.entry
	}
	if s.opts.SpawnLines || o.name != "" {
		co.labelled(o.name)
	}
	if o.outer != nil {
		co.extra().outer = o.outer
	}
	if o.strategy == nil {
		s.ready.Push(co)
		return co, nil
	}
	return s.enqueueBy(o.strategy, co)
}

func (s *Scheduler) enqueueBy(strategy SpawnStrategy, co *Coroutine) (*Coroutine, error) {
	accepted := false
	defer func() {
		if !accepted { // also when a hook has panicked
			s.withdraw(co)
		}
	}()
	if err := strategy.BeforeEnqueue(co); err != nil {
		return nil, err
	}
	s.ready.Push(co)
	if err := strategy.AfterEnqueue(co); err != nil {
		return nil, err
	}
	accepted = true
	return co, nil
}

// Task is the body of a coroutine together with who takes over its outcome.
type Task interface {
	Settler
	Run(co *Coroutine) error
}

// SpawnTask starts a coroutine that runs t, for packages that start many: otherwise as [Scope.Spawn] with [SettledBy], and with
// [EntryOf] entry, at the cost of a plain Spawn.
func (sc *Scope) SpawnTask(call string, t Task, entry any) (*Coroutine, error) {
	if sc == nil || t == nil {
		return nil, invalid(call, "scope or task", nil, "pass both")
	}
	if err := sc.s.Check(call); err != nil {
		return nil, err
	}
	if sc.sealed {
		return nil, sc.noSpawn(call)
	}
	s := sc.s
	s.lastID++
	co := &(&taskCoroutine{Coroutine{scope: sc, entry: entryOf(entry), id: s.lastID, marks: markTask}, t}).Coroutine
	sc.enter(co)
	if s.opts.SpawnLines {
		co.labelled("")
	}
	s.ready.Push(co)
	return co, nil
}

// codeOf is where the code of fn begins: the first word of what a func value points to, as reflect's Pointer has it.
func codeOf(fn func(*Coroutine) error) uintptr { return **(**uintptr)(unsafe.Pointer(&fn)) }

// newCoroutine makes an active one. settler may be nil.
func (s *Scheduler) newCoroutine(sc *Scope, fn func(*Coroutine) error, settler Settler) *Coroutine {
	co := s.blank(sc, fn, settler)
	sc.enter(co)
	return co
}

func (s *Scheduler) newHidden(sc *Scope, fn func(*Coroutine) error, settler Settler) *Coroutine {
	co := s.blank(sc, fn, settler)
	co.marks |= markHidden
	sc.enter(co)
	return co
}

func (s *Scheduler) blank(sc *Scope, fn func(*Coroutine) error, settler Settler) *Coroutine {
	s.lastID++
	if settler == nil {
		return &Coroutine{scope: sc, fn: fn, entry: codeOf(fn), id: s.lastID}
	}
	return &(&settledCoroutine{Coroutine{scope: sc, fn: fn, entry: codeOf(fn), id: s.lastID, marks: markSettled}, settler}).Coroutine
}

// withdraw makes a coroutine whose start was refused as if it had never been.
func (s *Scheduler) withdraw(co *Coroutine) {
	x := co.extra()
	x.requested = &event.CancelledError{}
	x.err, co.asked, co.state = x.requested, true, completed
	co.over.Store(1)
	defer co.scope.remove(co)
	if x.rare != nil && x.rare.zombie != nil {
		x.rare.zombie.ended(x.err)
	}
}

func (sc *Scope) noSpawn(call string) error {
	problem := "the scope is closed"
	if sc.reason != nil {
		problem = "the scope was cancelled: " + sc.reason.Error()
	}
	return usage(call, problem, "spawn in a scope that is open")
}
