package goroutines

import (
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Delay starts a goroutine for each of the delays (nanoseconds), has it sleep
// that long, and waits for all of them.
func Delay(delays []uint64) (s measure.Sample, err error) {
	c := newCrowd(len(delays), func(i int, did *uint64) {
		time.Sleep(time.Duration(delays[i]))
		*did++
	})
	err = c.measure(&s, 1, func() {})
	return s, err
}
