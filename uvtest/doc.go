// Package uvtest runs coroutines in virtual time, for tests: ten minutes of Delay pass in microseconds, and the same seed
// gives the same run.
//
//	func TestRetry(t *testing.T) {
//		uvtest.Run(t, func(co *uvasync.Coroutine) error {
//			return retryForTenMinutes(co)
//		})
//	}
//
// Time stands still while any coroutine can go on, and jumps to the next deadline when none can. What would leave the
// simulation answers ErrNotSimulated: descriptors and signals, and a Post from a goroutine that is no coroutine of the run.
// What is not of the run keeps real time: time.Now, time.Sleep, context.WithTimeout. Use Now, Delay and WithTimeout of the
// coroutine instead.
//
// When the run is over, everything must be: coroutines, time limits, visible events; what is left fails the test.
package uvtest
