package pool

import (
	"errors"

	"github.com/uvasync/uvasync/event"
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
	// ErrNotReleased is told to Config.OnError at the end of the run, for each resource that nobody has given back; without OnError it
	// is a failure of the run. The pool takes the resource back then, and destroys it.
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
