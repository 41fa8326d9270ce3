package future

import (
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// errEnough is why a sequence is interrupted that could still produce more.
var errEnough = errors.New("future: the combinator needs no more items")

// collector is the engine of all combinators: it listens to items as they are added, counts what becomes of them, and
// wakes its coroutine once when that is enough. Enough is: need of them succeeded, or everything has settled, or, with
// failFast, one has failed.
//
// Without failFast it goes on listening until its coroutine runs, so that what settles between the wake-up and that is
// part of the result; with failFast it stops at once, because no second error could be returned.
type collector struct {
	call     string
	co       *scheduler.Coroutine
	token    *event.Base // what bounds the wait; nil for none
	need     int
	failFast bool

	entries   []*entry
	order     []*entry // as they settled
	starting  int      // entries before this one are started
	ok        int
	failed    int
	complete  bool               // no more entries will come
	parked    bool               // in Park, and not woken
	interrupt func(reason error) // ends the suspension of a sequence that produces; nil when none does
}

// entry is one item of a collector. It is a [node] of a future, or has a subscription to another event.
type entry struct {
	node
	collector *collector
	item      event.Event
	plain     *subscription // nil for a future
	result    any           // of another event than a future
	err       error
	place     int  // among the entries
	over      bool // has settled
}

var (
	_ listener          = (*entry)(nil)
	_ scheduler.Waiting = (*collector)(nil)
)

// enough reports whether the coroutine need not wait any longer.
func (c *collector) enough() bool {
	return c.failFast && c.failed > 0 || c.ok >= c.need || c.complete && len(c.order) == len(c.entries)
}

// listen listens to an entry that was added, or takes note of what has become of it.
func (c *collector) listen(e *entry) error {
	e.collector = c
	if f, ok := e.item.(typed); ok && f.inner() != nil {
		return c.listenToFuture(e, f.inner())
	}
	base, err := c.co.Reachable(c.call, e.item)
	if err != nil {
		return err
	}
	if _, over, _ := base.Outcome(); base == c.token && !over {
		return nil // when it happens it ends the wait as the token (AWAIT-05)
	}
	e.plain = &subscription{}
	e.plain.subscribe(c.call, e.item, func(result any, err error) {
		e.result = result
		c.note(e, err)
	})
	return nil
}

func (c *collector) listenToFuture(e *entry, f *core) error {
	if err := sameRun(c.call, f.scope.Scheduler(), c.co); err != nil {
		return err
	}
	f.use()
	if f.has(isSettled) {
		c.note(e, f.take())
		return nil
	}
	if c.token == nil || f.base() != c.token {
		f.add(&e.node, e, true)
	}
	return nil
}

func (e *entry) settled(f *core) { e.collector.note(e, f.take()) }

// start starts the events that were added since the last time.
func (c *collector) start() {
	for ; c.starting < len(c.entries) && !c.enough(); c.starting++ {
		if s := c.entries[c.starting].plain; s != nil {
			s.start()
		}
	}
}

// note says what has become of an item, and wakes the coroutine when that is enough.
func (c *collector) note(e *entry, err error) {
	e.over, e.err = true, err
	c.order = append(c.order, e)
	if err == nil {
		c.ok++
	} else {
		c.failed++
	}
	if !c.enough() {
		return
	}
	if c.failFast {
		c.detach()
	}
	if c.interrupt != nil {
		c.interrupt(errEnough)
	}
	if !c.parked {
		return
	}
	c.parked = false
	if c.failFast && err != nil {
		must(c.co.UnparkWith(err))
		return
	}
	must(c.co.Unpark())
}

// detach ends all subscriptions: what settles later touches nothing (AWAIT-22).
func (c *collector) detach() {
	for _, e := range c.entries {
		e.leave()
		if e.plain != nil {
			e.plain.leave()
		}
	}
}

// wait suspends the coroutine until there is enough.
func (c *collector) wait(opts []scheduler.WaitOption) error {
	c.complete = true
	c.start()
	if !c.enough() {
		if err := c.co.Enter(c.call); err != nil { // it may have been cancelled while it produced
			return err
		}
		c.parked = true
		return c.co.Park(c.call, c, opts...)
	}
	c.co.Lucky()
	return c.failure()
}

// failure returns the error that ends a failFast wait.
func (c *collector) failure() error {
	if !c.failFast || c.failed == 0 {
		return nil
	}
	for _, e := range c.order {
		if e.err != nil {
			return e.err
		}
	}
	return nil
}

// Leave is called when the wait ends otherwise, or was cancelled after the wake-up.
func (c *collector) Leave(*scheduler.Coroutine) {
	c.parked = false
	c.detach()
}

// Info describes the wait for reports.
func (c *collector) Info() string {
	text := fmt.Sprintf("%s: %d of %d settled", c.call, len(c.order), len(c.entries))
	named := 0
	for _, e := range c.entries {
		if e.over {
			continue
		}
		if named++; named > 3 { // a report must stay readable
			return text + "; ..."
		}
		text += "; " + describe(e.item)
	}
	return text
}

func describe(ev event.Event) string {
	if i, ok := ev.(interface{ Info() string }); ok {
		return i.Info()
	}
	return ev.AsEvent().Info()
}
