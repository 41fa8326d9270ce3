// Package report turns figures into report.json and into a table.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/uvasync/uvasync/bench/internal/cases"
	"github.com/uvasync/uvasync/bench/internal/runner"
	"github.com/uvasync/uvasync/bench/internal/stats"
)

// unsteady is the spread of the rounds' ratios from which on a figure says more
// about the machine than about the case.
const unsteady = 0.15

// Spread is the interquartile range divided by the median, over the rounds.
type Spread struct {
	Ours     float64 `json:"ours"`
	Baseline float64 `json:"baseline"`
	Ratio    float64 `json:"ratio"`
}

// Entry is one case in report.json. Ratio is the cost of ours divided by the
// cost of the baseline: lower is better. The figures are null in an entry whose
// case could not be measured; Note says why.
type Entry struct {
	Name         string   `json:"name"`
	Unit         string   `json:"unit"`
	Ours         *float64 `json:"ours"`
	Baseline     *float64 `json:"baseline"`
	BaselineName string   `json:"baseline_name"`
	Ratio        *float64 `json:"ratio"`
	Rounds       int      `json:"rounds"`
	Spread       *Spread  `json:"spread"`
	Limit        *float64 `json:"limit"`
	Clock        string   `json:"clock"`     // what all of these count: "cpu", "wall" or "memory"
	CPURatio     *float64 `json:"cpu_ratio"` // the ratio by each clock
	WallRatio    *float64 `json:"wall_ratio"`
	Other        *float64 `json:"other_baseline,omitempty"` // the baseline with the other GOMAXPROCS
	BestRatio    *float64 `json:"best_ratio,omitempty"`     // the ratio to the better of the two, which the limit is for
	Note         string   `json:"note,omitempty"`
}

// New makes the entry of a case that was measured.
func New(c cases.Case, all runner.ByClock) Entry {
	f := all[c.Clock]
	e := blank(c)
	e.Ours, e.Baseline, e.Ratio = at(stats.Median(f.Ours)), at(stats.Median(f.Baseline)), at(f.Ratio())
	e.CPURatio, e.WallRatio = at(all[cases.CPU].Ratio()), at(all[cases.Wall].Ratio())
	if c.Both {
		e.Other, e.BestRatio = at(stats.Median(f.Other)), at(f.BestRatio())
	}
	e.Rounds = len(f.Ours)
	e.Spread = &Spread{stats.Spread(f.Ours), stats.Spread(f.Baseline), stats.Spread(f.Ratios())}
	if e.Spread.Ratio > unsteady {
		e.Note = fmt.Sprintf("unsteady: the middle half of the rounds' ratios spans %.0f %%", 100*e.Spread.Ratio)
	}
	return e
}

func at(v float64) *float64 { return &v }

// Skipped makes the entry of a case that could not be measured.
func Skipped(c cases.Case, reason error) Entry {
	e := blank(c)
	e.Note = "not measured: " + reason.Error()
	return e
}

func blank(c cases.Case) Entry {
	e := Entry{Name: c.Name, Unit: c.Unit, BaselineName: c.Baseline, Clock: string(c.Clock)}
	if c.Limit > 0 {
		e.Limit = &c.Limit
	}
	return e
}

// Write puts the entries into dir/report.json, which it makes if need be.
func Write(dir string, entries []Entry) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "report.json")
	return path, os.WriteFile(path, append(text, '\n'), 0o644)
}
