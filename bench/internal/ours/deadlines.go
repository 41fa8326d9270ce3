package ours

import (
	"errors"
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/raw"
	"github.com/uvasync/uvasync/reactor"
)

type deadlines struct {
	loop   *reactor.Loop
	all    []reactor.Deadline
	delays []uint64
	s      *measure.Sample
}

func (d *deadlines) startAll() error {
	for i := range d.all {
		if err := d.all[i].Start(time.Duration(d.delays[i])); err != nil {
			return err
		}
		d.s.Starts++
	}
	return nil
}

func (d *deadlines) stopSome(stopped []uint32) error {
	for _, i := range stopped {
		if !d.all[i].Stop() {
			return errors.New("a deadline that had not fired could not be stopped")
		}
		d.s.Stops++
	}
	return nil
}

func (d *deadlines) done() bool { return d.s.Events >= d.s.Starts-d.s.Stops }

// onDeadlines prepares one deadline for each delay, outside the timed part.
func onDeadlines(delays []uint64, timed func(*deadlines) error) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) error {
		d := &deadlines{loop: loop, all: make([]reactor.Deadline, len(delays)), delays: delays, s: s}
		fired := func(*reactor.Deadline) { s.Events++ }
		for i := range d.all {
			d.all[i].Init(loop, fired)
		}
		settle()
		return s.Timed(func() error { return timed(d) })
	})
}

// DeadlinesFire is the counterpart of raw.DeadlinesFire.
func DeadlinesFire(delays []uint64) (measure.Sample, error) {
	return onDeadlines(delays, func(d *deadlines) error {
		if err := d.startAll(); err != nil {
			return err
		}
		return turnUntil(d.loop, true, d.s, d.done)
	})
}

// DeadlinesCancel is the counterpart of raw.DeadlinesCancel.
func DeadlinesCancel(delays []uint64, stopped []uint32, step uint32, seed uint64) (measure.Sample, error) {
	return onDeadlines(delays, func(d *deadlines) error {
		if err := d.startAll(); err != nil {
			return err
		}
		if err := d.stopSome(stopped); err != nil {
			return err
		}
		random := measure.NewRandom(seed)
		return turnUntil(d.loop, false, d.s, func() bool {
			raw.Advance(random.Milliseconds(step))
			return d.done()
		})
	})
}
