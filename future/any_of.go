package future

import "github.com/uvasync/uvasync/scheduler"

// AwaitAnyOf waits until n items of the input have succeeded, or all have settled, and returns the values, which may be
// more than n when more had settled by the time co ran, and the errors so far (AWAIT-10). With n = 0 it returns at once,
// with nothing. Errors: [event.InvalidArgumentError] when n is negative; those of [AwaitAll].
func AwaitAnyOf[K comparable, T any](co *scheduler.Coroutine, n int, in Input[K, T], opts ...scheduler.WaitOption) (values Keyed[K, T], errs Keyed[K, error], err error) {
	c, err := combine("future: AwaitAnyOf", co, in, n, false, opts)
	return c.values(), c.errors(), err
}
