package goroutines

import "github.com/uvasync/uvasync/bench/internal/measure"

// Wake has two goroutines wake each other in turns, so many times each: a
// channel is closed to wake whoever waits on it, and each wait has a channel
// of its own.
func Wake(wakes int) (s measure.Sample, err error) {
	var waits [2]chan struct{}
	var made uint64 // by either of them: they take turns
	wait := func(me int) chan struct{} {
		waits[me] = make(chan struct{})
		made++
		return waits[me]
	}
	times := 1
	c := newCrowd(2, func(me int, woken *uint64) {
		ch := waits[1] // made by whoever came before
		for range times {
			if me == 0 {
				ch = wait(0)
				close(waits[1])
			}
			<-ch
			*woken++
			if me == 1 {
				ch = wait(1)
				close(waits[0])
			}
		}
	})
	wait(1)
	err = c.measure(&s, 1, func() { times, made = wakes, 0 })
	s.Starts += made
	return s, err
}
