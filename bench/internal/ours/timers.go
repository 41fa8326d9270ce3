package ours

import (
	"errors"
	"time"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/raw"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// mill keeps timers going, each started again from its own callback.
type mill struct {
	loop   *reactor.Loop
	timers []*reactor.Timer
	random measure.Random
	most   uint32
	fires  uint64
	err    error
}

func (m *mill) add() error {
	t, err := m.loop.NewRearmingTimer(m.random.Milliseconds(m.most))
	if err != nil {
		return err
	}
	m.timers = append(m.timers, t)
	_, err = t.Subscribe(func(*event.Base, *event.Callback, any, error) {
		m.fires++
		if err := t.Rearm(m.random.Milliseconds(m.most)); err != nil {
			m.err = err
		}
	})
	if err != nil {
		return err
	}
	return t.Start()
}

func (m *mill) turnVirtual() error {
	raw.Advance(time.Millisecond)
	_, err := m.loop.Tick(false)
	return err
}

// runVirtual starts measuring when every timer has fired at least once.
func (m *mill) runVirtual(fires uint64, s *measure.Sample) error {
	for range 2 * m.most {
		if err := m.turnVirtual(); err != nil {
			return err
		}
	}
	m.fires = 0
	return s.Timed(func() error {
		for m.fires < fires && m.err == nil {
			if err := m.turnVirtual(); err != nil {
				return err
			}
			s.Turns++
		}
		return m.err
	})
}

func (m *mill) runReal(span time.Duration, s *measure.Sample) error {
	return s.Timed(func() error {
		end := time.Now().Add(span)
		return turnUntil(m.loop, true, s, func() bool {
			return m.err != nil || !time.Now().Before(end)
		})
	})
}

func (m *mill) close() (err error) {
	for _, t := range m.timers {
		err = errors.Join(err, t.Close())
	}
	return err
}

func timers(n int, most uint32, seed uint64, run func(*mill, *measure.Sample) error) (measure.Sample, error) {
	return onLoop(func(loop *reactor.Loop, s *measure.Sample) (err error) {
		m := &mill{loop: loop, random: measure.NewRandom(seed), most: most}
		defer func() { err = errors.Join(err, m.err, m.close()) }()
		for range n {
			if err := m.add(); err != nil {
				return err
			}
		}
		settle()
		err = run(m, s)
		s.Starts, s.Events = m.fires, m.fires
		return err
	})
}

// Timers is the counterpart of raw.Timers.
func Timers(n int, most uint32, seed, fires uint64) (measure.Sample, error) {
	return timers(n, most, seed, func(m *mill, s *measure.Sample) error { return m.runVirtual(fires, s) })
}

// TimersReal is the counterpart of raw.TimersReal.
func TimersReal(n int, most uint32, seed uint64, span time.Duration) (measure.Sample, error) {
	return timers(n, most, seed, func(m *mill, s *measure.Sample) error { return m.runReal(span, s) })
}
