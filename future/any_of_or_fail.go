package future

import "github.com/uvasync/uvasync/scheduler"

// AwaitAnyOfOrFail waits until n items of the input have succeeded, or all have, and returns the values; or it returns the
// first error as soon as that happens (AWAIT-11), with what had succeeded by then. Errors: as for [AwaitAnyOf].
func AwaitAnyOfOrFail[K comparable, T any](co *scheduler.Coroutine, n int, in Input[K, T], opts ...scheduler.WaitOption) (values Keyed[K, T], err error) {
	c, err := combine("future: AwaitAnyOfOrFail", co, in, n, true, opts)
	return c.values(), err
}
