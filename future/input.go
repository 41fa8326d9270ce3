package future

import (
	"iter"

	"github.com/uvasync/uvasync/event"
)

// Input is what a combinator waits for: items under keys. Futures of one type give values of that type ([Of], [OfMap],
// [OfSeq], [OfSeq2], [OfTry]); events of any kinds, futures and coroutines among them, give any ([Events], [EventMap],
// [EventSeq], [EventTry]).
//
// Sequences are read by the awaiting coroutine, one item after the other, and an item is awaited from the moment in which
// it is produced (AWAIT-17). The sequence may suspend that coroutine; when what settles meanwhile is enough, that
// suspension fails with an [event.CancelledError], and the sequence is left at its next item. So it is when the time limit
// of the wait is over, which includes the time that producing takes.
type Input[K comparable, T any] struct {
	each     func(add func(key K, item event.Event, err error) bool)
	value    func(e *entry) T
	size     int  // how many there will be, as far as is known
	lazy     bool // producing may suspend
	fill     bool
	asTheyGo bool
}

// Filled makes results contain every key of the input: the zero value (nil) stands for what has failed or is pending
// (AWAIT-06).
func (in Input[K, T]) Filled() Input[K, T] {
	in.fill = true
	return in
}

// ByCompletion makes results be in the order in which the items have settled, instead of that of the input (AWAIT-12).
func (in Input[K, T]) ByCompletion() Input[K, T] {
	in.asTheyGo = true
	return in
}

// Of makes an input of futures; their keys are 0, 1, 2 and so on.
func Of[T any](futures ...*Future[T]) Input[int, T] {
	return Input[int, T]{value: typedValue[T], size: len(futures), each: func(add func(int, event.Event, error) bool) {
		for i, f := range futures {
			if !add(i, item(f), nil) {
				return
			}
		}
	}}
}

// OfMap makes an input of the futures in a map, with its keys.
func OfMap[K comparable, T any](futures map[K]*Future[T]) Input[K, T] {
	return Input[K, T]{value: typedValue[T], size: len(futures), each: func(add func(K, event.Event, error) bool) {
		for key, f := range sorted(futures) {
			if !add(key, item(f), nil) {
				return
			}
		}
	}}
}

// OfSeq makes an input of the futures that a sequence produces; their keys are 0, 1, 2 and so on.
func OfSeq[T any](futures iter.Seq[*Future[T]]) Input[int, T] {
	return Input[int, T]{value: typedValue[T], lazy: true, each: func(add func(int, event.Event, error) bool) {
		i := 0
		for f := range futures {
			if !add(i, item(f), nil) {
				return
			}
			i++
		}
	}}
}

// OfSeq2 makes an input of the futures that a sequence produces together with their keys.
func OfSeq2[K comparable, T any](futures iter.Seq2[K, *Future[T]]) Input[K, T] {
	return Input[K, T]{value: typedValue[T], lazy: true, each: func(add func(K, event.Event, error) bool) {
		for key, f := range futures {
			if !add(key, item(f), nil) {
				return
			}
		}
	}}
}

// OfTry makes an input of a sequence that may fail: its first error that is not nil is the combinator's, at once
// (AWAIT-18). Keys are 0, 1, 2 and so on.
func OfTry[T any](futures iter.Seq2[*Future[T], error]) Input[int, T] {
	return Input[int, T]{value: typedValue[T], lazy: true, each: func(add func(int, event.Event, error) bool) {
		i := 0
		for f, err := range futures {
			if !add(i, item(f), err) {
				return
			}
			i++
		}
	}}
}

// Events makes an input of events of any kinds; their keys are 0, 1, 2 and so on. Periodic ones count when they happen for
// the first time.
func Events(events ...event.Event) Input[int, any] {
	return Input[int, any]{value: anyValue, size: len(events), each: func(add func(int, event.Event, error) bool) {
		for i, ev := range events {
			if !add(i, ev, nil) {
				return
			}
		}
	}}
}

// EventMap makes an input of the events in a map, with its keys.
func EventMap[K comparable](events map[K]event.Event) Input[K, any] {
	return Input[K, any]{value: anyValue, size: len(events), each: func(add func(K, event.Event, error) bool) {
		for key, ev := range sorted(events) {
			if !add(key, ev, nil) {
				return
			}
		}
	}}
}

// EventSeq makes an input of the events that a sequence produces; their keys are 0, 1, 2 and so on.
func EventSeq(events iter.Seq[event.Event]) Input[int, any] {
	return Input[int, any]{value: anyValue, lazy: true, each: func(add func(int, event.Event, error) bool) {
		i := 0
		for ev := range events {
			if !add(i, ev, nil) {
				return
			}
			i++
		}
	}}
}

// EventTry makes an input of a sequence that may fail, as OfTry does.
func EventTry(events iter.Seq2[event.Event, error]) Input[int, any] {
	return Input[int, any]{value: anyValue, lazy: true, each: func(add func(int, event.Event, error) bool) {
		i := 0
		for ev, err := range events {
			if !add(i, ev, err) {
				return
			}
			i++
		}
	}}
}

// item keeps a nil future from becoming an event that is not nil.
func item[T any](f *Future[T]) event.Event {
	if f == nil {
		return nil
	}
	return f
}

// typedValue returns the value of a future without boxing it.
func typedValue[T any](e *entry) T { return e.item.(*Future[T]).value }

func anyValue(e *entry) any {
	if f, ok := e.item.(typed); ok {
		return f.boxed()
	}
	return e.result
}
