package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// GroupStats is what a group or a set is doing. Of a set, what was handed out is not counted.
type GroupStats struct {
	Queued          int // tasks that wait for their turn
	Running         int // tasks that have a coroutine
	Succeeded       int // tasks
	Failed          int // tasks, those that were cancelled included
	SpawnersWaiting int // coroutines in line to spawn, those that were promised a place included
	Unhandled       int // failures that nobody has taken
	Closed          bool
}

// Stats returns what the group is doing.
func (g *Group[K, T]) Stats() GroupStats {
	e := g.inner()
	e.must("scope: Group.Stats")
	return e.stats()
}

// Count returns how many tasks there are: that wait for their turn, run, or have ended (TG-13).
func (g *Group[K, T]) Count() int {
	e := g.inner()
	e.must("scope: Group.Count")
	return e.count
}

// IsFinished reports whether no task runs or waits for its turn. That may change as long as the group is open (TG-14).
func (g *Group[K, T]) IsFinished() bool {
	e := g.inner()
	e.must("scope: Group.IsFinished")
	return e.idle()
}

// IsClosed reports whether the group takes no more tasks.
func (g *Group[K, T]) IsClosed() bool {
	e := g.inner()
	e.must("scope: Group.IsClosed")
	return e.isClosed()
}

// Info describes the group for people: "group, 2 queued, 1 running, 4 succeeded, open" (EVT-16).
func (g *Group[K, T]) Info() string {
	e := g.inner()
	e.must("scope: Group.Info")
	return e.info()
}

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

func (c *core) stats() GroupStats {
	return GroupStats{
		Queued: c.queued, Running: c.running, Succeeded: c.succeeded, Failed: c.failed,
		SpawnersWaiting: c.line.Waiting() + c.line.Reserved(), Unhandled: len(c.lost), Closed: c.isClosed(),
	}
}

func (c *core) info() string {
	text := c.kind.String() + sized(c.queued, "queued") + sized(c.running, "running") +
		sized(c.succeeded, "succeeded") + sized(c.failed, "failed") + sized(c.line.Waiting(), "waiting to spawn")
	if c.isClosed() {
		return text + ", closed"
	}
	return text + ", open"
}

// event is the event that happens at the end.
func (c *core) event() *event.Base {
	if c.base == nil {
		c.base = &event.Base{}
		c.base.Init((*ending)(c), nil, 0)
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

// ending is a group as an event.
type ending core

var _ event.Kind = (*ending)(nil)

func (k *ending) StartEvent() error                         { return nil }
func (k *ending) StopEvent()                                {}
func (k *ending) DisposeEvent()                             {}
func (k *ending) Info() string                              { return (*core)(k).info() }
func (k *ending) Outcome() (result any, ok bool, err error) { return nil, k.over, nil }
