package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

const legend = `
ratio   the median of the rounds' ours/baseline, by what "by" names, a clock or memory; lower is better
spread  the interquartile range of those, as a part of their median
cpu     the same ratio by the CPU time of the whole process: Go's other threads count, other programs do not
wall    the same ratio by the time that passed: the steadier of the two only on a machine with nothing else to do
`

// Table prints the entries for people.
func Table(out io.Writer, entries []Entry) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "case\tunit\tours\tbaseline\tratio\tlimit\t\tspread\tby\tcpu\twall\tbaseline is")
	for _, e := range entries {
		fmt.Fprintln(w, row(e))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, e := range entries {
		if e.BestRatio != nil {
			fmt.Fprintf(out, "%s: %.2f against the better baseline, which the limit is for; %.1f %s with the other GOMAXPROCS\n", e.Name, *e.BestRatio, *e.Other, e.Unit)
		}
		if e.Note != "" {
			fmt.Fprintf(out, "%s: %s\n", e.Name, e.Note)
		}
	}
	_, err := fmt.Fprint(out, legend)
	return err
}

func row(e Entry) string {
	if e.Ratio == nil {
		return fmt.Sprintf("%s\t%s\t-\t-\t-\t%s\tskipped\t-\t%s\t-\t-\t%s", e.Name, e.Unit, number(e.Limit, "%.2f"), e.Clock, e.BaselineName)
	}
	return fmt.Sprintf("%s\t%s\t%.1f\t%.1f\t%.2f\t%s\t%s\t%.0f %%\t%s\t%.2f\t%.2f\t%s",
		e.Name, e.Unit, *e.Ours, *e.Baseline, *e.Ratio, number(e.Limit, "%.2f"), verdict(e),
		100*e.Spread.Ratio, e.Clock, *e.CPURatio, *e.WallRatio, e.BaselineName)
}

// verdict judges and does no more: a machine that is busy must not fail a run.
func verdict(e Entry) string {
	judged := e.Ratio
	if e.BestRatio != nil {
		judged = e.BestRatio
	}
	switch {
	case e.Limit == nil:
		return ""
	case *judged <= *e.Limit:
		return "ok"
	default:
		return "over"
	}
}

func number(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}
