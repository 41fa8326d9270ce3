// Package cases lists what is measured: a name, our side, the baseline, and how
// much of ours the project allows itself.
package cases

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Case is one thing done twice: by ours and by the baseline. Each call of Ours
// or Theirs is one round.
type Case struct {
	Name     string
	Unit     string
	Baseline string  // what the other side is, in a few words
	Limit    float64 // greatest ratio that the project allows itself; 0: none

	Clock   Clock  // what the figure counts
	Virtual bool   // runs on the virtual clock
	Procs   int    // GOMAXPROCS of both sides; 0: the machine's default
	Both    bool   // the baseline runs with GOMAXPROCS=1 and with the default; the limit is for the better of the two
	Slack   uint64 // by how much the work of the two sides may differ
	Per     func(measure.Work) uint64

	Ours, Theirs func() (measure.Sample, error)
}

// Clock is what a figure counts. The report has the ratio by both, the figures
// by the one that fits the case.
type Clock string

const (
	// Wall is the time that passes.
	Wall Clock = "wall"
	// CPU is the CPU time of the whole process, for what mostly sleeps. What Go
	// does on other threads counts; what other programs do on this one does not.
	CPU Clock = "cpu"
	// Memory is no time at all, but the bytes that were held at the end.
	Memory Clock = "memory"
)

// Clocks are all that a round of the case is measured by.
func (c Case) Clocks() []Clock {
	if c.Clock == Memory {
		return []Clock{CPU, Wall, Memory}
	}
	return []Clock{CPU, Wall}
}

// Cost is what a sample took by the given clock, in nanoseconds or bytes for
// each unit of work.
func (c Case) Cost(clock Clock, s measure.Sample) (float64, error) {
	spent := float64(s.Wall)
	switch clock {
	case CPU:
		spent = float64(s.CPU)
	case Memory:
		spent = float64(s.Memory)
	}
	n := c.Per(s.Work)
	if n == 0 {
		return 0, errors.New("no work was done")
	}
	return spent / float64(n), nil
}

// Select keeps the cases whose name begins with one of the prefixes, in the
// order of the list. No prefixes: all of them.
func Select(all []Case, prefixes []string) ([]Case, error) {
	if len(prefixes) == 0 {
		return all, nil
	}
	for _, p := range prefixes {
		if !slices.ContainsFunc(all, func(c Case) bool { return strings.HasPrefix(c.Name, p) }) {
			return nil, fmt.Errorf("no case begins with %q; the cases are: %s", p, strings.Join(Names(all), ", "))
		}
	}
	var chosen []Case
	for _, c := range all {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(c.Name, p) }) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// Names lists the names of cases.
func Names(all []Case) []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return names
}

func perEvent(w measure.Work) uint64 { return w.Events }
func perTurn(w measure.Work) uint64  { return w.Turns }
func perClose(w measure.Work) uint64 { return w.Closes }
func perStart(w measure.Work) uint64 { return w.Starts }
