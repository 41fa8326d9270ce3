package scheduler

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/uvasync/uvasync/event"
)

// Coroutine is a function that runs in turns with others, on the loop of its run. It is an event that completes when the
// function has ended and stores its outcome; a [context.Context], so that it can be handed to any library; and it starts
// other coroutines. Functions that may suspend take one as their first argument.
//
// Its methods are for the coroutines and callbacks of its run, the suspending ones for the coroutine itself; those of
// [context.Context] and those that are told so are for any goroutine.
type Coroutine struct {
	s          *Scheduler // immutable
	scope      *Scope     // loop goroutine only
	prev, next *Coroutine // loop goroutine only; in scope.coroutines
	fn         func(*Coroutine) error
	entry      uintptr // immutable; where fn begins
	fiber      *fiber  // loop goroutine only; nil before the start and after the end
	err        error   // loop goroutine only; the outcome
	id         uint64  // immutable
	state      state   // loop goroutine only
	hidden     bool    // immutable; not active
	delivered  bool    // loop goroutine only; it was told about its cancellation
	barred     bool    // loop goroutine only; suspension points fail: something in effect is cancelled
	unwinding  bool    // loop goroutine only; stage 2 of a shutdown reached it
	cleaner    bool    // immutable; runs finally handlers: stage 1 of a shutdown spares it
	base       *event.Base
	requested  *event.CancelledError   // loop goroutine only; its own cancellation, in effect or not
	verdict    atomic.Pointer[verdict] // any goroutine; the cancellation in effect, which Err returns
	ext        atomic.Pointer[extras]  // any goroutine; what few coroutines have
}

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

// extras is what few coroutines need.
type extras struct {
	name    string
	line    uintptr                  // where it was spawned, with Options.SpawnLines
	finally []func(*Coroutine) error // loop goroutine only
	settler Settler
	result  any
	values  Values
	mu      sync.Mutex            // guards what of the frames other goroutines reach; held for moments only
	top     atomic.Pointer[frame] // any goroutine; the innermost block, or the frame of the whole body; nil: none needed yet
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

// Scheduler returns the scheduler whose coroutine it is. Any goroutine.
func (co *Coroutine) Scheduler() *Scheduler { return co.s }

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
	if x := co.ext.Load(); x != nil && x.name != "" {
		return x.name
	}
	return fmt.Sprint("coroutine ", co.id)
}

// Started reports whether the body has begun.
func (co *Coroutine) Started() bool { return co.fiber != nil || co.state == completed && co.fn == nil }

// Queued reports whether co is in the ready queue, for its start or to go on.
func (co *Coroutine) Queued() bool {
	return co.state == queued || co.state == suspended && co.fiber.wait.state == waitOver
}

// Suspended reports whether the body has begun and is not running.
func (co *Coroutine) Suspended() bool { return co.state == suspended }

// Running reports whether the body is what runs on the loop now: true in the coroutine itself only.
func (co *Coroutine) Running() bool { return co.state == running }

// Completed reports whether co has ended, in whatever way.
func (co *Coroutine) Completed() bool { return co.state == completed }

// Cancelled reports whether co has ended and was cancelled before, or ended with a cancellation.
func (co *Coroutine) Cancelled() bool {
	return co.state == completed && (co.requested != nil || event.IsCancellation(co.err))
}

// CancellationRequested reports whether co was cancelled and has not ended yet, be it that a protected section defers it.
func (co *Coroutine) CancellationRequested() bool {
	return co.state != completed && co.requested != nil
}

// Error returns what co ended with; nil before the end.
func (co *Coroutine) Error() error { return co.err }

// Result returns the value that co ended with, nil for a plain one and before the end. See [Coroutine.SetResult].
func (co *Coroutine) Result() any {
	if x := co.ext.Load(); x != nil && co.state == completed && co.err == nil {
		return x.result
	}
	return nil
}

// SetResult says what Result returns, and whoever awaits co, when it has ended without an error. It is for the coroutine
// itself.
func (co *Coroutine) SetResult(v any) { co.extra().result = v }

// AsEvent returns the event that completes with the coroutine.
func (co *Coroutine) AsEvent() *event.Base {
	if co.base == nil {
		co.base = &event.Base{}
		co.base.Init((*coroutineKind)(co), nil, 0)
	}
	return co.base
}

// Flags returns the flags of the event.
func (co *Coroutine) Flags() event.Flags {
	if co.base == nil {
		return 0
	}
	return co.base.Flags()
}

// Info describes co for people: name and state. The loop only.
func (co *Coroutine) Info() string { return co.Name() + ", " + co.state.String() }

// coroutineKind is the [event.Kind] of a coroutine.
type coroutineKind Coroutine

func (k *coroutineKind) StartEvent() error { return nil }
func (k *coroutineKind) StopEvent()        {}
func (k *coroutineKind) DisposeEvent()     {}
func (k *coroutineKind) Info() string      { return (*Coroutine)(k).Info() }

func (k *coroutineKind) Outcome() (result any, ok bool, err error) {
	co := (*Coroutine)(k)
	return co.Result(), co.state == completed, co.err
}

// outcome is what an awaiter gets.
func (co *Coroutine) outcome() (any, error) { return co.Result(), co.err }
