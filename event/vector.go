package event

// vector is the list of an event's callbacks, and the one pass over it that may be under way.
//
// During a pass it is divided as below; each callback stands in the region that says what the pass still owes it.
//
//	0        called      next        end         len
//	| called | gap (nil) | not yet   | added     |
//	|        |           | called    | meanwhile |
//
// A removal leaves a hole that is moved to the nearest border of its region: the last one called, or the next one to be
// called, takes the empty place. So a removal is one move, wherever it happens, and the common case, each callback
// removing itself when it is called, does not disturb the order of the rest.
//
// Between passes called, next and end are 0: all callbacks count as added, and a removal swaps with the last.
type vector struct {
	items             []*Callback // loop goroutine only
	called, next, end int32       // loop goroutine only; all 0 between passes
}

func (v *vector) len() int { return len(v.items) - int(v.next-v.called) }

func (v *vector) add(cb *Callback) {
	cb.index = int32(len(v.items))
	v.items = append(v.items, cb)
}

// remove takes out the callback at place i.
func (v *vector) remove(i int32) {
	switch {
	case i < v.called:
		v.called--
		v.move(v.called, i)
	case i < v.end:
		v.move(v.next, i)
		v.next++
	default:
		last := len(v.items) - 1
		v.move(int32(last), i)
		v.items = v.items[:last]
	}
}

// move puts the callback at place from in place to, and leaves from empty.
func (v *vector) move(from, to int32) {
	cb := v.items[from]
	v.items[from] = nil // the vector must not keep a removed callback from being collected
	if from != to {
		v.items[to] = cb
		cb.index = to
	}
}

// begin starts a pass over the callbacks that are there now.
func (v *vector) begin() { v.end = int32(len(v.items)) }

// step returns the next callback of the pass, already counted as called, so that it may remove itself; nil at the end.
func (v *vector) step() *Callback {
	if v.next == v.end {
		return nil
	}
	cb := v.items[v.next]
	if v.called != v.next {
		v.move(v.next, v.called)
	}
	v.called++
	v.next++
	return cb
}

// finish ends the pass, complete or not, and closes the gap. What follows the gap is shifted, not swapped, so that
// callbacks that renew their subscription when called keep their order; each added one moves once at most.
func (v *vector) finish() {
	if v.called != v.next {
		v.closeGap()
	}
	v.called, v.next, v.end = 0, 0, 0
}

func (v *vector) closeGap() {
	n := v.called
	for i := v.next; i < int32(len(v.items)); i++ {
		v.move(i, n)
		n++
	}
	v.items = v.items[:n]
}
