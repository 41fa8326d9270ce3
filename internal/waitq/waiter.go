package waitq

import "github.com/uvasync/uvasync/scheduler"

// Waiter is a place in a [Queue]. It is good from Push to Free.
type Waiter[D any] struct {
	// Data is the owner's.
	Data D

	queue         *Queue[D]
	co            *scheduler.Coroutine // nil: the owner serves it
	ahead, behind *Waiter[D]           // in its list; behind stays when it departs, for Owner.Departed
	state         state
}

type state uint8

const (
	free     state = iota // in Queue.free
	waiting               // in Queue.waiting
	reserved              // in Queue.reserved: woken, and has not run yet
	gone                  // in no list: served, left or turned away
)

// Park suspends the coroutine until the owner has served the waiter, and returns nil then; otherwise the owner's error or
// that of [scheduler.Coroutine.Park]. The waiter is out of the queue when it returns. Enter must have been called.
func (w *Waiter[D]) Park(call string, opts ...scheduler.WaitOption) error {
	over, err := w.Parking(call, opts)
	if !over {
		w.co.Switch()
		err = w.Parked()
	}
	return err
}

// Parking is the first part of Park; see that of a coroutine. When it is not over, co.Switch and Parked must follow.
func (w *Waiter[D]) Parking(call string, opts []scheduler.WaitOption) (over bool, err error) {
	if over, err = w.co.Parking(call, w, opts); over {
		w.settle(err)
	}
	return over, err
}

// Parked is the last part of Park.
func (w *Waiter[D]) Parked() error {
	err := w.co.Parked()
	w.settle(err)
	return err
}

func (w *Waiter[D]) settle(err error) {
	if err != nil {
		w.Leave(w.co) // a wait that never began
		return
	}
	w.Take()
}

// Take ends the reservation of a waiter that has come for what was set aside; on any other it does nothing.
func (w *Waiter[D]) Take() {
	if w.state == reserved {
		w.queue.reserved.remove(w)
		w.state = gone
	}
}

// Leave is the waiter's own departure; on one that is gone it does nothing. It is part of [scheduler.Waiting].
func (w *Waiter[D]) Leave(*scheduler.Coroutine) {
	q, was := w.queue, w.state
	switch was {
	case free, gone:
		return
	case waiting:
		q.waiting.remove(w)
	case reserved:
		q.reserved.remove(w)
	}
	w.state = gone
	q.owner.Departed(w, was == reserved)
}

// Info says what is waited for. It is part of [scheduler.Waiting].
func (w *Waiter[D]) Info() string { return w.queue.owner.WaitInfo() }

// Free gives the waiter back, when it is gone and nobody looks at it any more.
func (w *Waiter[D]) Free() {
	q := w.queue
	w.must(q, gone)
	var zero D
	w.Data = zero // it may hold memory of the user's
	w.co = nil
	w.state = free
	w.behind = q.free
	q.free = w
}

// Behind returns the next in the same line: of those that wait, or of those that something is set aside for.
func (w *Waiter[D]) Behind() *Waiter[D] { return w.behind }

// Coroutine returns who waits, nil when the owner serves the waiter itself.
func (w *Waiter[D]) Coroutine() *scheduler.Coroutine { return w.co }

// Waiting reports whether the waiter is in line and nothing is set aside for it.
func (w *Waiter[D]) Waiting() bool { return w.state == waiting }

// Reserved reports whether something is set aside for the waiter.
func (w *Waiter[D]) Reserved() bool { return w.state == reserved }

func (w *Waiter[D]) must(q *Queue[D], s state) {
	if w.queue != q || w.state != s {
		panic("bug: waitq: the waiter is not where its owner takes it to be")
	}
}

// list is doubly linked through the waiters themselves.
type list[D any] struct {
	first, last *Waiter[D]
	n           int
}

func (l *list[D]) push(w *Waiter[D]) {
	w.ahead, w.behind = l.last, nil
	if l.last == nil {
		l.first = w
	} else {
		l.last.behind = w
	}
	l.last = w
	l.n++
}

func (l *list[D]) insert(w, next *Waiter[D]) {
	w.ahead, w.behind = next.ahead, next
	if next.ahead == nil {
		l.first = w
	} else {
		next.ahead.behind = w
	}
	next.ahead = w
	l.n++
}

// remove leaves w.behind as it is.
func (l *list[D]) remove(w *Waiter[D]) {
	if w.ahead == nil {
		l.first = w.behind
	} else {
		w.ahead.behind = w.behind
	}
	if w.behind == nil {
		l.last = w.ahead
	} else {
		w.behind.ahead = w.ahead
	}
	w.ahead = nil
	l.n--
}
