package scope

import (
	"math"
	"runtime"
	"strconv"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// NoQueueLimit as [GroupConfig.QueueLimit] lets any number of tasks wait for their turn.
const NoQueueLimit = math.MaxInt

// GroupConfig is what a [Group] or a [Set] can have. The zero value runs all tasks at once.
type GroupConfig struct {
	// Concurrency is how many tasks run at once at most. 0: no limit; negative: refused (TG-02).
	Concurrency int
	// QueueLimit is how many tasks wait for their turn at most; with more, Spawn waits (TG-04). 0: twice the concurrency;
	// [NoQueueLimit]: any number; negative: refused. Without a Concurrency nothing waits (TG-03).
	QueueLimit int
	// IgnoreErrors makes All, and JoinAll of a set, give what has succeeded, whatever has failed (TG-07).
	IgnoreErrors bool
}

// Group runs tasks, and has what became of each under its key: for as long as the group exists. A [Set] forgets what it
// has handed out. Tasks are coroutines of a scope of their own, below the one that the group was made in (TG-25). Their
// failures are the group's (TG-23): whoever takes them with [Group.All], [Group.Race], [Group.Any], [Group.Outcomes] or
// [Group.Errors], or says [Group.SuppressErrors], has dealt with them. Those that nobody has taken reach the scope that the
// group was made in as one *event.CompositeError of [TaskError], when that scope completes, or when the group was collected
// and its tasks have ended (TG-22). What tasks spawn is no task: a failure there that nobody awaits cancels all tasks, and goes
// on to the scope around.
//
// A group that is collected behaves as after [Group.Close]: its tasks run on, and the futures that it has given away stay
// good (TG-24). When its scope is cancelled or disposed, or the one around that, the group is closed, and tasks that wait
// for their turn have that cancellation as their outcome.
//
// As an event it happens once, when it is closed and all its tasks have ended, and is replayed.
//
// Make one with [NewGroup] or [NewKeyedGroup]. The loop only: the coroutines and the callbacks of its run. Where there is no
// error to return, calls from elsewhere panic with an *event.UsageError.
type Group[K comparable, T any] struct {
	// All the rest. It must not lead back here: that would keep the handle from being collected.
	engine *engine[K, T]
}

var _ scheduler.Refusing = (*Group[int, int])(nil)

// NewGroup makes a group whose tasks have the keys 0, 1, 2... in the order in which they were spawned (TG-01). It belongs to
// the scope of owner, in a scope of its own below that, which has its safe flag (TG-25). A [Scope] is kept alive by it
// (SCOPE-33). config is one or none.
//
// Errors: *event.InvalidArgumentError for a negative number in the config and for several configs; *event.UsageError for a
// nil owner, for one whose scope is closed, and from a foreign goroutine. Loop only.
//
//go:noinline
func NewGroup[T any](owner scheduler.Scoped, config ...GroupConfig) (*Group[int, T], error) {
	return newGroup[int, T]("scope: NewGroup", callerpc.Get(), owner, config)
}

// NewKeyedGroup makes a group whose tasks are given their keys, with [Group.SpawnKey]. Otherwise as [NewGroup].
//
//go:noinline
func NewKeyedGroup[K comparable, T any](owner scheduler.Scoped, config ...GroupConfig) (*Group[K, T], error) {
	return newGroup[K, T]("scope: NewKeyedGroup", callerpc.Get(), owner, config)
}

func newGroup[K comparable, T any](call string, at uintptr, owner scheduler.Scoped, config []GroupConfig) (*Group[K, T], error) {
	e, err := newEngine[K, T](call, aGroup, owner, config)
	if err != nil {
		return nil, err
	}
	e.at = at
	g := &Group[K, T]{e}
	e.born(g)
	return g, nil
}

// groupOf makes one more handle of a group. The last to be collected counts.
func groupOf[K comparable, T any](e *engine[K, T]) *Group[K, T] {
	g := &Group[K, T]{e}
	e.handles++
	runtime.AddCleanup(g, (*core).collected, &e.core)
	return g
}

// inner is the engine, nil for a group that was not made.
func (g *Group[K, T]) inner() *engine[K, T] {
	if g == nil {
		return nil
	}
	return g.engine
}

// engine is a group or a set, without the handle.
type engine[K comparable, T any] struct {
	core
	nextKey      int            // the next automatic key to try
	keys         map[K]struct{} // those that are taken; nil until somebody passes one
	alls         waitq.Queue[waitsForAll[K, T]]
	ignoreErrors bool          // immutable
	spare        []entry[K, T] // the latest to be made: one allocation for several
	used         int           // of spare
	free         *task         // not in use any more, or never was; linked through next
}

func newEngine[K comparable, T any](call string, k variety, owner scheduler.Scoped, config []GroupConfig) (*engine[K, T], error) {
	var cfg GroupConfig
	switch len(config) {
	case 0:
	case 1:
		cfg = config[0]
	default:
		return nil, &event.InvalidArgumentError{Call: call, Arg: "number of configs", Got: len(config), Legal: "pass one or none"}
	}
	if err := cfg.check(call); err != nil {
		return nil, err
	}
	around, err := openScopeOf(call, owner)
	if err != nil {
		return nil, err
	}
	inside, err := around.New()
	if err != nil {
		return nil, err
	}
	e := &engine[K, T]{ignoreErrors: cfg.IgnoreErrors}
	e.core.init(k, e, around, inside, cfg)
	switch owner.(type) {
	case *scheduler.Coroutine, *scheduler.Scope: // their being collected means nothing, and a coroutine may hold much
	default:
		e.keeper = owner
	}
	e.alls.Init((*allLine[K, T])(e))
	return e, nil
}

func (cfg GroupConfig) check(call string) error {
	const notNegative = "it must not be negative"
	switch {
	case cfg.Concurrency < 0:
		return &event.InvalidArgumentError{Call: call, Arg: "Concurrency", Got: cfg.Concurrency, Legal: notNegative + "; 0 means no limit"}
	case cfg.QueueLimit < 0:
		return &event.InvalidArgumentError{Call: call, Arg: "QueueLimit", Got: cfg.QueueLimit, Legal: notNegative + "; NoQueueLimit means no limit"}
	}
	return nil
}

// places is how many tasks there can be that have not ended.
func (cfg GroupConfig) places() int {
	queue := cfg.QueueLimit
	if queue == 0 {
		queue = 2 * min(cfg.Concurrency, math.MaxInt/4)
	}
	if cfg.Concurrency == 0 || queue > math.MaxInt-cfg.Concurrency {
		return math.MaxInt
	}
	return cfg.Concurrency + queue
}

func openScopeOf(call string, owner scheduler.Scoped) (*scheduler.Scope, error) {
	if owner == nil || owner.Scope() == nil {
		return nil, &event.UsageError{Call: call, Problem: "there is no owner", Fix: "pass the coroutine that calls, or a scope"}
	}
	sc := owner.Scope()
	if err := sc.Scheduler().Check(call); err != nil {
		return nil, err
	}
	if sc.Sealed() {
		return nil, &event.UsageError{Call: call, Problem: "the scope is closed", Fix: "make it in a scope that is open"}
	}
	return sc, nil
}

// born is called with the first handle.
func (e *engine[K, T]) born(handle any) {
	e.handles, e.handle = 1, handle
	nurseryOf(e.s).born(e.s, e)
}

func (e *engine[K, T]) ownership() *owner { return &e.owner }

func (e *engine[K, T]) grow() runtime.Cleanup {
	handle := e.handle
	e.handle = nil
	if g, ok := handle.(*Group[K, T]); ok {
		return runtime.AddCleanup(g, (*core).collected, &e.core)
	}
	return runtime.AddCleanup(handle.(*Set[K, T]), (*core).collected, &e.core)
}

// check answers whether there is a group, and the caller is on its loop.
func (e *engine[K, T]) check(call string) error {
	if e == nil {
		return &event.UsageError{Call: call, Problem: "it was not made", Fix: "make it with NewGroup, NewSet or one of their kin"}
	}
	return e.s.Check(call)
}

// must is check for calls that return no error.
func (e *engine[K, T]) must(call string) {
	if err := e.check(call); err != nil {
		panic(err)
	}
}

// enter is what a call begins with that may suspend co.
func (e *engine[K, T]) enter(call string, co *scheduler.Coroutine, opts []scheduler.WaitOption) error {
	if e == nil {
		return e.check(call)
	}
	if err := co.Enter(call); err != nil {
		return err
	}
	if co.Scheduler() != e.s {
		return &event.UsageError{
			Call:    call,
			Problem: "the " + e.kind.String() + " belongs to the run " + e.s.Name() + ", the coroutine to the run " + co.Scheduler().Name(),
			Fix:     "use it in the run that made it",
		}
	}
	if len(opts) > 0 {
		return scheduler.CheckOptions(call, opts)
	}
	return nil
}

func nilFunction(call, legal string) error {
	return &event.InvalidArgumentError{Call: call, Arg: "function", Legal: legal}
}

// variety is what an engine is for.
type variety uint8

const (
	aGroup variety = iota // keeps its tasks
	aSet                  // forgets those that it has handed out
)

func (k variety) String() string { return [...]string{"group", "set"}[k] }

// sized is "3 queued", and "" for none.
func sized(n int, what string) string {
	if n == 0 {
		return ""
	}
	return ", " + strconv.Itoa(n) + " " + what
}
