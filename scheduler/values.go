package scheduler

import (
	"fmt"
	"maps"
	"sync/atomic"
)

// Values are what is stored under keys with a coroutine or a scope; [Coroutine.Value] finds them. Reading is for any
// goroutine, also when the coroutine has ended (CTX-06); changing for the loop. Keys must be comparable; use types of your
// own, as with context.
type Values struct {
	owner  finder
	stored atomic.Pointer[map[any]any] // never changed in place
}

// finder looks for a value where it belongs, and then further out.
type finder interface {
	find(key any) (value any, ok bool)
}

// Values returns what is stored with co itself; find looks further, in its scopes.
func (co *Coroutine) Values() *Values { return &co.extra().values }

func (co *Coroutine) find(key any) (any, bool) {
	if x := co.ext.Load(); x != nil {
		if v, ok := x.values.local(key); ok {
			return v, true
		}
		if x.outer != nil {
			return x.outer.find(key)
		}
	}
	return co.scope.find(key)
}

func (v *Values) local(key any) (any, bool) {
	if m := v.stored.Load(); m != nil {
		value, ok := (*m)[key]
		return value, ok
	}
	return nil, false
}

// Set stores value under key; a *event.UsageError when there is one already (CTX-01): Replace it then.
func (v *Values) Set(key, value any) error {
	if _, ok := v.local(key); ok {
		return usage("Values.Set", fmt.Sprintf("the key %v of type %T is set already", key, key), "use Replace to change it")
	}
	v.Replace(key, value)
	return nil
}

// Replace stores value under key, whether there was one or not, and returns v.
func (v *Values) Replace(key, value any) *Values {
	m := map[any]any{}
	if old := v.stored.Load(); old != nil {
		m = maps.Clone(*old)
	}
	m[key] = value
	v.stored.Store(&m)
	return v
}

// Unset removes what is stored under key, here alone, and returns v.
func (v *Values) Unset(key any) *Values {
	if _, ok := v.local(key); ok {
		m := maps.Clone(*v.stored.Load())
		delete(m, key)
		v.stored.Store(&m)
	}
	return v
}

// Find returns what is stored under key here or further out, nil when there is nothing (CTX-02).
func (v *Values) Find(key any) any {
	value, _ := v.owner.find(key)
	return value
}

// Get is Find, and a *event.UsageError when there is nothing.
func (v *Values) Get(key any) (any, error) {
	if value, ok := v.owner.find(key); ok {
		return value, nil
	}
	return nil, missing("Values.Get", key)
}

// Has reports whether Find has something to return.
func (v *Values) Has(key any) bool {
	_, ok := v.owner.find(key)
	return ok
}

// FindLocal is Find without looking further out.
func (v *Values) FindLocal(key any) any {
	value, _ := v.local(key)
	return value
}

// GetLocal is Get without looking further out.
func (v *Values) GetLocal(key any) (any, error) {
	if value, ok := v.local(key); ok {
		return value, nil
	}
	return nil, missing("Values.GetLocal", key)
}

// HasLocal is Has without looking further out.
func (v *Values) HasLocal(key any) bool {
	_, ok := v.local(key)
	return ok
}

func missing(call string, key any) error {
	return usage(call, fmt.Sprintf("nothing is stored under the key %v of type %T", key, key), "set it first, or use Find")
}
