package future

import "github.com/uvasync/uvasync/scheduler"

// AwaitAllOrFail waits until everything in the input has succeeded, and returns the values under their keys; or it returns
// the first error as soon as that happens, while the others keep running (AWAIT-07). What had succeeded by then is
// returned with the error. Other errors are those of [AwaitAll].
func AwaitAllOrFail[K comparable, T any](co *scheduler.Coroutine, in Input[K, T], opts ...scheduler.WaitOption) (values Keyed[K, T], err error) {
	c, err := combine("future: AwaitAllOrFail", co, in, everything, true, opts)
	return c.values(), err
}
