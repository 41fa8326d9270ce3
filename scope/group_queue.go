package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Tasks start in the order in which their spawners came (TG-02, TG-04). A spawner takes a place at once when there is one
// and nobody is in line, those that were woken for theirs included; so nobody overtakes.

// open reports whether a spawner that comes now gets a place at once.
func (c *core) open() bool { return c.line.Waiting() == 0 && c.line.Reserved() == 0 && c.room() }

// room reports whether there is a place that nobody was promised.
func (c *core) room() bool { return c.running+c.queued+c.line.Reserved() < c.places }

// add puts a task into a place.
func (c *core) add(t *task) {
	if c.last == nil {
		c.first = t
	} else {
		c.last.next = t
		if c.kind == aSet { // a group takes none out
			t.prev = c.last
		}
	}
	c.last = t
	if c.ahead == nil {
		c.ahead = t
	}
	t.state = taskQueued
	c.count++
	c.queued++
	if c.kind == aGroup {
		c.ordered++
		t.order = c.ordered
	}
	c.pump()
}

// forget takes a task out that a set hands out. Whoever calls it recycles it, when its outcome was read, and before code of
// users runs.
func (c *core) forget(t *task) {
	if t.prev == nil {
		c.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		c.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
	c.count--
	if t.err == nil {
		c.succeeded--
	} else {
		c.failed--
		c.see(t)
	}
	c.typed.forgotten(t)
}

// pump starts those whose turn it is, and gives the places that are free to who is in line.
func (c *core) pump() {
	for t := c.ahead; t != nil && (c.limit == 0 || c.running < c.limit); t = c.ahead {
		if c.typed.start(t) != nil {
			c.sealed(scheduler.ErrRunOver) // whoever else seals a scope tells its group
			return
		}
		t.state = taskRunning
		c.ahead = t.next
		c.queued--
		c.running++
	}
	c.serve()
}

// serve sets free places aside for who is in line.
func (c *core) serve() {
	for w := c.line.First(); w != nil && c.room(); w = c.line.First() {
		c.line.Reserve(w)
	}
}

// sealed is what follows when the scope takes no more: it was disposed safely, or the run is over.
func (c *core) sealed(err error) {
	if cancelled := c.inside.Cancelled(); cancelled != nil {
		c.shut(cancelled)
	} else {
		c.shut(&event.CancelledError{Reason: err})
	}
	c.announce()
}

// drop ends the tasks that wait for their turn.
func (c *core) drop(reason error) {
	for t := c.ahead; t != nil; t = c.ahead {
		c.ahead = t.next
		c.queued--
		c.typed.unstarted(t)
		c.note(t, reason)
	}
}

// unname gives the key back that the spawner of t has taken, once.
func (c *core) unname(t *task) {
	if t.state == taskNamed {
		t.state = taskQueued
		c.typed.forgotten(t)
	}
}

// spawners is a group as the owner of the line of those who wait to spawn.
type spawners core

func (o *spawners) Departed(w *waitq.Waiter[*task], reserved bool) {
	c := (*core)(o)
	c.unname(w.Data)
	c.serve()
	if reserved {
		c.announce()
	}
}

func (o *spawners) WaitInfo() string { return (*core)(o).info() + ": spawn" }
