package simreactor

import (
	"container/heap"
	"fmt"
	"iter"

	"github.com/uvasync/uvasync/event"
)

// turn is what happens in one Tick.
type turn struct {
	due         []*entry // in order; from next on not yet called
	next        int
	dispatching bool
}

// Tick is one turn: what is due happens, then what has been posted by then runs. What is started and fired meanwhile, and
// what the posted functions post, waits for the next turn. With block and nothing to do now, the clock jumps to the first
// deadline or timer; without block it stands still. It returns how many events and deadlines happened; 0 is not an end. A
// panic of a callback passes through; the next turn delivers what was left.
//
// Errors: ErrClosed on a closed loop; a *event.UsageError when called from one of the loop's own callbacks; with block, an
// error that wraps event.ErrNotSimulated when nothing can ever happen but by another goroutine, which a simulation does
// not wait for.
func (r *Reactor) Tick(block bool) (int, error) {
	const call = "Reactor.Tick"
	if r.closed {
		return 0, closedError(call)
	}
	if r.turn.dispatching {
		return 0, usage(call, "it was called from a callback of the loop", "return to the loop, or post what shall happen next")
	}
	if r.turn.left() == 0 {
		if block && !r.busy() {
			if r.agenda.first() == never {
				return 0, r.foreverError(call)
			}
			r.clock.now = r.agenda.first()
		}
		r.collect()
	}
	n := r.turn.left()
	r.turn.run(func() {
		for e := range r.turn.waiting() {
			e.state = entryIdle
			e.owner.happen()
		}
		r.posts.run()
	})
	return n, nil
}

func (r *Reactor) foreverError(call string) error {
	return fmt.Errorf("simreactor: %s: it would wait for ever: no timer or deadline is running, no trigger fired and nothing "+
		"posted, with %d events live; what they wait for would have to come from outside: %w", call, r.Live(), event.ErrNotSimulated)
}

// busy reports whether something is to be done at the present time.
func (r *Reactor) busy() bool {
	if r.agenda.first() <= r.clock.now || r.Pending() {
		return true
	}
	for _, t := range r.triggers {
		if t.fired.Load() {
			return true
		}
	}
	return false
}

// collect makes due what happens in this turn: first what is late, in the order of its time, then what happens just now.
func (r *Reactor) collect() {
	r.turn.due, r.turn.next = r.turn.due[:0], 0
	for r.agenda.first() <= r.clock.now {
		r.turn.add(heap.Pop(&r.agenda).(*entry))
	}
	for _, t := range r.triggers {
		if t.fired.Load() {
			t.at = r.clock.now
			r.turn.add(&t.entry)
		}
	}
	if r.shuffle {
		r.shuffleDue()
	}
}

// shuffleDue shuffles the entries of each time among each other.
func (r *Reactor) shuffleDue() {
	for rest := r.turn.due; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].at == rest[0].at {
			n++
		}
		r.rand.Shuffle(n, func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		rest = rest[n:]
	}
}

func (t *turn) add(e *entry) {
	e.state = entryDue
	t.due = append(t.due, e)
}

// left is how many entries, at most, have not happened yet.
func (t *turn) left() int { return len(t.due) - t.next }

// waiting takes the entries that have not happened one by one. One that was stopped, and even started again, since it
// became due is not due any more. Whoever leaves the loop early, by a panic also, leaves the rest.
func (t *turn) waiting() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for t.next < len(t.due) {
			e := t.due[t.next]
			t.due[t.next] = nil
			t.next++
			if e.state == entryDue && !yield(e) {
				return
			}
		}
	}
}

// run calls fn, during which no other turn may begin.
func (t *turn) run(fn func()) {
	t.dispatching = true
	defer func() { t.dispatching = false }()
	fn()
}
