package scope

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/internal/waitq"
)

// All returns a future of all results under their keys, in the order in which the tasks were spawned. It settles when no task
// runs or waits for its turn, at once when that is so now, open or not (TG-07, TG-08). When tasks have failed it fails with
// an *event.CompositeError of all failures in that order, and with [GroupConfig.IgnoreErrors] has what has succeeded. It may be
// called again and again. [Group.Results] has what has succeeded all the same. The future belongs to the scope that the
// group was made in; cancelling it cancels no task.
//
//go:noinline
func (g *Group[K, T]) All() *future.Future[future.Keyed[K, T]] {
	at, e := callerpc.Get(), g.inner()
	e.must("scope: Group.All")
	return e.allLater().At(at)
}

// Results returns the results that there are now, under their keys in the order in which the tasks were spawned (TG-13).
func (g *Group[K, T]) Results() future.Keyed[K, T] {
	e := g.inner()
	e.must("scope: Group.Results")
	return e.results()
}

// Errors returns the failures that there are now, as Results does, cancellations included. Whoever asks deals with them: they
// are not reported any more; later ones are (TG-13).
func (g *Group[K, T]) Errors() future.Keyed[K, error] {
	e := g.inner()
	e.must("scope: Group.Errors")
	return e.errors()
}

// SuppressErrors says that nobody needs to take the failures that there are now; later ones are reported (TG-13).
func (g *Group[K, T]) SuppressErrors() {
	e := g.inner()
	e.must("scope: Group.SuppressErrors")
	e.seeAll()
}

func (e *engine[K, T]) results() future.Keyed[K, T] {
	keys, values := make([]K, 0, e.succeeded), make([]T, 0, e.succeeded)
	for t := e.first; t != nil; t = t.next {
		if t.state == taskSettled && t.err == nil {
			entry := entryOf(e, t)
			keys, values = append(keys, entry.key), append(values, entry.value)
		}
	}
	return future.MakeKeyed(keys, values)
}

func (e *engine[K, T]) errors() future.Keyed[K, error] {
	keys, errs := make([]K, 0, e.failed), make([]error, 0, e.failed)
	if e.failed > 0 {
		for t := e.first; t != nil; t = t.next {
			if t.state == taskSettled && t.err != nil {
				e.see(t)
				keys, errs = append(keys, entryOf(e, t).key), append(errs, t.err)
			}
		}
	}
	return future.MakeKeyed(keys, errs)
}

// waitsForAll is who waits for all: a future.
type waitsForAll[K comparable, T any] struct {
	answer  *future.Completer[future.Keyed[K, T]]
	arrival uint64
}

func (e *engine[K, T]) allLater() *future.Future[future.Keyed[K, T]] {
	if e.idle() {
		values, err := e.collect()
		if err != nil {
			return future.Failed[future.Keyed[K, T]](e.around, err)
		}
		return future.Completed(e.around, values)
	}
	answer, pending := future.New[future.Keyed[K, T]](e.around)
	e.arrivals++
	w := e.alls.Push(nil, waitsForAll[K, T]{answer, e.arrivals})
	answer.OnCancel(func() {
		w.Leave(nil)
		w.Free()
	})
	return pending
}

// collect is the outcome of all tasks, when none is under way. A set forgets them.
func (e *engine[K, T]) collect() (values future.Keyed[K, T], err error) {
	if !e.ignoreErrors {
		err = e.failures()
	}
	if err == nil {
		values = e.results()
	}
	if e.kind == aSet {
		e.forgetAll()
	} else {
		e.seeAll()
	}
	return values, err
}

// failures returns all of them as one; nil for none.
func (c *core) failures() error {
	if c.failed == 0 {
		return nil
	}
	errs := make([]error, 0, c.failed)
	for t := c.first; t != nil; t = t.next {
		if t.state == taskSettled && t.err != nil {
			errs = append(errs, t.err)
		}
	}
	if len(errs) == 0 { // others were promised all
		return nil
	}
	return &event.CompositeError{Errors: errs}
}

func (e *engine[K, T]) settleAll() {
	if e.alls.Waiting() == 0 {
		return
	}
	values, err := e.collect()
	e.answerAll(values, err, e.arrivals)
}

// answerAll settles the futures that have come until then: those that come while it does wait for other tasks.
func (e *engine[K, T]) answerAll(values future.Keyed[K, T], err error, until uint64) {
	more := func() *waitq.Waiter[waitsForAll[K, T]] {
		if w := e.alls.First(); w != nil && w.Data.arrival <= until {
			return w
		}
		return nil
	}
	defer func() {
		if more() != nil { // a subscriber has panicked or exited
			e.answerAll(values, err, until)
		}
	}()
	for w := more(); w != nil; w = more() {
		answer := w.Data.answer
		e.alls.Release(w)
		w.Free()
		settle(answer, values, err)
	}
}

// settle hands an outcome to a future that was in line. It may run code of users.
func settle[T any](answer *future.Completer[T], value T, err error) {
	if err != nil {
		err = answer.Fail(err)
	} else {
		err = answer.Complete(value)
	}
	if err != nil {
		panic("bug: scope: " + err.Error())
	}
}

// allLine is a group as the owner of the line of those who wait for all.
type allLine[K comparable, T any] engine[K, T]

func (*allLine[K, T]) Departed(*waitq.Waiter[waitsForAll[K, T]], bool) {}

func (o *allLine[K, T]) WaitInfo() string { return o.core.info() + ": all" }
