package pool

import (
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

const (
	defaultMax    = 10
	defaultJitter = 0.1
	// NoJitter as Config.Jitter: the limits are what they are.
	NoJitter = -1
)

// Config says what a pool holds and how. Only Create is required.
type Config[T any] struct {
	// Name appears in errors and reports.
	Name string
	// Scope is what the pool belongs to: it is closed with it. nil: the current scope of the coroutine that calls New.
	Scope scheduler.Scoped

	// Create makes a resource. It runs on a hidden coroutine of the pool, which finds the values of the coroutine that wanted
	// the resource (Coroutine.Value) and is not cancelled with it: when that one leaves, what is made becomes idle (POOL-41).
	// It may suspend. Its error is that of the Acquire, as a *HookError. Coroutines that it spawns belong to the pool: they
	// keep no run alive, are cancelled when the pool has ended, and their failures are those of its scope.
	Create func(co *scheduler.Coroutine) (T, error)
	// Destroy releases a resource that the pool gives up. It runs protected from cancellation, as do HealthCheck and
	// BeforeRelease: bound its waits. Until it returns, the resource counts. Its failure is returned by the call that
	// destroys, as a *HookError; for what is destroyed in the background see OnError.
	Destroy func(co *scheduler.Coroutine, v T) error
	// HealthCheck is asked for every idle resource, each HealthInterval, which must be set, too. false or an error: the
	// resource is destroyed (POOL-34). The circuit breaker does not count it.
	HealthCheck func(co *scheduler.Coroutine, v T) (healthy bool, err error)
	// BeforeAcquire is asked before somebody gets a resource that was used before, in the coroutine of who acquires, and may
	// be cancelled with it. false or an error, that of the cancellation included: the resource is destroyed, and the next one
	// is tried (POOL-20).
	BeforeAcquire func(co *scheduler.Coroutine, v T) (usable bool, err error)
	// BeforeRelease is asked when a resource comes back. false or an error: it is destroyed, and the strategy told of a failure
	// (POOL-22).
	BeforeRelease func(co *scheduler.Coroutine, v T) (usable bool, err error)
	// Kind has the five as methods, in place of the functions above.
	Kind Kind[T]

	// Min resources are made by New, and made again after checks and limits have taken some. 0 to Max.
	Min int
	// Max is how many resources there are at most, from 1 on. 0: 10.
	Max int
	// AcquireTimeout bounds the waits of Acquire and With that have no Timeout of their own, be it a longer one. 0: they wait
	// for ever (POOL-08).
	AcquireTimeout time.Duration
	// HealthInterval is the time between two health checks. 0: there are none. They are hidden (POOL-37): what only a check
	// will bring about is nothing that a run waits for, and waiting for it is a deadlock.
	HealthInterval time.Duration
	// MaxLifetime is the age at which a resource is destroyed, when it is idle or comes back. 0: no limit.
	MaxLifetime time.Duration
	// MaxIdleTime is after what time without use a resource is destroyed, as long as Min others are there. 0: no limit. As the one
	// that has been idle longest is used first, all are used in turn: a pool shrinks when it is hardly used.
	MaxIdleTime time.Duration
	// Jitter is by how much of them at most MaxLifetime and MaxIdleTime are shortened, for each resource anew, so that not all go
	// at once: 0 to 1. 0 is the default of 0.1; for none there is [NoJitter].
	Jitter float64

	// Strategy opens and closes the circuit breaker. nil: only the calls of the pool do (CB-07).
	Strategy Strategy
	// OnStateChange is told of each change of the breaker, in order. It runs on the loop, may call the pool, and must not suspend.
	OnStateChange func(from, to State)
	// OnError gets failures that no call returns, each as a *[HookError]: [ErrNotReleased], those of Destroy in the
	// background, those of Create when nobody waits for the resource any more, the errors with which the three hooks that look
	// at resources have said no, panics of strategies and of OnStateChange. It runs on the loop and must not suspend. nil: the
	// first two go to the scope of the pool, as the failure of a coroutine that nobody awaits, which ends the run if nobody
	// deals with it (GEN-08); the others to the logger.
	OnError func(err error)
}

// check returns what is wrong with cfg (POOL-01), and puts in the defaults.
func (cfg *Config[T]) check() error {
	functions := cfg.Create != nil || cfg.Destroy != nil || cfg.HealthCheck != nil || cfg.BeforeAcquire != nil || cfg.BeforeRelease != nil
	switch {
	case cfg.Kind == nil && cfg.Create == nil:
		return invalid("Create", nil, "pass the function that makes a resource, or a Kind")
	case cfg.Kind != nil && functions:
		return invalid("Kind", cfg.Kind, "pass a Kind or functions, not both")
	case cfg.Max < 0:
		return invalid("Max", cfg.Max, "it must be at least 1; 0 is the default of 10")
	case cfg.Min < 0:
		return invalid("Min", cfg.Min, "it must not be negative")
	case cfg.AcquireTimeout < 0:
		return invalid("AcquireTimeout", cfg.AcquireTimeout, notNegative)
	case cfg.HealthInterval < 0:
		return invalid("HealthInterval", cfg.HealthInterval, notNegative)
	case cfg.MaxLifetime < 0:
		return invalid("MaxLifetime", cfg.MaxLifetime, notNegative)
	case cfg.MaxIdleTime < 0:
		return invalid("MaxIdleTime", cfg.MaxIdleTime, notNegative)
	case cfg.Jitter != NoJitter && !(cfg.Jitter >= 0 && cfg.Jitter <= 1):
		return invalid("Jitter", cfg.Jitter, "it must be between 0 and 1, or NoJitter")
	}
	if cfg.Max == 0 {
		cfg.Max = defaultMax
	}
	if cfg.Min > cfg.Max {
		return invalid("Min", cfg.Min, "it must not be greater than Max")
	}
	switch cfg.Jitter {
	case 0:
		cfg.Jitter = defaultJitter
	case NoJitter:
		cfg.Jitter = 0
	}
	return checkStrategy(callNew, cfg.Strategy)
}

const notNegative = "it must not be negative; 0 is off"

func invalid(arg string, got any, legal string) error {
	return &event.InvalidArgumentError{Call: callNew, Arg: arg, Got: got, Legal: legal}
}
