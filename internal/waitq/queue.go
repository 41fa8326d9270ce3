package waitq

import "github.com/uvasync/uvasync/scheduler"

// Owner is what a [Queue] belongs to.
type Owner[D any] interface {
	// Departed is called when w has left by itself and is out of the queue already: reserved says whether something had
	// been set aside for it, which is now to be passed on. The waiters behind it are still w.Behind() and following.
	Departed(w *Waiter[D], reserved bool)
	// WaitInfo says what the waiters of the queue wait for: "channel 3/10: receive" (DEAD-10).
	WaitInfo() string
}

// Queue is a line of waiters, each with data of the owner's. The zero value is to be made ready with Init. Do not copy it.
type Queue[D any] struct {
	owner    Owner[D]
	waiting  list[D]    // in order of arrival
	reserved list[D]    // in the order in which something was set aside for them
	free     *Waiter[D] // linked through behind
}

// Init makes q ready.
func (q *Queue[D]) Init(owner Owner[D]) { q.owner = owner }

// Waiting returns how many waiters nothing is set aside for.
func (q *Queue[D]) Waiting() int { return q.waiting.n }

// Reserved returns how many waiters were woken with something set aside for them and have not taken it yet.
func (q *Queue[D]) Reserved() int { return q.reserved.n }

// First returns the waiter that has waited longest and that nothing is set aside for, or nil.
func (q *Queue[D]) First() *Waiter[D] { return q.waiting.first }

// Push puts a new waiter at the end of the line. With a coroutine, the next thing to do is to Park; co is nil for a waiter
// that the owner serves itself.
func (q *Queue[D]) Push(co *scheduler.Coroutine, data D) *Waiter[D] {
	w := q.take(co, data)
	q.waiting.push(w)
	return w
}

// PushBefore is Push in front of next, which must be waiting: for who has been in line before, and comes back because what it
// got was no good. With nil it is Push.
func (q *Queue[D]) PushBefore(next *Waiter[D], co *scheduler.Coroutine, data D) *Waiter[D] {
	if next == nil {
		return q.Push(co, data)
	}
	next.must(q, waiting)
	w := q.take(co, data)
	q.waiting.insert(w, next)
	return w
}

func (q *Queue[D]) take(co *scheduler.Coroutine, data D) *Waiter[D] {
	w := q.free
	if w == nil {
		w = &Waiter[D]{queue: q}
	} else {
		q.free = w.behind
	}
	w.Data = data
	w.co = co
	w.state = waiting
	return w
}

// Reserve notes that something was set aside for w, which must be waiting, and wakes it.
func (q *Queue[D]) Reserve(w *Waiter[D]) {
	w.must(q, waiting)
	q.waiting.remove(w)
	w.state = reserved
	q.reserved.push(w)
	if w.co != nil {
		woken(w.co.Unpark())
	}
}

// Release takes w, which must be waiting, out of the line and wakes it with nothing set aside: whatever happens to it now
// is no matter of the owner's any more.
func (q *Queue[D]) Release(w *Waiter[D]) {
	q.drop(w)
	if w.co != nil {
		woken(w.co.Unpark())
	}
}

// Reject takes w, which must be waiting, out of the line and wakes it with an error.
func (q *Queue[D]) Reject(w *Waiter[D], err error) {
	q.drop(w)
	if w.co != nil {
		woken(w.co.UnparkWith(err))
	}
}

// RejectAll rejects everybody that nothing is set aside for, in order.
func (q *Queue[D]) RejectAll(err error) {
	for w := q.First(); w != nil; w = q.First() {
		q.Reject(w, err)
	}
}

func (q *Queue[D]) drop(w *Waiter[D]) {
	w.must(q, waiting)
	q.waiting.remove(w)
	w.state = gone
}

// woken fails on what cannot be: a waiter in a queue has its coroutine in Park.
func woken(err error) {
	if err != nil {
		panic("bug: waitq: " + err.Error())
	}
}
