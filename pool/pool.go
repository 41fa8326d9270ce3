package pool

import (
	"runtime"
	"time"
	"weak"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/ring"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Pool hands out resources of one type to the coroutines of one run. Make one with [New]. It belongs to a scope and is closed
// with it; it is also closed when nobody has the *Pool any more (POOL-33). As an event it happens once, when it was closed and
// the last resource is gone; disposing of the event is Close in the background.
//
// Loop only: the coroutines and the callbacks of its run.
type Pool[T any] struct{ core *core[T] }

// core is the pool itself. A *Pool, which only users have, refers to it; it does not refer back. Loop goroutine only, all of it.
type core[T any] struct {
	s     *scheduler.Scheduler // immutable
	quick bool                 // an idle resource is handed out without a question to anybody, but the breaker
	plain bool                 // immutable; one that comes back is taken without a question, but whether it is stale, and to the breaker
	total int                  // resources that exist, are being made or destroyed: their places are taken
	dying int                  // of these, those that are being destroyed, or will be next
	max   int                  // immutable
	stats Stats                // what only goes up

	// Whoever waits in the line, with nothing set aside, implies that idle is empty.
	idle ring.Ring[*entry[T]] // longest idle first
	line waitq.Queue[ask[T]]

	hooks    hooks[T] // immutable
	breaker  breaker
	reason   error                 // nil: open
	failing  error                 // what the breaker is being told of
	cause    error                 // what it was told of when it opened; nil: nothing
	refusal  *UnavailableError     // of now; nil: there was none
	reset    uint32                // how often Reset was called
	entries  []*entry[T]           // that exist, in no order
	builds   int                   // resources that are being made
	covered  int                   // of these, those that somebody in the line waits for
	spare    []*build[T]           // of these, what nobody waits for, oldest first
	bare     *waitq.Waiter[ask[T]] // nobody before it in the line waits without a build; nil: look at all
	arrivals uint32                // acquisitions that may come back to the line, so far; never 0 for one of them

	name      string                // immutable
	min       int                   // immutable
	timeout   time.Duration         // immutable; Config.AcquireTimeout
	onError   func(error)           // immutable
	scope     *scheduler.Scope      // immutable; that the pool belongs to
	helpers   *scheduler.Scope      // immutable; of the pool's own coroutines
	self      weak.Pointer[Pool[T]] // immutable
	cleanup   runtime.Cleanup
	inScope   scheduler.Owned
	inHelpers scheduler.Owned
	base      event.Base
	closers   waitq.Queue[struct{}] // who awaits that the last resource is gone
	drained   bool                  // it is
	age       age
	checks    checks
}

// New makes a pool for the run of co, which must be the caller. The first Config.Min resources are made before it returns, one
// after the other, so it may suspend then; if that fails, those that were made are destroyed (POOL-02). Errors:
// *event.InvalidArgumentError for what Config does not allow (POOL-01); that of Create; the cancellation of co;
// *event.ClosedError when the scope is closed; *event.UsageError.
func New[T any](co *scheduler.Coroutine, cfg Config[T]) (*Pool[T], error) {
	if err := co.Enter(callNew); err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	scope := co.Scope()
	if cfg.Scope != nil {
		if scope = cfg.Scope.Scope(); scope == nil {
			return nil, invalid("Scope", nil, "pass a scope or a coroutine of the run, or nothing")
		}
		if err := scope.Scheduler().CheckRun(callNew, co, "the scope"); err != nil {
			return nil, err
		}
	}
	if err := take(cfg.Strategy, named(cfg.Name)); err != nil {
		return nil, err
	}
	p := &Pool[T]{&core[T]{
		s: co.Scheduler(), scope: scope, hooks: cfg.hooks(), name: cfg.Name, min: cfg.Min, max: cfg.Max,
		timeout: cfg.AcquireTimeout, onError: cfg.OnError,
	}}
	c := p.core
	if err := c.makeHelpers(); err != nil {
		leave(cfg.Strategy)
		return nil, err
	}
	// What resources spawn for themselves belongs to the pool: it keeps no run alive, is cancelled at the end of the pool, and its
	// failures go where the pool's go.
	c.helpers.SetSafe(false)
	c.helpers.SetServing()
	c.helpers.OnError(func(_ *scheduler.Scope, co *scheduler.Coroutine, err error) error { c.scope.Fail(co, err); return nil })
	c.self = weak.Make(p)
	c.base.Init((*closing[T])(c), nil, 0)
	c.line.Init((*waiting[T])(c))
	c.closers.Init((*waitingForEnd[T])(c))
	c.breaker.init((*hosting[T])(c), cfg.Strategy, cfg.OnStateChange)
	c.age.init(cfg.MaxLifetime, cfg.MaxIdleTime, cfg.Jitter)
	c.quick = c.hooks.acquire == nil && !c.age.limited
	c.plain = c.hooks.release == nil && !c.age.limited
	c.cleanup = runtime.AddCleanup(p, dropped[T], c)
	scope.Own(&c.inScope, (*belonging[T])(c))
	c.helpers.Own(&c.inHelpers, (*belonging[T])(c)) // Create, for one, can end it
	if c.reason != nil {
		return nil, c.closedError(callNew)
	}
	if err := c.fill(co); err != nil {
		return nil, event.WithCause(err, p.Close(co))
	}
	c.schedule(cfg.HealthInterval)
	return p, nil
}

// makeHelpers makes the scope of the pool's own coroutines: a root, so that it does not hold up the end of the pool's scope; but
// below that one when it is of finally handlers, which outlive the end of the run.
func (c *core[T]) makeHelpers() (err error) {
	if c.scope.InFinally() {
		c.helpers, err = c.scope.New()
	} else {
		c.helpers, err = c.s.NewRoot()
	}
	if err != nil {
		closed := &event.ClosedError{Call: callNew, What: "its scope", Reason: ErrScopeDisposed, Fix: "make the pool before"}
		err = event.WithCause(closed, err)
	}
	return err
}

// fill makes the first resources (POOL-02).
func (c *core[T]) fill(co *scheduler.Coroutine) error {
	var made []*entry[T]
	defer func() {
		for _, e := range made {
			c.put(e)
		}
	}()
	for len(made) < c.min && c.reason == nil {
		e, err := c.makeOne(co)
		if err != nil {
			return err
		}
		made = append(made, e)
	}
	if c.reason != nil {
		return c.closedError(callNew)
	}
	return nil
}

// makeOne makes one resource and waits for it. Nobody else waits.
func (c *core[T]) makeOne(co *scheduler.Coroutine) (*entry[T], error) {
	w := c.line.Push(co, ask[T]{})
	over, err := w.Parking(callNew, nil)
	if !over {
		c.build(w, co)
		co.Switch()
		err = w.Parked()
	}
	e := w.Data.entry
	w.Free()
	return e, err
}

// Name returns what the configuration calls the pool. Any goroutine.
func (p *Pool[T]) Name() string { return must(p.made("pool: Name")).name }

// Now returns the time on the clock of the run. Any goroutine.
func (p *Pool[T]) Now() time.Time { return must(p.made("pool: Now")).s.Reactor().Now() }

// AsEvent returns the event that happens when the pool was closed and its last resource is gone.
func (p *Pool[T]) AsEvent() *event.Base {
	if p == nil || p.core == nil {
		return nil
	}
	return &p.core.base
}

// RefuseWait is what the waits of coroutines ask: those of other runs cannot wait for the pool (GEN-11).
func (p *Pool[T]) RefuseWait(call string, co *scheduler.Coroutine) error {
	c, err := p.made(call)
	if err != nil {
		return err
	}
	return c.s.CheckRun(call, co, "the "+named(c.name))
}

// Flags returns the event's flags.
func (p *Pool[T]) Flags() event.Flags {
	if p == nil || p.core == nil {
		return 0
	}
	return p.core.base.Flags()
}

var (
	_ Source             = (*Pool[int])(nil)
	_ scheduler.Refusing = (*Pool[int])(nil)
)
