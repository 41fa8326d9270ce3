package scheduler

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/uvasync/uvasync/event"
)

// Coroutine is a function that runs in turns with others, on the loop of its run. It is an event that completes when the
// function has ended and stores its outcome; a [context.Context], so that it can be handed to any library; and it starts
// other coroutines. Functions that may suspend take one as their first argument.
//
// Its methods are for the coroutines and callbacks of its run, the suspending ones for the coroutine itself; those of
// [context.Context] and those that are told so are for any goroutine.
type Coroutine struct {
	scope  *Scope                 // immutable
	fn     func(*Coroutine) error // loop goroutine only; nil once it has begun
	entry  uintptr                // immutable; where fn begins
	fiber  *fiber                 // loop goroutine only; nil before the start and after the end
	ext    atomic.Pointer[extras] // any goroutine; what few coroutines have
	id     uint64                 // immutable
	over   atomic.Uint32          // any goroutine; 1 once it has ended
	index  int32                  // loop goroutine only; in scope.coroutines
	state  state                  // loop goroutine only
	marks  marks                  // loop goroutine only
	asked  bool                   // loop goroutine only; it was cancelled: extras.requested is set
	told   bool                   // loop goroutine only; a suspension point has returned extras.requested
	barred bool                   // loop goroutine only; suspension points fail: a cancellation is in effect
	doomed bool                   // loop goroutine only; stage 2 of a shutdown reached it
	begun  bool                   // loop goroutine only
}

// marks say what kind of coroutine it is.
type marks uint8

const (
	markHidden  marks = 1 << iota // never active
	markSettled                   // it is part of a settledCoroutine
	markTask                      // it is part of a taskCoroutine
	markServing                   // with markHidden: what it waits for counts as live
	markZombie                    // active no more: set once, while it lives
)

func (m marks) has(any marks) bool { return m&any != 0 }

// helpsNobody reports whether nobody waits for what it does.
func (m marks) helpsNobody() bool { return m&(markHidden|markServing) == markHidden }

// settledCoroutine is a coroutine whose outcome somebody takes over.
type settledCoroutine struct {
	Coroutine // the first field: a coroutine with markSettled can be converted
	settler   Settler
}

// taskCoroutine is a coroutine whose body is a task, in place of fn.
type taskCoroutine struct {
	Coroutine // the first field: a coroutine with markTask can be converted
	task      Task
}

// task is what a coroutine with markTask runs.
func (co *Coroutine) task() Task { return (*taskCoroutine)(unsafe.Pointer(co)).task }

// owned reports whether somebody has taken over the outcome.
func (m marks) owned() bool { return m.has(markSettled | markTask) }

type state uint8

const (
	queued    state = iota // started by nobody yet, in the ready queue
	running                // its body is what runs on the loop
	suspended              // waits, or is ready to go on
	completed
)

func (st state) String() string {
	return [...]string{"queued", "running", "suspended", "completed"}[st]
}

// verdict is a cancellation in effect.
type verdict struct{ err error }

// extras is what few coroutines need: those that are awaited, cancelled, named, that fail, or have values.
type extras struct {
	base      *event.Base             // loop goroutine only; nil until somebody asks for it
	err       error                   // loop goroutine only; the outcome
	requested *event.CancelledError   // loop goroutine only; its own cancellation, in effect or not
	verdict   atomic.Pointer[verdict] // any goroutine; the cancellation in effect, which Err returns
	own       atomic.Pointer[verdict] // any goroutine; requested, from when it took effect on
	box       verdict                 // what own refers to
	label     *label                  // immutable; nil: it has none
	rare      *rare                   // loop goroutine only; nil until needed
	values    Values
	outer     *Coroutine            // immutable; whose values it finds instead of those of its scope; nil: those
	mu        sync.Mutex            // guards what of the frames other goroutines reach; held for moments only
	top       atomic.Pointer[frame] // any goroutine; the innermost block, or the frame of the whole body; nil: none needed yet
}

// label is what reports call a coroutine. Immutable.
type label struct {
	name  string
	calls *[8]uintptr // that led to its spawning, with Options.SpawnLines; nil otherwise
}

// rare is what even fewer need. Loop goroutine only.
type rare struct {
	result  any
	finally []func(self, ended *Coroutine) error
	zombie  *zombie // nil: it is none, or none that is logged
}

// rarely returns what is rare about co, making it if there is nothing.
func (co *Coroutine) rarely() *rare {
	x := co.extra()
	if x.rare == nil {
		x.rare = &rare{}
	}
	return x.rare
}

// labelled gives a coroutine that is being made its name, which may be empty, and notes who spawns it, if that is wanted.
func (co *Coroutine) labelled(name string) {
	l := &label{name: name}
	if co.scope.s.opts.SpawnLines {
		l.calls = new([8]uintptr)
		runtime.Callers(3, l.calls[:])
	}
	co.extra().label = l
}

// extra returns co's extras, making them if there are none. Any goroutine.
func (co *Coroutine) extra() *extras {
	if x := co.ext.Load(); x != nil {
		return x
	}
	x := &extras{}
	x.values.owner = co
	if co.ext.CompareAndSwap(nil, x) {
		return x
	}
	return co.ext.Load()
}

// Scheduler returns the scheduler whose coroutine it is; nil for a nil coroutine. Any goroutine.
func (co *Coroutine) Scheduler() *Scheduler {
	if co == nil || co.scope == nil {
		return nil
	}
	return co.scope.s
}

// Scope returns the scope that co belongs to; nil for a nil coroutine.
func (co *Coroutine) Scope() *Scope {
	if co == nil {
		return nil
	}
	return co.scope
}

// ID returns a number that no other coroutine of the run has; the main one has 1. Any goroutine.
func (co *Coroutine) ID() uint64 { return co.id }

// Name returns the name given by [Named], or "coroutine" and the id. Any goroutine.
func (co *Coroutine) Name() string {
	if name := co.given(); name != "" {
		return name
	}
	return fmt.Sprint("coroutine ", co.id)
}

// given is the name that it was given, if any.
func (co *Coroutine) given() string {
	if x := co.ext.Load(); x != nil && x.label != nil {
		return x.label.name
	}
	return ""
}

// title is the name with the id, for reports, where names may meet.
func (co *Coroutine) title() string {
	if name := co.given(); name != "" {
		return fmt.Sprintf("coroutine %d %q", co.id, name)
	}
	return co.Name()
}

// Started reports whether the body has begun.
func (co *Coroutine) Started() bool { return co.begun }

// Queued reports whether co is in the ready queue, for its start or to go on.
func (co *Coroutine) Queued() bool {
	return co.state == queued || co.state == suspended && co.fiber.state == waitOver
}

// Suspended reports whether the body has begun and is not running.
func (co *Coroutine) Suspended() bool { return co.state == suspended }

// Running reports whether the body is what runs on the loop now: true in the coroutine itself only.
func (co *Coroutine) Running() bool { return co.state == running }

// Completed reports whether co has ended, in whatever way.
func (co *Coroutine) Completed() bool { return co.state == completed }

// Cancelled reports whether co has ended and was cancelled before, or ended with a cancellation.
func (co *Coroutine) Cancelled() bool {
	return co.state == completed && (co.asked || event.IsCancellation(co.Error()))
}

// CancellationRequested reports whether co was cancelled and has not ended yet, be it that a protected section defers it.
func (co *Coroutine) CancellationRequested() bool {
	return co.state != completed && co.asked
}

// Error returns what co ended with; nil before the end.
func (co *Coroutine) Error() error {
	if x := co.ext.Load(); x != nil {
		return x.err
	}
	return nil
}

// requested is the coroutine's own cancellation, nil while it has none.
func (co *Coroutine) requested() *event.CancelledError {
	if !co.asked {
		return nil
	}
	return co.ext.Load().requested
}

// Result returns the value that co ended with, nil for a plain one and before the end. See [Coroutine.SetResult].
func (co *Coroutine) Result() any {
	if x := co.ext.Load(); x != nil && x.rare != nil && co.state == completed && x.err == nil {
		return x.rare.result
	}
	return nil
}

// SetResult says what Result returns, and whoever awaits co, when it has ended without an error. It is for the coroutine
// itself.
func (co *Coroutine) SetResult(v any) { co.rarely().result = v }

// AsEvent returns the event that completes with the coroutine.
func (co *Coroutine) AsEvent() *event.Base {
	if co == nil {
		return nil
	}
	x := co.extra()
	if x.base == nil {
		x.base = &event.Base{}
		x.base.Init((*coroutineKind)(co), nil, 0)
	}
	return x.base
}

// Flags returns the flags of the event.
func (co *Coroutine) Flags() event.Flags {
	if co == nil {
		return 0
	}
	if x := co.ext.Load(); x != nil && x.base != nil {
		return x.base.Flags()
	}
	return 0
}

// Zombie reports whether co runs on without anybody counting on it: its scope was cancelled or disposed safely
// (SCOPE-08).
func (co *Coroutine) Zombie() bool { return co.marks.has(markZombie) }

// Info describes co for people: name and state. The loop only.
func (co *Coroutine) Info() string {
	text := co.title() + ", " + co.state.String()
	if co.Zombie() && co.state != completed {
		text += " zombie"
	}
	return text
}

// coroutineKind is the [event.Kind] of a coroutine.
type coroutineKind Coroutine

func (k *coroutineKind) StartEvent() error { return nil }
func (k *coroutineKind) StopEvent()        {}
func (k *coroutineKind) DisposeEvent()     {}
func (k *coroutineKind) Info() string      { return (*Coroutine)(k).Info() }

func (k *coroutineKind) Outcome() (result any, ok bool, err error) {
	co := (*Coroutine)(k)
	return co.Result(), co.state == completed, co.Error()
}
