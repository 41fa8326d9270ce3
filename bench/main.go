package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/uvasync/uvasync/bench/internal/cases"
	"github.com/uvasync/uvasync/bench/internal/fresh"
	"github.com/uvasync/uvasync/bench/internal/report"
	"github.com/uvasync/uvasync/bench/internal/runner"
	"github.com/uvasync/uvasync/bench/raw"
)

func main() {
	fresh.Main(cases.Fresh())
	cfg, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, errHelp) {
		return
	}
	if err == nil {
		err = run(cfg, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(cfg config, out, progress io.Writer) error {
	chosen, err := cases.Select(cases.List(cfg.shrink), cfg.cases)
	if err != nil {
		return err
	}
	if cfg.list {
		return list(out, chosen)
	}
	fmt.Fprintf(progress, "libuv %s, cases: %d, rounds: %d\n", raw.Version(), len(chosen), cfg.rounds)
	entries, err := measureAll(chosen, cfg.rounds, progress)
	if err != nil {
		return err
	}
	path, err := report.Write(cfg.out, entries)
	if err != nil {
		return err
	}
	fmt.Fprintln(progress, "wrote", path)
	return report.Table(out, entries)
}

func measureAll(chosen []cases.Case, rounds int, progress io.Writer) ([]report.Entry, error) {
	var entries []report.Entry
	for i, c := range chosen {
		fmt.Fprintf(progress, "[%d/%d] %s\n", i+1, len(chosen), c.Name)
		figures, err := runner.Run(c, rounds)
		switch {
		case errors.Is(err, raw.ErrNoVirtualClock), errors.Is(err, cases.ErrTooFewFiles):
			entries = append(entries, report.Skipped(c, err))
		case err != nil:
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		default:
			entries = append(entries, report.New(c, figures))
		}
	}
	return entries, nil
}

func list(out io.Writer, chosen []cases.Case) error {
	for _, c := range chosen {
		if _, err := fmt.Fprintf(out, "%-20s %-12s against %s\n", c.Name, c.Unit, c.Baseline); err != nil {
			return err
		}
	}
	return nil
}
