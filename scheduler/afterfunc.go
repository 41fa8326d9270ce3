package scheduler

// afterFunc is one function that waits for a frame.
type afterFunc struct {
	fn         func()
	list       *afterList // nil: in none
	prev, next *afterFunc
}

// afterList is the functions that wait for a frame, in the order of the calls. Guarded by extras.mu.
type afterList struct{ first, last *afterFunc }

func (l *afterList) push(a *afterFunc) {
	a.list, a.prev, a.next = l, l.last, nil
	if l.last == nil {
		l.first = a
	} else {
		l.last.next = a
	}
	l.last = a
}

func (l *afterList) remove(a *afterFunc) bool {
	if a.prev == nil {
		l.first = a.next
	} else {
		a.prev.next = a.next
	}
	if a.next == nil {
		l.last = a.prev
	} else {
		a.next.prev = a.prev
	}
	a.list, a.prev, a.next = nil, nil, nil
	return true
}

// take moves what is in other behind what is in l.
func (l *afterList) take(other *afterList) {
	for a := other.first; a != nil; a = other.first {
		other.remove(a)
		l.push(a)
	}
}
