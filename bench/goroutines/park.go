package goroutines

import (
	"runtime"
	"sync/atomic"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Park weighs n goroutines that wait on one channel.
func Park(n int) (s measure.Sample, err error) {
	var arrived atomic.Int64
	release := make(chan struct{})
	c := newCrowd(n, func(_ int, did *uint64) {
		arrived.Add(1)
		<-release
		*did++
	})
	err = s.Weighed(func() error {
		c.start()
		for arrived.Load() < int64(n) {
			runtime.Gosched()
		}
		return nil
	})
	close(release)
	c.wg.Wait()
	c.count(&s)
	return s, err
}
