package future

import "github.com/uvasync/uvasync/scheduler"

// AwaitFirstSuccess waits until something in the input has succeeded, and returns its value, with ok true, and what has
// failed so far. When everything has failed, or the input is empty, ok is false, and errs has all the errors; that is no
// error of AwaitFirstSuccess (AWAIT-09). The others keep running. Errors are those of [AwaitAll].
func AwaitFirstSuccess[K comparable, T any](co *scheduler.Coroutine, in Input[K, T], opts ...scheduler.WaitOption) (value T, ok bool, errs Keyed[K, error], err error) {
	c, err := combine("future: AwaitFirstSuccess", co, in, 1, false, opts)
	if err == nil {
		value, ok = c.first()
	}
	return value, ok, c.errors(), err
}
