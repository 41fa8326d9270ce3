package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// AsEvent returns the event that happens when the group is closed and all its tasks have ended; nil for a nil group. It
// panics with an *event.UsageError from a foreign goroutine.
func (g *Group[K, T]) AsEvent() *event.Base {
	if g.inner() == nil {
		return nil
	}
	g.engine.must("scope: Group.AsEvent")
	return g.engine.event()
}

// RefuseWait is what the waits of coroutines ask: a task of the group, or what one has started, cannot wait for it.
func (g *Group[K, T]) RefuseWait(call string, co *scheduler.Coroutine) error {
	return g.inner().refuseWait(call, co)
}

func (e *engine[K, T]) refuseWait(call string, co *scheduler.Coroutine) error {
	if e == nil {
		return e.check(call)
	}
	for sc := co.Scope(); sc != nil; sc = sc.Parent() {
		if sc == e.inside {
			return &event.UsageError{Call: call, Problem: "it was called by one of the tasks, or by what one has started", Fix: "wait outside of them"}
		}
	}
	return e.inside.RefuseWait(call, co)
}

// Flags returns the flags of the event.
func (g *Group[K, T]) Flags() event.Flags {
	if g.inner() == nil {
		return 0
	}
	return g.engine.flags()
}

// event is the event that happens at the end.
func (c *core) event() *event.Base {
	if c.base == nil {
		c.base = &event.Base{}
		c.base.Init((*groupKind)(c), nil, 0)
		if c.over {
			c.base.MarkClosed()
		}
	}
	return c.base
}

func (c *core) flags() event.Flags {
	switch {
	case c.base != nil:
		return c.base.Flags()
	case c.over:
		return event.FlagClosed
	}
	return 0
}

// notify tells those who have subscribed to the end, once.
func (c *core) notify() {
	if c.base == nil || !c.base.MarkClosed() {
		return
	}
	if err := c.base.Notify(nil, nil); err != nil {
		panic("bug: scope: " + err.Error())
	}
}

// groupKind is the [event.Kind] of a group, or a set.
type groupKind core

var _ event.Kind = (*groupKind)(nil)

func (k *groupKind) StartEvent() error                         { return nil }
func (k *groupKind) StopEvent()                                {}
func (k *groupKind) DisposeEvent()                             {}
func (k *groupKind) Info() string                              { return (*core)(k).info() }
func (k *groupKind) Outcome() (result any, ok bool, err error) { return nil, k.over, nil }
