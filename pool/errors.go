package pool

import (
	"errors"
	"strconv"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

var (
	// ErrServiceUnavailable: the circuit breaker is open ([Inactive], or [Recovering] with all probes out), so nothing is handed
	// out (CB-02).
	ErrServiceUnavailable = errors.New("pool: the circuit breaker is open: try again later")
	// ErrNoResource: Create returned nothing to use, a nil pointer for example, and no error (POOL-06). A Create that has nothing
	// to give at the moment may return it.
	ErrNoResource = errors.New("pool: Create returned no resource")
	// ErrRejected is what a strategy is told when BeforeRelease did not accept a resource (CB-04).
	ErrRejected = errors.New("pool: BeforeRelease did not accept the resource")
	// ErrDestroyed is what a strategy is told when the holder has destroyed the resource.
	ErrDestroyed = errors.New("pool: its holder destroyed the resource")
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
	callAwaitClosed    = "pool: AwaitClosed"
	callHealth         = "pool: health check"
)

func (c *core[T]) closedError(call string) error {
	return &event.ClosedError{Call: call, What: c.brief(), Reason: c.reason, Fix: "acquire before it is closed, or make a new one"}
}

// enter is the beginning of a call by a coroutine: co must be the caller, and of the pool's run (GEN-11).
func (c *core[T]) enter(call string, co *scheduler.Coroutine) error {
	if err := co.Check(call); err != nil {
		return err
	}
	if co.Scheduler() != c.s {
		return c.foreign(call, co.Scheduler())
	}
	return nil
}

func (c *core[T]) foreign(call string, other *scheduler.Scheduler) error {
	return &event.UsageError{
		Call:    call,
		Problem: "the pool belongs to run " + c.s.Name() + ", the coroutine to run " + other.Name(),
		Fix:     "give each run a pool of its own",
	}
}

// must refuses a foreign goroutine where no error can be returned.
func (c *core[T]) must(call string) {
	if err := c.s.Check(call); err != nil {
		panic(err)
	}
}

// failed takes a failure of somebody else's code that no call can return (GEN-08).
func (c *core[T]) failed(err error) {
	if c.onError == nil {
		c.scope.Fail(nil, err)
		return
	}
	c.told(err)
}

// told takes a failure that may be lost: it was swallowed by a rule, or concerns something that is tried again.
func (c *core[T]) told(err error) {
	if c.onError == nil {
		return
	}
	if err := c.s.Call(func() error { c.onError(err); return nil }); err != nil {
		c.scope.Fail(nil, err)
	}
}

// brief is "pool db 3/10": how many resources there are, of how many.
func (c *core[T]) brief() string {
	b := "pool "
	if c.name != "" {
		b += c.name + " "
	}
	return b + strconv.Itoa(c.total) + "/" + strconv.Itoa(c.max)
}
