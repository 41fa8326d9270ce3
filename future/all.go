package future

import "github.com/uvasync/uvasync/scheduler"

// AwaitAll waits until everything in the input has settled, and returns the values and the errors under their keys
// (AWAIT-06). A failure of an item is no error of AwaitAll. An empty input gives empty results at once (AWAIT-13).
//
// Errors: those of the wait, see [Future.Await], and that of the sequence (AWAIT-18); what was collected by then is
// returned with it. An item that is also the token of the wait ends it when it settles (AWAIT-05). An item that is nil, or
// that belongs to another run, is an error at once.
func AwaitAll[K comparable, T any](co *scheduler.Coroutine, in Input[K, T], opts ...scheduler.WaitOption) (values Keyed[K, T], errs Keyed[K, error], err error) {
	c, err := combine("future: AwaitAll", co, in, everything, false, opts)
	return c.values(), c.errors(), err
}
