package future

import "github.com/uvasync/uvasync/scheduler"

// AwaitAnyOrFail waits until something in the input has settled, and returns its outcome, value or error (AWAIT-08). The
// others keep running. An empty input gives the zero value and no error. Other errors are those of [AwaitAll].
func AwaitAnyOrFail[K comparable, T any](co *scheduler.Coroutine, in Input[K, T], opts ...scheduler.WaitOption) (value T, err error) {
	c, err := combine("future: AwaitAnyOrFail", co, in, 1, true, opts)
	if err == nil {
		value, _ = c.first()
	}
	return value, err
}
