package pool

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

var (
	// ErrServiceUnavailable: the circuit breaker is open ([Inactive], or [Recovering] with all probes out), so nothing is handed
	// out (CB-02). Calls return it as *[UnavailableError].
	ErrServiceUnavailable = errors.New("pool: the circuit breaker is open: try again later")
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
	callHijack         = "pool: Handle.Hijack"
	callReset          = "pool: Reset"
	callClose          = "pool: Close"
	callSetStrategy    = "pool: SetStrategy"
	callAwaitClosed    = "pool: AwaitClosed"
	callHealth         = "pool: health check"
)

func (c *core[T]) closedError(call string) error {
	return &event.ClosedError{Call: call, What: c.brief(), Reason: c.reason, Fix: "acquire before it is closed, or make a new one"}
}

// noPool is the answer of a pool that New has not made.
func noPool(call string) error {
	return &event.UsageError{Call: call, Problem: "the pool was not made by New", Fix: "look at the error of New first"}
}

// open returns what a *Pool stands for. It panics with a *event.UsageError when that is nothing, or on a foreign goroutine, where
// no error can be returned.
func (p *Pool[T]) open(call string) *core[T] {
	if p == nil || p.core == nil {
		panic(noPool(call))
	}
	if err := p.core.s.Check(call); err != nil {
		panic(err)
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

// HookError is a failure of a hook of a pool that no call returns.
type HookError struct {
	Pool string // its name
	Hook string // "Create", "Destroy", "HealthCheck", "BeforeAcquire", "BeforeRelease", "Strategy" for that and OnStateChange, "With" for its release
	Err  error
}

func (e *HookError) Error() string { return fmt.Sprintf("%s: %s: %v", named(e.Pool), e.Hook, e.Err) }

// Unwrap returns the failure.
func (e *HookError) Unwrap() error { return e.Err }

// named is "pool db".
func named(name string) string {
	if name == "" {
		return "pool"
	}
	return "pool " + name
}

// failed takes a failure of a hook that nobody has seen (GEN-08).
func (c *core[T]) failed(hook string, err error) {
	if c.onError == nil {
		c.scope.Fail(nil, &HookError{c.name, hook, err})
		return
	}
	c.told(hook, err)
}

// told takes a failure that need not be seen: it was swallowed by a rule, or concerns something that is tried again.
func (c *core[T]) told(hook string, err error) {
	told := &HookError{c.name, hook, err}
	if c.onError == nil {
		c.s.Logger().Warn("a pool has met an error", "run", c.s.Name(), "pool", c.name, "hook", hook, "error", fmt.Sprint(err))
		return
	}
	if err := c.s.Call(func() error { c.onError(told); return nil }); err != nil {
		c.scope.Fail(nil, err)
	}
}

// swallowed is the answer of a hook that may say no; its error is one, too (POOL-20, POOL-22, POOL-34).
func (c *core[T]) swallowed(hook string, ok bool, err error) bool {
	if err != nil {
		c.told(hook, err)
	}
	return ok && err == nil
}

// UnavailableError says that the circuit breaker of a pool is open. It matches [ErrServiceUnavailable].
type UnavailableError struct {
	Pool  string // its name
	State State  // [Inactive], or [Recovering] when all probes are out
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s: its circuit breaker is %v; try again later", named(e.Pool), e.State)
}

// Is reports whether target is ErrServiceUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrServiceUnavailable }

// unavailable counts a refusal and returns its error.
func (c *core[T]) unavailable() error {
	c.stats.Refused++
	return &c.refusals[c.breaker.state()]
}

// brief is "pool db 3/10": how many resources there are, of how many.
func (c *core[T]) brief() string {
	return named(c.name) + " " + strconv.Itoa(c.total) + "/" + strconv.Itoa(c.max)
}
