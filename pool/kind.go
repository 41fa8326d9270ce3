package pool

import (
	"reflect"
	"runtime/debug"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Kind makes the resources of a pool. It may have the methods of [Destroyer], [HealthChecker], [AcquireGuard] and [ReleaseGuard],
// too: what a package implements that builds a pool, in place of the functions of [Config].
type Kind[T any] interface {
	// Create is Config.Create.
	Create(co *scheduler.Coroutine) (T, error)
}

// Destroyer is a [Kind] whose resources must be destroyed.
type Destroyer[T any] interface {
	// Destroy is Config.Destroy.
	Destroy(co *scheduler.Coroutine, v T) error
}

// HealthChecker is a [Kind] whose idle resources can be checked.
type HealthChecker[T any] interface {
	// HealthCheck is Config.HealthCheck.
	HealthCheck(co *scheduler.Coroutine, v T) (healthy bool, err error)
}

// AcquireGuard is a [Kind] that looks at an idle resource before somebody gets it.
type AcquireGuard[T any] interface {
	// BeforeAcquire is Config.BeforeAcquire.
	BeforeAcquire(co *scheduler.Coroutine, v T) (usable bool, err error)
}

// ReleaseGuard is a [Kind] that looks at a resource when it comes back.
type ReleaseGuard[T any] interface {
	// BeforeRelease is Config.BeforeRelease.
	BeforeRelease(co *scheduler.Coroutine, v T) (usable bool, err error)
}

// hooks are what a pool calls; all but create may be nil.
type hooks[T any] struct {
	create  Kind[T]
	destroy Destroyer[T]
	health  HealthChecker[T]
	acquire AcquireGuard[T]
	release ReleaseGuard[T]

	createEntry, destroyEntry, healthEntry any // the functions, for reports
}

type (
	createFunc[T any]  func(*scheduler.Coroutine) (T, error)
	destroyFunc[T any] func(*scheduler.Coroutine, T) error
	askFunc[T any]     func(*scheduler.Coroutine, T) (bool, error)
)

func (f createFunc[T]) Create(co *scheduler.Coroutine) (T, error)             { return f(co) }
func (f destroyFunc[T]) Destroy(co *scheduler.Coroutine, v T) error           { return f(co, v) }
func (f askFunc[T]) HealthCheck(co *scheduler.Coroutine, v T) (bool, error)   { return f(co, v) }
func (f askFunc[T]) BeforeAcquire(co *scheduler.Coroutine, v T) (bool, error) { return f(co, v) }
func (f askFunc[T]) BeforeRelease(co *scheduler.Coroutine, v T) (bool, error) { return f(co, v) }

// hooks is what cfg, which was checked, says of them.
func (cfg *Config[T]) hooks() (h hooks[T]) {
	if k := cfg.Kind; k != nil {
		h.create = k
		h.createEntry = k.Create
		h.destroy, _ = k.(Destroyer[T])
		h.health, _ = k.(HealthChecker[T])
		h.acquire, _ = k.(AcquireGuard[T])
		h.release, _ = k.(ReleaseGuard[T])
		if h.destroy != nil {
			h.destroyEntry = h.destroy.Destroy
		}
		if h.health != nil {
			h.healthEntry = h.health.HealthCheck
		}
		return h
	}
	h.create = createFunc[T](cfg.Create)
	h.createEntry, h.destroyEntry, h.healthEntry = cfg.Create, cfg.Destroy, cfg.HealthCheck
	if cfg.Destroy != nil {
		h.destroy = destroyFunc[T](cfg.Destroy)
	}
	if cfg.HealthCheck != nil {
		h.health = askFunc[T](cfg.HealthCheck)
	}
	if cfg.BeforeAcquire != nil {
		h.acquire = askFunc[T](cfg.BeforeAcquire)
	}
	if cfg.BeforeRelease != nil {
		h.release = askFunc[T](cfg.BeforeRelease)
	}
	return h
}

// produce calls Create.
func (h *hooks[T]) produce(co *scheduler.Coroutine) (v T, err error) {
	defer caught(&err)
	if v, err = h.create.Create(co); err == nil && isNothing(v) {
		err = ErrNoResource
	}
	return v, err
}

// unmake calls Destroy.
func (h *hooks[T]) unmake(co *scheduler.Coroutine, v T) (err error) {
	defer caught(&err)
	return h.destroy.Destroy(co, v)
}

func (h *hooks[T]) healthy(co *scheduler.Coroutine, v T) (ok bool, err error) {
	defer caught(&err)
	return h.health.HealthCheck(co, v)
}

func (h *hooks[T]) mayAcquire(co *scheduler.Coroutine, v T) (ok bool, err error) {
	defer caught(&err)
	return h.acquire.BeforeAcquire(co, v)
}

func (h *hooks[T]) mayRelease(co *scheduler.Coroutine, v T) (ok bool, err error) {
	defer caught(&err)
	return h.release.BeforeRelease(co, v)
}

// caught is deferred around a hook: its panic is its error.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = &event.PanicError{Value: r, Stack: debug.Stack()}
	}
}

// isNothing reports whether v is nil where nil cannot be used (POOL-06, POOL-39).
func isNothing[T any](v T) bool {
	r := reflect.ValueOf(&v).Elem()
	if r.Kind() == reflect.Interface {
		r = r.Elem()
	}
	switch r.Kind() {
	case reflect.Invalid: // a nil interface
		return true
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}
