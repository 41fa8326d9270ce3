package scope

import (
	"fmt"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// AsEvent returns the event that completes whenever no active coroutine is left in the scope and below it; nil for nil.
func (s *Scope) AsEvent() *event.Base {
	if s == nil || s.st == nil {
		return nil
	}
	return &s.st.extra().base
}

// Flags returns the flags of the event.
func (s *Scope) Flags() event.Flags {
	if s == nil || s.st == nil {
		return 0
	}
	if s.st.ext == nil {
		return 0
	}
	return s.st.ext.base.Flags()
}

// Info describes the scope for people: "scope: 3 active, 1 zombie; below: 2 active, cancelled".
func (s *Scope) Info() string {
	if s == nil || s.st == nil {
		return "no scope"
	}
	return s.st.info()
}

// RefuseWait is what the waits of coroutines ask: one of the scope, or of those below, cannot wait for it (SCOPE-12).
func (s *Scope) RefuseWait(call string, co *scheduler.Coroutine) error {
	if s == nil || s.st == nil {
		return s.check(call)
	}
	return s.st.inner.RefuseWait(call, co)
}

func (st *state) info() string {
	text := "scope: " + numbers(st.inner.Counts())
	if active, zombies, total := below(st.inner); total > 0 {
		text += "; below: " + numbers(active, zombies, total)
	}
	switch {
	case st.inner.Cancelled() != nil:
		text += ", cancelled"
	case st.inner.Closed():
		text += ", closed"
	}
	return text
}

func numbers(active, zombies, _ int) string {
	text := fmt.Sprintf("%d active", active)
	switch {
	case zombies == 1:
		text += ", 1 zombie"
	case zombies > 1:
		text += fmt.Sprintf(", %d zombies", zombies)
	}
	return text
}

// below counts the coroutines of the scopes below.
func below(inner *scheduler.Scope) (active, zombies, total int) {
	for c := range inner.Children() {
		for _, count := range []func() (int, int, int){c.Counts, func() (int, int, int) { return below(c) }} {
			a, z, n := count()
			active, zombies, total = active+a, zombies+z, total+n
		}
	}
	return active, zombies, total
}

// Idle is called by the scheduler when the last active coroutine in the scope and below is gone.
func (st *state) Idle() {
	if st.ext != nil && st.ext.base.Callbacks() > 0 {
		_ = st.ext.base.Notify(nil, nil)
	}
}

// scopeKind is the [event.Kind] of a scope.
type scopeKind state

func (k *scopeKind) StartEvent() error { return nil }
func (k *scopeKind) StopEvent()        {}
func (k *scopeKind) DisposeEvent()     {}
func (k *scopeKind) Info() string      { return (*state)(k).info() }

func (k *scopeKind) Outcome() (result any, ok bool, err error) { return nil, k.inner.Finished(), nil }
