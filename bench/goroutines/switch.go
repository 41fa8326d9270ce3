package goroutines

import (
	"runtime"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Switch has n goroutines step aside for each other, so many times each.
func Switch(n, yields int) (s measure.Sample, err error) {
	times := 1
	c := newCrowd(n, func(_ int, did *uint64) {
		for range times {
			runtime.Gosched()
			*did++
		}
	})
	err = c.measure(&s, 1, func() { times = yields })
	return s, err
}
