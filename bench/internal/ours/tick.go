package ours

import (
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/reactor"
)

// TickEmpty is the counterpart of raw.TickEmpty.
func TickEmpty(turns int) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) error {
		return s.Timed(func() error {
			for range turns {
				if _, err := loop.Tick(false); err != nil {
					return err
				}
				s.Turns++
			}
			return nil
		})
	})
}
