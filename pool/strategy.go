package pool

import (
	"reflect"
	"time"

	"github.com/uvasync/uvasync/event"
)

// Source is a pool, as its [Strategy] sees it. Loop only.
type Source interface {
	// Name returns the name of the pool.
	Name() string
	// State returns the state of the breaker now, which may be newer than the change that a hook is being told of.
	State() State
	// Now returns the time of the run, which is not the real one in a simulation.
	Now() time.Time
	// Activate, Deactivate and Recover change the state, as the methods of the pool do (CB-01).
	Activate() error
	Deactivate() error
	Recover() error
	// Stats returns what the pool is doing. A resource whose release is being reported counts as active (POOL-26).
	Stats() Stats
	// Info describes the pool for people.
	Info() string
}

// Strategy opens and closes the circuit breaker of a pool by what becomes of its resources. [ConsecutiveFailures] and
// [FailureRate] are two. Config.Strategy takes one; a strategy that keeps something in mind belongs to one pool.
//
// A strategy may also be a [Prober] and a [StateWatcher]. One that wraps another must pass their methods on; embedding the
// other's pointer does, embedding a Strategy does not.
//
// It is called on the loop, and should not suspend. It may call the pool. A panic goes to Config.OnError, and changes nothing
// for whoever acquires or releases (CB-05).
type Strategy interface {
	// ReportSuccess is called when a resource has come back and passed BeforeRelease (CB-04).
	ReportSuccess(src Source)
	// ReportFailure is called when a resource could not be made, was rejected by BeforeRelease or was given back with Destroy,
	// with the error of that, before the resource is destroyed (CB-04, CB-06).
	//
	// Neither is called for an acquisition that began before the latest change of the state, for one that was cancelled or whose
	// resource was hijacked, nor by a pool that is closed.
	ReportFailure(src Source, err error)
	// ShouldRecover is asked by each acquisition while the pool is Inactive. With true the pool becomes Recovering, and that
	// acquisition goes through as a probe; with false, or a panic, it is refused (CB-07). An acquisition that begins within
	// ShouldRecover is refused without a question.
	ShouldRecover(src Source) bool
}

// Prober is a [Strategy] that limits how many acquisitions go through at once while the pool is Recovering. Those beyond are
// refused as if the pool were Inactive.
type Prober interface {
	// Probes returns how many may have a resource, or wait for one, at the same time; 0 or less, or a panic: any number. It is
	// asked by each acquisition while the pool is Recovering.
	Probes() int
}

// StateWatcher is a [Strategy] that is told of every change of the state, whoever made it: once each, in their order, and
// before Config.OnStateChange. A change that StateChanged makes itself is told after it has returned. While it is suspended
// the changes wait for it.
type StateWatcher interface {
	StateChanged(src Source, from, to State)
}

const (
	defaultCoolDown  = 30 * time.Second
	defaultMaxProbes = 1
	defaultSuccesses = 1
)

// checkStrategy returns what a strategy that can be checked has against itself.
func checkStrategy(call string, s Strategy) error {
	if r := reflect.ValueOf(s); r.Kind() == reflect.Pointer && r.IsNil() {
		return inCall(call, invalid("Strategy", "a nil pointer", "pass the address of one, or nothing"))
	}
	checked, ok := s.(interface{ Check() error })
	if !ok {
		return nil
	}
	return inCall(call, checked.Check())
}

// inCall is err as that of another call.
func inCall(call string, err error) error {
	wrong, ok := err.(*event.InvalidArgumentError)
	if !ok {
		return err
	}
	renamed := *wrong
	renamed.Call = call
	return &renamed
}

// exclusive is a strategy that remembers what it is told, and so belongs to one pool at a time.
type exclusive interface {
	attach(pool string) error
	detach()
}

// take makes s, which may be nil, the strategy of a pool.
func take(s Strategy, pool string) error {
	if s, ok := s.(exclusive); ok {
		return s.attach(pool)
	}
	return nil
}

// leave is the end of that.
func leave(s Strategy) {
	if s, ok := s.(exclusive); ok {
		s.detach()
	}
}

// attachment is the pool that a strategy belongs to. Loop goroutine only.
type attachment struct {
	pool  string
	taken bool
}

func (a *attachment) attach(pool string) error {
	if a.taken {
		return invalid("Strategy", "that of "+a.pool, "make one for each pool: it remembers what it is told")
	}
	*a = attachment{pool, true}
	return nil
}

func (a *attachment) detach() { *a = attachment{} }

// recovery is what the strategies here have in common: how a pool that they turned off comes back.
type recovery struct {
	since time.Time // when the pool became Inactive
	good  int       // probes in a row that were good
}

func (r *recovery) changed(src Source, to State) {
	r.good = 0
	if to == Inactive {
		r.since = src.Now()
	}
}

func (r *recovery) due(src Source, coolDown time.Duration) bool {
	return src.Now().Sub(r.since) >= orDefault(coolDown, defaultCoolDown)
}

func (r *recovery) goodProbe(src Source, successes int) {
	r.good++
	if r.good >= orDefault(successes, defaultSuccesses) {
		_ = src.Activate() // it fails off the loop only, where nobody may report
	}
}

// checkRecovery returns what is wrong with the three fields that the strategies share.
func checkRecovery(name string, coolDown time.Duration, maxProbes, successes int) error {
	switch {
	case coolDown < 0:
		return invalid(name+".CoolDown", coolDown, "it must not be negative; 0 is the default of 30s")
	case maxProbes < 0:
		return invalid(name+".MaxProbes", maxProbes, "it must be at least 1; 0 is the default of 1")
	case successes < 0:
		return invalid(name+".Successes", successes, "it must be at least 1; 0 is the default of 1")
	}
	return nil
}

func orDefault[T int | time.Duration | float64](v, preset T) T {
	if v == 0 {
		return preset
	}
	return v
}
