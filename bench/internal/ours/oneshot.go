package ours

import (
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/raw"
	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// OneShot is the counterpart of raw.OneShot.
func OneShot(batch, batches int, most uint32, seed uint64) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) error {
		random := measure.NewRandom(seed)
		return s.Timed(func() error {
			for range batches {
				if err := oneShotBatch(loop, s, batch, most, &random); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// oneShotBatch goes from nothing to nothing: no handle is left at its end.
func oneShotBatch(loop *reactor.Loop, s *measure.Sample, batch int, most uint32, random *measure.Random) error {
	fired := func(*event.Base, *event.Callback, any, error) { s.Events++ }
	for range batch {
		t, err := loop.NewTimer(random.Milliseconds(most))
		if err != nil {
			return err
		}
		if _, err := t.Subscribe(fired); err != nil {
			return err
		}
		if err := t.Start(); err != nil {
			return err
		}
		s.Starts++
	}

	return turnUntil(loop, false, s, func() bool {
		raw.Advance(time.Millisecond)
		s.Closes = closed(loop, cuv.KindTimer)
		return s.Closes >= s.Starts
	})
}
