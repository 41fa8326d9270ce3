package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Race returns a future of the first outcome, a result or a failure: of the tasks that have ended the one that was spawned
// first, or else of the first that ends; further calls have the same answer (TG-10). The others run on (TG-12). The future
// belongs to the scope that the group was made in. Error: *event.UsageError when the group is empty, and from a foreign
// goroutine.
//
//go:noinline
func (g *Group[K, T]) Race() (*future.Future[T], error) {
	const call = "scope: Group.Race"
	at, e := callerpc.Get(), g.inner()
	if err := e.checkSome(call); err != nil {
		return nil, err
	}
	if t := e.earliest; t != nil {
		e.raced = true
		return e.settledWith(t).At(at), nil
	}
	return e.later(&e.firsts).At(at), nil
}

// Any returns a future of the first result: of the tasks that have succeeded the one that was spawned first, or else of the
// first that succeeds; further calls have the same answer. When none is left that could, it fails with an
// *event.CompositeError of all failures (TG-11). Otherwise as [Group.Race]. With a result, failures are not dealt with: say
// [Group.SuppressErrors] when they do not matter.
//
//go:noinline
func (g *Group[K, T]) Any() (*future.Future[T], error) {
	const call = "scope: Group.Any"
	at, e := callerpc.Get(), g.inner()
	if err := e.checkSome(call); err != nil {
		return nil, err
	}
	if t := e.earliestWin; t != nil {
		e.won = true
		return e.settledWith(t).At(at), nil
	}
	if e.idle() {
		err := e.failures()
		e.seeAll()
		return future.Failed[T](e.around, err).At(at), nil
	}
	return e.later(&e.wins).At(at), nil
}

func (e *engine[K, T]) checkSome(call string) error {
	if err := e.check(call); err != nil {
		return err
	}
	if e.count == 0 {
		return &event.UsageError{Call: call, Problem: "the " + e.kind.String() + " is empty", Fix: "spawn a task first"}
	}
	return nil
}

// settledWith is a future of what t has ended with.
func (e *engine[K, T]) settledWith(t *task) *future.Future[T] {
	e.see(t)
	if t.err != nil {
		return future.Failed[T](e.around, t.err)
	}
	return future.Completed(e.around, entryOf(e, t).value)
}

// consumer is who waits for a task to end: a future, or a coroutine that iterates.
type consumer struct {
	answer  answer // nil: a coroutine
	task    *task  // of a set: set aside for it
	arrival uint64
}

// answer is a future that waits for the outcome of one task.
type answer interface {
	// deliver reads the outcome of t before code of users runs, and recycles t in a set.
	deliver(t *task)
	fail(err error)
}

// answerOf is a future of one type.
type answerOf[K comparable, T any] struct {
	engine *engine[K, T]
	future *future.Completer[T]
}

func (a answerOf[K, T]) deliver(t *task) {
	value, err := entryOf(a.engine, t).value, t.err
	if a.engine.kind == aSet {
		a.engine.recycle(t)
	}
	settle(a.future, value, err)
}

func (a answerOf[K, T]) fail(err error) {
	var zero T
	settle(a.future, zero, err)
}

// later puts a future into a line.
func (e *engine[K, T]) later(line *waitq.Queue[consumer]) *future.Future[T] {
	answer, pending := future.New[T](e.around)
	e.arrivals++
	w := line.Push(nil, consumer{answer: answerOf[K, T]{e, answer}, arrival: e.arrivals})
	answer.OnCancel(func() {
		w.Leave(nil)
		w.Free()
	})
	return pending
}

// await suspends a coroutine that iterates until there is something new: for a set, a task that is its own now.
func (c *core) await(call string, co *scheduler.Coroutine, opts []scheduler.WaitOption) (*task, error) {
	c.arrivals++
	w := c.firsts.Push(co, consumer{arrival: c.arrivals})
	err := w.Park(call, opts...)
	t := w.Data.task
	w.Free()
	if err != nil {
		return nil, err
	}
	return t, nil
}

// race tells who waits for the first outcome, or result, of a group, and who iterates.
func (c *core) race() {
	for w := c.firsts.First(); w != nil && c.earliest != nil; w = c.firsts.First() {
		c.releaseTo(&c.firsts, w, c.earliest)
	}
	for w := c.wins.First(); w != nil && c.earliestWin != nil; w = c.wins.First() {
		c.releaseTo(&c.wins, w, c.earliestWin)
	}
}

// releaseTo takes a consumer out of its line. A future has the outcome of t; a coroutine finds out itself.
func (c *core) releaseTo(line *waitq.Queue[consumer], w *waitq.Waiter[consumer], t *task) {
	answer := w.Data.answer
	line.Release(w)
	if answer != nil {
		w.Free()
		if line == &c.wins {
			c.won = true
		} else {
			c.raced = true
		}
		c.see(t)
		answer.deliver(t) // last: it may run anything
	}
}

// failWins is what follows for a group when nothing is left that could succeed.
func (c *core) failWins() {
	if c.wins.Waiting() == 0 || c.succeeded > 0 {
		return
	}
	err := c.failures()
	c.seeAll()
	for w := c.wins.First(); w != nil && c.idle(); w = c.wins.First() {
		answer := w.Data.answer
		c.wins.Release(w)
		w.Free()
		answer.fail(err)
	}
}

// turnAway ends the waiting of those who wait for tasks of which there are no more.
func (c *core) turnAway() {
	if c.firsts.Reserved() > 0 { // they may leave what was set aside for them
		return
	}
	for w := c.firsts.First(); w != nil; w = c.firsts.First() {
		c.turn(&c.firsts, w)
	}
	for w := c.wins.First(); w != nil; w = c.wins.First() {
		c.turn(&c.wins, w)
	}
}

func (c *core) turn(line *waitq.Queue[consumer], w *waitq.Waiter[consumer]) {
	answer := w.Data.answer
	line.Release(w)
	if answer != nil {
		w.Free()
		call := "scope: Set.JoinNext"
		if line == &c.wins {
			call = "scope: Set.JoinAny"
		}
		answer.fail(&event.ClosedError{Call: call, What: c.what(), Fix: "all its tasks were handed out to others"})
	}
}

// consumers is a group as the owner of the lines of those who wait for tasks to end.
type consumers core

func (o *consumers) Departed(w *waitq.Waiter[consumer], reserved bool) {
	if reserved && w.Data.task != nil {
		(*core)(o).handBack(w.Data.task)
	}
}

func (o *consumers) WaitInfo() string { return (*core)(o).info() + ": the next to end" }
