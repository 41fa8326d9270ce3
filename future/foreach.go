package future

import (
	"iter"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// EachOption is an option of ForEach: [Concurrency], [AwaitPending].
type EachOption struct {
	limit        int
	limited      bool // limit was given
	awaitPending bool
}

// Concurrency lets at most n calls run at once, 1 or more. Without it there is one after the other.
func Concurrency(n int) EachOption { return EachOption{limit: n, limited: true} }

// AwaitPending makes ForEach wait for the coroutines that were spawned inside of the calls, instead of cancelling them when
// the last call has returned (ITER-05).
func AwaitPending() EachOption { return EachOption{awaitPending: true} }

// ForEach calls fn for every value of seq, in order, each call in a coroutine of its own, and returns when all calls have
// returned (ITER-03). They run one after the other, or as many at once as [Concurrency] allows (ITER-02). fn ends the
// iteration by returning [ErrStop]; what runs by then is still awaited (ITER-01).
//
// An error of fn cancels the other calls, and ForEach returns it when they have ended (ITER-04); errors that they return
// beside cancellations go with it in a [event.CompositeError]. The calls run in a scope of their own, and so do the
// coroutines that they spawn: those are cancelled when the last call has returned, or awaited with [AwaitPending]. Their
// failures, when nobody awaits them, are failures of the iteration, too.
//
// seq is read by co, and may suspend it (ITER-06). Errors: [event.CancelledError] when co is cancelled, after the calls
// were cancelled and have ended; [event.InvalidArgumentError]; [event.UsageError].
func ForEach[V any](co *scheduler.Coroutine, seq iter.Seq[V], fn func(co *scheduler.Coroutine, value V) error, opts ...EachOption) error {
	const call = "future: ForEach"
	return iterate(call, co, seq == nil, fn == nil, fn, opts, func(it *iteration) error {
		for value := range seq {
			if !it.next(func(co *scheduler.Coroutine) error { return fn(co, value) }) {
				break
			}
		}
		return nil
	})
}

// ForEach2 is [ForEach] for a sequence of keys and values, such as slices.All and maps.All give.
func ForEach2[K, V any](co *scheduler.Coroutine, seq iter.Seq2[K, V], fn func(co *scheduler.Coroutine, key K, value V) error, opts ...EachOption) error {
	const call = "future: ForEach2"
	return iterate(call, co, seq == nil, fn == nil, fn, opts, func(it *iteration) error {
		for key, value := range seq {
			if !it.next(func(co *scheduler.Coroutine) error { return fn(co, key, value) }) {
				break
			}
		}
		return nil
	})
}

// ForEachTry is [ForEach] for a sequence that may fail: its first error that is not nil ends the iteration, and is returned
// when the calls that run have returned (ITER-07).
func ForEachTry[V any](co *scheduler.Coroutine, seq iter.Seq2[V, error], fn func(co *scheduler.Coroutine, value V) error, opts ...EachOption) error {
	const call = "future: ForEachTry"
	return iterate(call, co, seq == nil, fn == nil, fn, opts, func(it *iteration) error {
		for value, err := range seq {
			if err != nil {
				return err
			}
			if !it.next(func(co *scheduler.Coroutine) error { return fn(co, value) }) {
				break
			}
		}
		return nil
	})
}

// iterate checks the arguments and runs each, which reads the sequence.
func iterate(call string, co *scheduler.Coroutine, noSeq, noFn bool, fn any, opts []EachOption, each func(it *iteration) error) error {
	if err := co.Enter(call); err != nil {
		return err
	}
	it := &iteration{call: call, fn: fn, co: co, limit: 1}
	switch {
	case noSeq:
		return nilArgument(call, "sequence", "pass what to iterate over")
	case noFn:
		return nilArgument(call, "function", "pass what to call with each value")
	}
	for _, o := range opts {
		if o.limited && o.limit < 1 {
			return &event.InvalidArgumentError{Call: call, Arg: "concurrency", Got: o.limit, Legal: "let at least 1 call run"}
		}
		if o.limited {
			it.limit = o.limit
		}
		it.awaitPending = it.awaitPending || o.awaitPending
	}
	return it.run(each)
}
