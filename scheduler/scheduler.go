package scheduler

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/coro"
	"github.com/uvasync/uvasync/internal/goid"
	"github.com/uvasync/uvasync/internal/ring"
)

// Scheduler runs coroutines on an event loop, one at a time. Make one with [New], use it for one Run.
type Scheduler struct {
	// What a switch reads.
	owner    owner  // any goroutine
	fiber    *fiber // loop goroutine only, as all that follows; which fiber has the loop: owner, as an object
	ready    ring.Ring[*Coroutine]
	left     int         // resumptions until the event loop must be looked at
	clockAt  int         // value of left at which the clock is looked at
	poked    atomic.Bool // any goroutine; set by the watchdog, cleared whenever a coroutine comes back
	observed bool        // something is to be told of each switch
	sampling bool        // a fiber is asked for its stack
	shuffled bool        // there is Options.Rand
	group    *coro.Group
	micro    ring.Ring[func() error]

	name    string  // immutable
	opts    Options // immutable
	reactor Reactor // immutable

	root     *fiber        // the goroutine of Run
	idle     []*fiber      // the one that became so last comes last
	idleLow  int           // the least number of them since the last trim
	trimmed  time.Duration // when that was
	retiring *fiber        // who trims
	slots    *slot         // those that are not in use
	wanted   *Coroutine    // needs a fiber, which the root makes

	main    *Scope
	mainCo  *Coroutine
	roots   scopeList // main, and those beside it
	lastID  uint64
	active  int // coroutines that the run waits for
	zombies int
	total   int
	ghosts  ghosts // zombies that are logged
	spare   ending // of scopes, with a list that can be used
	missed  int    // notifications that came to waits that had ended already

	clockStep int           // resumptions between two looks at the clock
	sliceFrom time.Duration // when the event loop was last looked at
	clock     time.Duration // when the clock was
	stats     Stats

	stage         stage
	grace         event.Deadline
	failure       error
	exited        bool // somebody called Goexit: Run's goroutine does so in the end
	ended         bool
	deadlocks     int
	externals     int // open ones
	firstStarving *StarvingNode
	lastStarving  *StarvingNode

	regions int                       // of runtime/trace that are open
	wakes   bool                      // the reactor tells when it has waited
	watched bool                      // there is a watchdog
	shown   atomic.Pointer[Coroutine] // any goroutine; whose body runs, for the watchdog
	blocked atomic.Bool               // any goroutine; the loop waits for events
	started atomic.Bool               // any goroutine
}

var lastRun atomic.Uint64

// New makes a scheduler on r. It panics with an *event.InvalidArgumentError when r is nil.
func New(r Reactor, o Options) *Scheduler {
	if r == nil {
		panic(invalid("New", "reactor", nil, "pass an event loop"))
	}
	if o.Name == "" {
		o.Name = "run-" + strconv.FormatUint(lastRun.Add(1), 10)
	}
	o.fill()
	s := &Scheduler{name: o.Name, opts: o, reactor: r, watched: o.Watchdog > 0, shuffled: o.Rand != nil}
	s.main = newScope(s, nil)
	return s
}

// Name returns the name of the run. Any goroutine.
func (s *Scheduler) Name() string { return s.name }

// Logger returns the logger of the options, or one that discards. Any goroutine.
func (s *Scheduler) Logger() *slog.Logger { return s.opts.Logger }

// Reactor returns the event loop. Any goroutine.
func (s *Scheduler) Reactor() Reactor { return s.reactor }

// Clock returns the reactor's monotonic time as of the last look at it, which is free: while coroutines run it is behind by
// about an eighth of a slice, or by as long as one of them keeps the loop. The loop only.
func (s *Scheduler) Clock() time.Duration { return s.clock }

// Main returns the scope that the main coroutine belongs to. Before Run its values can be set.
func (s *Scheduler) Main() *Scope { return s.main }

// Post has fn run on the loop, outside of any coroutine, in the order of the calls. It does not keep the run alive: use an
// [External] for that. Any goroutine. Errors: *event.InvalidArgumentError for nil; ErrClosed when the loop is closed;
// ErrNotSimulated from a foreign goroutine of a simulation.
func (s *Scheduler) Post(fn func()) error { return s.reactor.Post(fn) }

// Current returns the coroutine whose body is running, nil in callbacks. The loop only.
func (s *Scheduler) Current() *Coroutine {
	if s.fiber == nil {
		return nil
	}
	if co := s.fiber.co; co != nil && co.state == running {
		return co
	}
	return nil
}

// Coroutines lists all coroutines that have not ended, the hidden ones too, in the order of their ids. The loop only.
func (s *Scheduler) Coroutines() []*Coroutine {
	list := make([]*Coroutine, 0, s.total)
	for sc := range s.eachScope {
		list = append(list, sc.coroutines...)
	}
	slices.SortFunc(list, byID)
	return list
}

// Run starts a coroutine that runs main, and returns when no active coroutine is left (CORO-05). It returns the failure that
// nobody dealt with, main's own included; a *DeadlockError (DEAD-01); a *ShutdownError that names who did not end in time;
// when ctx was done first, an *event.CancelledError with its cause. Of several it returns the latest, with the others in
// its chain. The reactor is left as it is. Errors of its own: *event.UsageError for a second Run, or a ctx that is a
// coroutine or made from one (GEN-11); *event.InvalidArgumentError.
func (s *Scheduler) Run(ctx context.Context, main func(co *Coroutine) error) error {
	const call = "Scheduler.Run"
	switch {
	case ctx == nil:
		return invalid(call, "context", nil, "pass context.Background()")
	case main == nil:
		return invalid(call, "function", nil, "pass what the main coroutine shall run")
	case FromContext(ctx) != nil:
		return usage(call, "its context is a coroutine of "+FromContext(ctx).scope.s.name, "spawn a coroutine there, or pass another context")
	case s.started.Swap(true):
		return usage(call, s.name+" was run already", "make another scheduler")
	}
	s.root = &fiber{s: s, g: goid.Get()}
	s.group = coro.NewGroup(&s.root.ctx)
	s.owner.set(s.root.g)
	s.fiber = s.root
	defer s.close()
	stopCtx := context.AfterFunc(ctx, func() {
		// It fails when the loop is closed, after the run.
		_ = s.reactor.Post(func() { s.askedToEnd(context.Cause(ctx)) })
	})
	defer stopCtx()
	defer s.watch()()
	s.mainCo = s.newCoroutine(s.main, main, nil)
	s.mainCo.labelled("main")
	s.ready.Push(s.mainCo)
	if ctx.Err() != nil { // main does not begin, whenever the post comes
		s.askedToEnd(context.Cause(ctx))
	}
	s.stretch()
	s.loop()
	return s.failure
}

// loop runs everything to its end, and goes on doing so when a callback exits the goroutine meanwhile.
func (s *Scheduler) loop() {
	over := false
	defer func() {
		if r := recover(); r != nil { // a bug of ours
			panic(r)
		}
		if !over {
			s.loop()
		}
	}()
	s.rule()
	over = true
}

// close ends the contexts. It runs when Run returns, and when its goroutine exits.
func (s *Scheduler) close() {
	s.ended = true
	if s.grace != nil {
		s.grace.Stop()
	}
	s.closeExternals(s.externals)
	s.group.EndAll()
	s.owner.set(0)
	s.idle = nil
	if s.exited {
		runtime.Goexit()
	}
}

// broken is an event loop that cannot turn.
func (s *Scheduler) broken(err error) {
	if s.stage == stageNone {
		s.Fail(err)
		return
	}
	s.unwindAll()
}
