package reactor

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/uvasync/uvasync/cuv"
)

// wheel holds a loop's deadlines. It is a hierarchical timing wheel (Varghese and Lauck): level 0 has a slot for each of
// the next 256 milliseconds, level 1 one for each of the next 256 spans of 256 ms, and so on. A deadline stands at the
// level of the highest byte in which its time differs from the wheel's, so whatever is at a lower level is due before
// whatever is at a higher one, and when the wheel's time reaches a slot of a higher level, its deadlines move down.
//
// What is started between two turns has no time yet: it counts from the clock that the next turn reads (wheel.started).
type wheel struct {
	loop    *Loop
	timer   cuv.Timer
	started list
	sooner  uint64 // ns: the shortest delay in started
	now     uint64 // ms: everything up to here has been called
	running int
	due     []dueDeadline // those whose time has come, in order; from called on not yet called
	called  int
	used    [levels][slots / 64]uint64 // which slots are not empty
	slots   [levels][slots]list
}

// dueDeadline has the key beside the pointer, so that sorting does not touch the deadlines themselves.
type dueDeadline struct {
	due      uint64
	order    int
	deadline *Deadline
}

const (
	levelBits = 8
	slots     = 1 << levelBits
	levels    = 6 // 48 bits of milliseconds: more than nanoseconds in an int64 can say
	never     = math.MaxUint64
)

// list is doubly linked through the deadlines themselves, in the order of arrival.
type list struct{ first, last *Deadline }

func (l *list) push(d *Deadline) {
	d.next, d.prev = nil, l.last
	if l.last == nil {
		l.first = d
	} else {
		l.last.next = d
	}
	l.last = d
}

func (l *list) remove(d *Deadline) {
	if d.prev == nil {
		l.first = d.next
	} else {
		d.prev.next = d.next
	}
	if d.next == nil {
		l.last = d.prev
	} else {
		d.next.prev = d.prev
	}
	d.next, d.prev = nil, nil
}

func (w *wheel) init(l *Loop) { w.loop, w.sooner = l, never }

func (w *wheel) start(d *Deadline, delay uint64) {
	d.state, d.due = deadlineStarted, delay
	w.started.push(d)
	w.sooner = min(w.sooner, delay)
	w.running++
	d.visible(&w.loop.live, 1)
}

func (w *wheel) stop(d *Deadline) {
	switch d.state {
	case deadlineStarted:
		w.started.remove(d)
	case deadlinePlaced:
		s := &w.slots[d.level][d.slot]
		s.remove(d)
		if s.first == nil {
			w.used[d.level][d.slot/64] &^= 1 << (d.slot % 64)
		}
	}
	w.idle(d)
}

// idle is the end of every run of a deadline.
func (w *wheel) idle(d *Deadline) {
	d.state = deadlineIdle
	w.running--
	d.visible(&w.loop.live, -1)
}

// submit arms the shared timer for what was started since the last turn, or was left when a function panicked. The timer
// is hidden from libuv: the live count speaks for the deadlines. An error would mean that the loop is closing.
func (w *wheel) submit() {
	if w.interrupted() {
		_ = w.timer.StartAt(w.loop.binding, w, 0, true)
	} else if w.started.first != nil {
		_ = w.timer.StartSooner(w.loop.binding, w, w.sooner, true)
	}
}

// place gives what was started before the turn its time, and a place in the wheel.
func (w *wheel) place() {
	if w.started.first == nil {
		return
	}
	now := w.loop.binding.Now()
	if w.empty() {
		w.now = max(w.now, now/uint64(time.Millisecond))
	}
	d := w.started.first
	w.started, w.sooner = list{}, never
	for d != nil {
		next := d.next
		d.due += now
		d.at = millisecondAbove(d.due)
		w.insert(d)
		d = next
	}
}

func millisecondAbove(ns uint64) uint64 {
	return (ns + uint64(time.Millisecond) - 1) / uint64(time.Millisecond)
}

func (w *wheel) empty() bool { return w.used == [levels][slots / 64]uint64{} }

// insert puts a deadline into the slot of its time, at the earliest into the next millisecond.
func (w *wheel) insert(d *Deadline) {
	at := max(d.at, w.now+1)
	level := (bits.Len64(at^w.now) - 1) / levelBits
	slot := at >> (level * levelBits) % slots
	d.state, d.level, d.slot = deadlinePlaced, uint8(level), uint8(slot)
	w.slots[level][slot].push(d)
	w.used[level][slot/64] |= 1 << (slot % 64)
}

// next is the first slot that is not empty, and the millisecond in which it begins.
func (w *wheel) next() (level, slot int, begins uint64) {
	for level := range w.used {
		for i, word := range w.used[level] {
			if word != 0 {
				slot := i*64 + bits.TrailingZeros64(word)
				shift := level * levelBits
				return level, slot, w.now>>(shift+levelBits)<<(shift+levelBits) | uint64(slot)<<shift
			}
		}
	}
	return 0, 0, never
}

// Complete is called when the shared timer fired.
func (w *wheel) Complete(int, uint64) {
	w.advance(w.loop.binding.LoopTime())
	if _, _, at := w.next(); at != never {
		_ = w.timer.StartAt(w.loop.binding, w, at*uint64(time.Millisecond), true)
	}
	w.call()
}

// advance moves the wheel's time to now, in milliseconds, and collects what is due.
func (w *wheel) advance(now uint64) {
	for {
		level, slot, begins := w.next()
		if begins > now {
			w.now = max(w.now, now)
			return
		}
		w.now = begins
		d := w.slots[level][slot].first
		w.slots[level][slot] = list{}
		w.used[level][slot/64] &^= 1 << (slot % 64)
		w.spill(d)
	}
}

// spill moves the deadlines of a slot that the wheel's time has reached further down, or to those that are due.
func (w *wheel) spill(d *Deadline) {
	from, sorted := len(w.due), true
	for d != nil {
		next := d.next
		if d.at > w.now {
			w.insert(d)
		} else {
			d.state, d.next, d.prev = deadlineDue, nil, nil
			n := len(w.due)
			sorted = sorted && (n == from || w.due[n-1].due <= d.due)
			w.due = append(w.due, dueDeadline{d.due, n, d})
		}
		d = next
	}
	if !sorted {
		slices.SortFunc(w.due[from:], func(a, b dueDeadline) int {
			if c := cmp.Compare(a.due, b.due); c != 0 {
				return c
			}
			return cmp.Compare(a.order, b.order)
		})
	}
}

// keepDue is how many entries the list of due deadlines keeps room for between bursts.
const keepDue = 4096

// call calls the functions of what is due. One that panics leaves the rest for the next turn.
func (w *wheel) call() {
	for w.called < len(w.due) {
		d := w.due[w.called].deadline
		w.due[w.called].deadline = nil
		w.called++
		if d.state == deadlineDue {
			w.idle(d)
			d.fn(d)
		}
	}
	w.called, w.due = 0, w.due[:0]
	if cap(w.due) > keepDue {
		w.due = nil
	}
}

// interrupted reports whether a panic has left something to call.
func (w *wheel) interrupted() bool { return w.called < len(w.due) }

func (w *wheel) close() {
	for _, e := range w.due[w.called:] {
		if e.deadline.state == deadlineDue {
			w.drop(e.deadline)
		}
	}
	w.due, w.called = nil, 0
	for d := w.started.first; d != nil; d = w.drop(d) {
	}
	for level, slot, at := w.next(); at != never; level, slot, at = w.next() {
		for d := w.slots[level][slot].first; d != nil; d = w.drop(d) {
		}
		w.used[level][slot/64] &^= 1 << (slot % 64)
	}
	w.slots, w.started = [levels][slots]list{}, list{}
}

func (w *wheel) drop(d *Deadline) (next *Deadline) {
	next = d.next
	d.next, d.prev = nil, nil
	w.idle(d)
	return next
}

func (w *wheel) LoopClosing() { w.timer.Close(w.loop.binding) }
