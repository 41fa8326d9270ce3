package channel

// ring holds the values of a channel that are nobody's yet. It grows to what is really in it, so that a channel may have
// a huge capacity.
type ring[T any] struct {
	buf  []T // its length is a power of two, or zero
	head int
	n    int
}

func (r *ring[T]) push(v T) {
	if r.n == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = v
	r.n++
}

// pushFront puts v back where it came from.
func (r *ring[T]) pushFront(v T) {
	if r.n == len(r.buf) {
		r.grow()
	}
	r.head = (r.head - 1) & (len(r.buf) - 1)
	r.buf[r.head] = v
	r.n++
}

// pop takes the oldest; there must be one.
func (r *ring[T]) pop() T {
	var zero T
	slot := &r.buf[r.head&(len(r.buf)-1)]
	v := *slot
	*slot = zero // it may hold memory of the user's
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return v
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(1, 2*len(r.buf)))
	copied := copy(bigger, r.buf[r.head:])
	copy(bigger[copied:], r.buf[:r.head])
	r.buf, r.head = bigger, 0
}
