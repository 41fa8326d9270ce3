package goroutines

import "github.com/uvasync/uvasync/bench/internal/measure"

// Channel sends so many messages from one goroutine to another through a
// channel of that capacity.
func Channel(capacity, messages int) (s measure.Sample, err error) {
	ch := make(chan int, capacity)
	times := 1
	var sent uint64
	c := newCrowd(2, func(i int, received *uint64) {
		for m := range times {
			if i == 0 {
				ch <- m
				sent++
			} else {
				<-ch
				*received++
			}
		}
	})
	err = c.measure(&s, 1, func() { times, sent = messages, 0 })
	s.Starts += sent
	return s, err
}
