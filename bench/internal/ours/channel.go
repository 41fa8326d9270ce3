package ours

import (
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/scheduler"
)

// Channel is the counterpart of goroutines.Channel.
func Channel(capacity, messages int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		ch, err := channel.New[int](co, capacity)
		if err != nil {
			return err
		}
		times := 1
		var sent uint64
		c := newCrowd(2, func(co *scheduler.Coroutine, i int, received *uint64) error {
			for m := range times {
				if i == 0 {
					if err := ch.Send(co, m); err != nil {
						return err
					}
					sent++
				} else {
					if _, err := ch.Recv(co); err != nil {
						return err
					}
					*received++
				}
			}
			return nil
		})
		err = c.measure(co, s, 1, func() { times, sent = messages, 0 })
		s.Starts += sent
		return err
	})
}
