// Package ring is a queue in a ring buffer that grows: constant time at both ends, no allocation once it has its size.
package ring

// Ring is a FIFO. The zero value is empty and ready.
type Ring[T any] struct {
	items []T // its length is a power of two, or 0
	head  int // index of the first
	n     int
}

const firstCapacity = 8

// Len returns how many items there are.
func (r *Ring[T]) Len() int { return r.n }

// Push adds at the tail.
func (r *Ring[T]) Push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = v
	r.n++
}

// PushFront adds at the head.
func (r *Ring[T]) PushFront(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.head = (r.head - 1) & (len(r.items) - 1)
	r.items[r.head] = v
	r.n++
}

// Pop removes the first. It panics when there is none.
func (r *Ring[T]) Pop() T {
	if r.n == 0 {
		panic("bug: ring: Pop of an empty ring")
	}
	var zero T
	v := r.items[r.head]
	r.items[r.head] = zero
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
	return v
}

// PopBack removes the last. It panics when there is none.
func (r *Ring[T]) PopBack() T {
	if r.n == 0 {
		panic("bug: ring: PopBack of an empty ring")
	}
	var zero T
	r.n--
	i := (r.head + r.n) & (len(r.items) - 1)
	v := r.items[i]
	r.items[i] = zero
	return v
}

// Remove removes the i-th from the head and returns it. It moves i items.
func (r *Ring[T]) Remove(i int) T {
	for ; i > 0; i-- {
		r.Swap(i, i-1)
	}
	return r.Pop()
}

// At returns the i-th from the head, 0 being the first.
func (r *Ring[T]) At(i int) T { return *r.at(i) }

// Swap exchanges the i-th and the j-th from the head.
func (r *Ring[T]) Swap(i, j int) { a, b := r.at(i), r.at(j); *a, *b = *b, *a }

func (r *Ring[T]) at(i int) *T {
	if i < 0 || i >= r.n {
		panic("bug: ring: index out of range")
	}
	return &r.items[(r.head+i)&(len(r.items)-1)]
}

func (r *Ring[T]) grow() {
	items := make([]T, max(firstCapacity, 2*len(r.items)))
	n := copy(items, r.items[r.head:])
	copy(items[n:], r.items[:r.head])
	r.items, r.head = items, 0
}
