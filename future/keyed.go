package future

import (
	"iter"
	"strconv"

	"github.com/uvasync/uvasync/event"
)

// Keyed is what a combinator collected: values, or errors, under the keys of the input, in its order (AWAIT-12). Keys of a
// slice are its indexes. The zero value is empty.
type Keyed[K comparable, V any] struct {
	keys   []K
	values []V
}

// Len returns how many there are.
func (k Keyed[K, V]) Len() int { return len(k.keys) }

// All returns the keys with their values.
func (k Keyed[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i, key := range k.keys {
			if !yield(key, k.values[i]) {
				return
			}
		}
	}
}

// Keys returns the keys. The caller must not change them.
func (k Keyed[K, V]) Keys() []K { return k.keys }

// Values returns the values, each at the place of its key in Keys. The caller may keep them, and must not change them
// while Keyed is in use.
func (k Keyed[K, V]) Values() []V { return k.values }

// Get returns the value of key; ok is false when there is none. It searches: use Map for many.
func (k Keyed[K, V]) Get(key K) (value V, ok bool) {
	for i := range k.keys {
		if k.keys[i] == key {
			return k.values[i], true
		}
	}
	return value, false
}

// Map returns a new map with the same content.
func (k Keyed[K, V]) Map() map[K]V {
	m := make(map[K]V, len(k.keys))
	for i, key := range k.keys {
		m[key] = k.values[i]
	}
	return m
}

func (k *Keyed[K, V]) reserve(n int) {
	if n > 0 {
		k.keys, k.values = make([]K, 0, n), make([]V, 0, n)
	}
}

func (k *Keyed[K, V]) add(key K, value V) {
	k.keys = append(k.keys, key)
	k.values = append(k.values, value)
}

// MakeKeyed returns values under keys, each at the place of its key. It keeps both slices, which the caller must not use any
// more. It panics with an [event.InvalidArgumentError] when they are not of one length. Any goroutine.
func MakeKeyed[K comparable, V any](keys []K, values []V) Keyed[K, V] {
	if len(keys) != len(values) {
		panic(&event.InvalidArgumentError{Call: "future: MakeKeyed", Arg: "number of values", Got: len(values), Legal: "pass one for each of the keys: " + strconv.Itoa(len(keys))})
	}
	return Keyed[K, V]{keys: keys, values: values}
}
