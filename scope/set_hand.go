package scope

import "github.com/uvasync/uvasync/internal/waitq"

// What a set hands out goes to one taker each: a success to whoever has waited longest, a failure to the one of those who takes
// failures. As long as somebody waits, there is nothing that it would take.

// offered is the list of what can be handed out.
func (c *core) offered(err error) *taskList {
	if err == nil {
		return &c.good
	}
	return &c.bad
}

// next takes the task out of the lists that has ended first; nil when there is none.
func (c *core) next() *task {
	good, bad := c.good.first, c.bad.first
	if bad == nil || good != nil && good.order < bad.order {
		return c.good.pop()
	}
	return c.bad.pop()
}

// hand gives what there is to those who wait.
func (c *core) hand() {
	for {
		next, win := c.firsts.First(), c.wins.First()
		switch {
		case win != nil && c.good.first != nil && (next == nil || win.Data.arrival < next.Data.arrival):
			c.handTo(&c.wins, win, c.good.pop())
		case next != nil && (c.good.first != nil || c.bad.first != nil):
			c.handTo(&c.firsts, next, c.next())
		default:
			return
		}
	}
}

func (c *core) handTo(line *waitq.Queue[consumer], w *waitq.Waiter[consumer], t *task) {
	answer := w.Data.answer
	if answer == nil {
		t.state = taskAside
		w.Data.task = t
		line.Reserve(w)
		return
	}
	line.Release(w)
	w.Free()
	c.forget(t)
	answer.deliver(t) // last: it may run anything
}

// handBack is for what was set aside for a coroutine that has left: it goes to the next, in its old order (GEN-05).
func (c *core) handBack(t *task) {
	t.state = taskSettled
	c.offered(t.err).insert(t)
	c.announce()
}

// taken is called when a coroutine has taken a task, or somebody waits for one: there may be nothing left to wait for.
func (c *core) taken() {
	if c.idle() {
		c.handFailures()
	}
	if c.over {
		c.turnAway()
	}
}

// handFailures is what follows for those who wait for a success when nothing is left that could: what has failed goes to the
// first of them.
func (c *core) handFailures() {
	for w := c.wins.First(); w != nil && c.lostCause(); w = c.wins.First() {
		answer := w.Data.answer
		c.wins.Release(w)
		w.Free()
		answer.fail(c.takeFailures())
	}
}

// lostCause reports whether there are failures only, and nothing can come.
func (c *core) lostCause() bool {
	return c.idle() && c.firsts.Reserved() == 0 && c.good.first == nil && c.bad.first != nil
}

// takeFailures hands out all failures as one.
func (c *core) takeFailures() error {
	err := c.failures()
	for t := c.bad.pop(); t != nil; t = c.bad.pop() {
		c.forget(t)
		c.typed.recycle(t)
	}
	return err
}

// forgetAll hands out all that nobody was promised.
func (c *core) forgetAll() {
	for t := c.next(); t != nil; t = c.next() {
		c.forget(t)
		c.typed.recycle(t)
	}
}
