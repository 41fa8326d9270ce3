// Package runner runs both sides of a case in turns and makes figures of it.
package runner

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/uvasync/uvasync/bench/internal/cases"
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/internal/stats"
	"github.com/uvasync/uvasync/bench/raw"
)

// Figures are what the rounds of one case came to by one clock: a value for
// each round, nanoseconds or bytes for each unit of work.
type Figures struct {
	Ours, Baseline []float64
	Other          []float64 // the baseline with the other GOMAXPROCS, where the case has both
}

// ByClock has the figures by every clock.
type ByClock map[cases.Clock]*Figures

// Ratios are ours divided by the baseline, round by round.
func (f Figures) Ratios() []float64 { return stats.Ratios(f.Ours, f.Baseline) }

// Ratio is the median of the rounds' ratios, not the ratio of the medians: what
// disturbs the machine for a while disturbs both sides of a round.
func (f Figures) Ratio() float64 { return stats.Median(f.Ratios()) }

// BestRatio is the ratio to the better of the two baselines.
func (f Figures) BestRatio() float64 {
	return max(f.Ratio(), stats.Median(stats.Ratios(f.Ours, f.Other)))
}

// Run does one round that is thrown away and then so many that count. The side
// that begins changes every round.
func Run(c cases.Case, rounds int) (ByClock, error) {
	all := ByClock{}
	for _, clock := range c.Clocks() {
		all[clock] = &Figures{}
	}
	for round := range rounds + 1 {
		samples, err := sides(c, round%2 == 1)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			continue
		}
		if err := all.add(c, samples); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// samples are those of one round.
type samples struct{ ours, baseline, other measure.Sample }

func (all ByClock) add(c cases.Case, s samples) error {
	for clock, f := range all {
		o, errOurs := c.Cost(clock, s.ours)
		b, errBaseline := c.Cost(clock, s.baseline)
		if err := errors.Join(errOurs, errBaseline); err != nil {
			return err
		}
		f.Ours, f.Baseline = append(f.Ours, o), append(f.Baseline, b)
		if !c.Both {
			continue
		}
		other, err := c.Cost(clock, s.other)
		if err != nil {
			return err
		}
		f.Other = append(f.Other, other)
	}
	return nil
}

func sides(c cases.Case, baselineFirst bool) (s samples, err error) {
	if !baselineFirst {
		if s.ours, err = half(c, "ours", c.Procs, c.Ours); err != nil {
			return s, err
		}
	}
	if s.baseline, err = half(c, "baseline", c.Procs, c.Theirs); err != nil {
		return s, err
	}
	if c.Both {
		if s.other, err = half(c, "baseline", 1-c.Procs, c.Theirs); err != nil {
			return s, err
		}
		if err := s.other.SameAs(s.baseline.Work, c.Slack); err != nil {
			return s, err
		}
	}
	if baselineFirst {
		if s.ours, err = half(c, "ours", c.Procs, c.Ours); err != nil {
			return s, err
		}
	}
	return s, s.ours.SameAs(s.baseline.Work, c.Slack)
}

// half runs one side of a round. The collection before it keeps the garbage of
// one side out of the other's time.
func half(c cases.Case, side string, procs int, fn func() (measure.Sample, error)) (measure.Sample, error) {
	if procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	}
	runtime.GC()
	if c.Virtual {
		if err := raw.StartVirtualClock(); err != nil {
			return measure.Sample{}, err
		}
		defer raw.StopVirtualClock()
	}
	s, err := fn()
	if err != nil {
		return s, fmt.Errorf("%s: %w", side, err)
	}
	return s, nil
}
