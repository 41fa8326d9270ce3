package ours

import (
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/reactor"
)

// Post is the counterpart of raw.Post.
func Post(messages int) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) error {
		count := func() { s.Events++ }
		start := make(chan struct{})
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			<-start
			send(loop, messages, count)
		}()

		err := s.Timed(func() error {
			close(start)
			return turnUntil(loop, true, s, func() bool { return s.Events >= uint64(messages) })
		})
		<-sent
		return err
	})
}

// send panics instead of leaving the loop to wait for ever for what was never
// sent.
func send(loop *reactor.Loop, messages int, fn func()) {
	for range messages {
		if err := loop.Post(fn); err != nil {
			panic(err)
		}
	}
}
