package pool

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

var (
	// ErrServiceUnavailable: the circuit breaker is open ([Inactive], or [Recovering] with all probes out), so nothing is handed
	// out (CB-02). Calls return it as *[UnavailableError].
	ErrServiceUnavailable = errors.New("pool: the circuit breaker is open; try again later")
	// ErrNoResource: Create returned nothing to use, a nil pointer for example, and no error (POOL-06). A Create that has nothing
	// to give at the moment may return it.
	ErrNoResource = errors.New("pool: Create returned no resource")
	// ErrRejected is what a strategy is told when BeforeRelease did not accept a resource (CB-04).
	ErrRejected = errors.New("pool: BeforeRelease did not accept the resource")
	// ErrDestroyed is what a strategy is told when the holder has destroyed the resource.
	ErrDestroyed = errors.New("pool: its holder destroyed the resource")
	// ErrNotReleased is told to Config.OnError, or the log, at the end of the run, for each resource that nobody has given back. The
	// pool takes it back then, and destroys it.
	ErrNotReleased = errors.New("pool: the run is over, and the resource was not released")
)

// Why a pool was closed: the Reason of the *event.ClosedError that its calls return then, for [errors.Is].
var (
	// ErrCloseCalled: somebody called Close, or disposed of the event.
	ErrCloseCalled = errors.New("pool: Close was called")
	// ErrScopeDisposed: the scope that the pool belongs to was cancelled or disposed, or the run is over.
	ErrScopeDisposed = errors.New("pool: its scope was disposed")
	// ErrDropped: nobody has the *Pool any more (POOL-33).
	ErrDropped = errors.New("pool: it was dropped without Close")
)

const (
	callNew            = "pool: New"
	callAcquire        = "pool: Acquire"
	callTryAcquire     = "pool: TryAcquire"
	callAcquireAllIdle = "pool: AcquireAllIdle"
	callWith           = "pool: With"
	callRelease        = "pool: Handle.Release"
	callDestroy        = "pool: Handle.Destroy"
	callDiscard        = "pool: Handle.Discard"
	callHijack         = "pool: Handle.Hijack"
	callReset          = "pool: Reset"
	callClose          = "pool: Close"
	callSetStrategy    = "pool: SetStrategy"
	callAwaitClosed    = "pool: AwaitClosed"
	callHealth         = "pool: health check"
)

func (c *core[T]) closedError(call string) error {
	fix := "acquire before it is closed"
	if c.reason == ErrScopeDisposed {
		fix = "give it a scope that lasts as long as it is needed: Config.Scope"
	}
	return &event.ClosedError{Call: call, What: c.brief(), Reason: c.reason, Fix: fix}
}

// noPool is the answer of a pool that New has not made.
func noPool(call string) error {
	return &event.UsageError{Call: call, Problem: "the pool was not made by New", Fix: "look at the error of New first"}
}

// open returns what a *Pool stands for. It panics with a *event.UsageError when that is nothing, or on a foreign goroutine, where
// no error can be returned.
func (p *Pool[T]) open(call string) *core[T] {
	c := p.must(call)
	if err := c.s.Check(call); err != nil {
		panic(err)
	}
	return c
}

// must is open for any goroutine.
func (p *Pool[T]) must(call string) *core[T] {
	if p == nil || p.core == nil {
		panic(noPool(call))
	}
	return p.core
}

// opened is open for calls that can return an error.
func (p *Pool[T]) opened(call string) (*core[T], error) {
	if p == nil || p.core == nil {
		return nil, noPool(call)
	}
	return p.core, p.core.s.Check(call)
}

// entered is opened for calls of a coroutine: co must be the caller, and of the pool's run (GEN-11).
func (p *Pool[T]) entered(call string, co *scheduler.Coroutine) (*core[T], error) {
	if p == nil || p.core == nil {
		return nil, noPool(call)
	}
	if err := co.Check(call); err != nil {
		return nil, err
	}
	if co.Scheduler() != p.core.s {
		return nil, p.core.foreign(call, co)
	}
	return p.core, nil
}

// foreign is the answer to a coroutine of another run (GEN-11).
func (c *core[T]) foreign(call string, co *scheduler.Coroutine) error {
	return c.s.CheckRun(call, co, "the "+named(c.name))
}

// HookError is a failure of a hook of a pool.
type HookError struct {
	Pool string // its name
	Hook string // "Create", "Destroy", "HealthCheck", "BeforeAcquire", "BeforeRelease", "Strategy", "OnStateChange"; "Release" for [ErrNotReleased], and what With cannot return because of a panic
	Err  error
}

func (e *HookError) Error() string { return fmt.Sprintf("%s: %s: %v", named(e.Pool), e.Hook, e.Err) }

// Unwrap returns the failure.
func (e *HookError) Unwrap() error { return e.Err }

// failure is err, unless it is nil, with where it comes from.
func (c *core[T]) failure(hook string, err error) error {
	if err == nil {
		return nil
	}
	return &HookError{c.name, hook, err}
}

// named is "pool db".
func named(name string) string {
	if name == "" {
		return "pool"
	}
	return "pool " + name
}

// failed takes a failure that nobody has seen (GEN-08).
func (c *core[T]) failed(err error) {
	if c.onError == nil {
		c.scope.Fail(nil, err)
		return
	}
	c.told(err)
}

// told takes a failure that need not be seen: it was swallowed by a rule, or concerns something that is tried again.
func (c *core[T]) told(err error) {
	if c.onError == nil {
		c.s.Logger().Warn("a pool has met an error", "run", c.s.Name(), "pool", c.name, "error", fmt.Sprint(err))
		return
	}
	if err := c.s.Call(func() error { c.onError(err); return nil }); err != nil {
		c.scope.Fail(nil, err)
	}
}

// swallowed is the answer of a hook that may say no; its error is one, too (POOL-20, POOL-22, POOL-34).
func (c *core[T]) swallowed(hook string, ok bool, err error) bool {
	if err != nil {
		c.told(c.failure(hook, err))
	}
	return ok && err == nil
}

// UnavailableError says that a pool hands out nothing because of its circuit breaker. It matches [ErrServiceUnavailable].
type UnavailableError struct {
	Pool  string    // its name
	State State     // [Inactive], or [Recovering] when all probes are out
	Since time.Time // about when it began to refuse, on the clock of the run
	Cause error     // the failure at which its strategy has turned it off; nil: somebody did so by hand
}

func (e *UnavailableError) Error() string {
	text := named(e.Pool) + " is inactive: its circuit breaker is open; try again later"
	if e.State == Recovering {
		text = named(e.Pool) + " is recovering, and all probes of its circuit breaker are out; try again later"
	}
	switch cause := e.Cause.(type) {
	case nil:
		return text
	case *HookError:
		return text + fmt.Sprintf(" (%s: %v)", cause.Hook, cause.Err)
	default:
		return text + fmt.Sprintf(" (%v)", cause)
	}
}

// Is reports whether target is ErrServiceUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrServiceUnavailable }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// unavailable counts a refusal and returns its error, which is made once for each state.
func (c *core[T]) unavailable() error {
	c.stats.Refused++
	if state := c.breaker.state(); c.refusal == nil || c.refusal.State != state {
		c.refusal = &UnavailableError{c.name, state, c.s.Reactor().Now(), c.cause}
	}
	return c.refusal
}

// fails tells the breaker of a failure.
func (c *core[T]) fails(t ticket, err error) {
	before := c.failing
	c.failing = err
	defer func() { c.failing = before }()
	c.breaker.failure(t, err)
}

// brief is "pool db 3/10": how many resources there are, of how many.
func (c *core[T]) brief() string {
	return named(c.name) + " " + strconv.Itoa(c.total) + "/" + strconv.Itoa(c.max)
}
