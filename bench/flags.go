package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

const (
	fewestRounds = 5
	usualRounds  = 11
	quickShrink  = 20
)

var errHelp = flag.ErrHelp

type config struct {
	cases  []string
	rounds int
	shrink int
	list   bool
	out    string
}

func parse(args []string, messages io.Writer) (config, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error, once
	names := flags.String("cases", "", "comma-separated names, or beginnings of names, of the cases to run; empty: all")
	rounds := flags.Int("rounds", usualRounds, "rounds that count, after one that does not")
	quick := flags.Bool("quick", false, "little work and one round (unless -rounds is given): to see that it runs, not for figures")
	list := flags.Bool("list", false, "print the cases and measure nothing")
	out := flags.String("out", "out", "folder for report.json")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, errHelp) {
			flags.SetOutput(messages)
			flags.PrintDefaults()
		}
		return config{}, err
	}
	if flags.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %q: everything is a flag", flags.Arg(0))
	}
	cfg := config{cases: split(*names), rounds: *rounds, shrink: 1, list: *list, out: *out}
	return cfg, cfg.settle(*quick, given(flags, "rounds"))
}

func (cfg *config) settle(quick, roundsGiven bool) error {
	if quick {
		cfg.shrink = quickShrink
		if !roundsGiven {
			cfg.rounds = 1
		}
	}
	if cfg.rounds < 1 {
		return errors.New("-rounds must be 1 or more")
	}
	if !quick && cfg.rounds < fewestRounds {
		return fmt.Errorf("-rounds must be %d or more, for the medians to mean something (fewer with -quick)", fewestRounds)
	}
	return nil
}

func given(flags *flag.FlagSet, name string) (found bool) {
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func split(names string) []string {
	var all []string
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}
