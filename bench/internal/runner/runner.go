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
type Figures struct{ Ours, Baseline []float64 }

// ByClock has the figures by every clock.
type ByClock map[cases.Clock]*Figures

// Ratios are ours divided by the baseline, round by round.
func (f Figures) Ratios() []float64 { return stats.Ratios(f.Ours, f.Baseline) }

// Ratio is the median of the rounds' ratios, not the ratio of the medians: what
// disturbs the machine for a while disturbs both sides of a round.
func (f Figures) Ratio() float64 { return stats.Median(f.Ratios()) }

// Run does one round that is thrown away and then so many that count. The side
// that begins changes every round.
func Run(c cases.Case, rounds int) (ByClock, error) {
	all := ByClock{}
	for _, clock := range c.Clocks() {
		all[clock] = &Figures{}
	}
	for round := range rounds + 1 {
		ours, baseline, err := both(c, round%2 == 1)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			continue
		}
		if err := all.add(c, ours, baseline); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (all ByClock) add(c cases.Case, ours, baseline measure.Sample) error {
	for clock, f := range all {
		o, errOurs := c.Cost(clock, ours)
		b, errBaseline := c.Cost(clock, baseline)
		if err := errors.Join(errOurs, errBaseline); err != nil {
			return err
		}
		f.Ours, f.Baseline = append(f.Ours, o), append(f.Baseline, b)
	}
	return nil
}

func both(c cases.Case, baselineFirst bool) (ours, baseline measure.Sample, err error) {
	runOurs := func() error { ours, err = half(c, "ours", c.Ours); return err }
	runBaseline := func() error { baseline, err = half(c, "baseline", c.Theirs); return err }
	first, second := runOurs, runBaseline
	if baselineFirst {
		first, second = runBaseline, runOurs
	}
	if err := first(); err != nil {
		return ours, baseline, err
	}
	if err := second(); err != nil {
		return ours, baseline, err
	}
	return ours, baseline, ours.SameAs(baseline.Work, c.Slack)
}

// half runs one side of a round. The collection before it keeps the garbage of
// one side out of the other's time.
func half(c cases.Case, side string, fn func() (measure.Sample, error)) (measure.Sample, error) {
	if c.Procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Procs))
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
