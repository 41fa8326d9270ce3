package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/cases"
	"github.com/uvasync/uvasync/bench/internal/fresh"
)

func TestMain(m *testing.M) {
	fresh.Main(cases.Fresh())
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	cfg, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, config{rounds: usualRounds, shrink: 1, out: "out"}, cfg)

	cfg, err = parse([]string{"-quick", "-cases= timer, poll,", "-out=x"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, config{cases: []string{"timer", "poll"}, rounds: 1, shrink: quickShrink, out: "x"}, cfg)

	cfg, err = parse([]string{"-quick", "-rounds=3"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, 3, cfg.rounds)
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-rounds=4"}, "-rounds must be 5 or more"},
		{[]string{"-quick", "-rounds=0"}, "-rounds must be 1 or more"},
		{[]string{"-rounds=many"}, "invalid value"},
		{[]string{"-fast"}, "not defined: -fast"},
		{[]string{"timer"}, `unexpected argument "timer"`},
	} {
		_, err := parse(c.args, io.Discard)
		assert.ErrorContains(t, err, c.says, c.args)
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	var messages bytes.Buffer
	_, err := parse([]string{"-h"}, &messages)
	assert.ErrorIs(t, err, errHelp)
	assert.Contains(t, messages.String(), "-cases")
}

func TestRunMeasuresAndWritesTheReport(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	cfg := config{cases: []string{"tick-empty", "close-10k"}, rounds: 1, shrink: 1_000, out: dir}
	require.NoError(t, run(cfg, &out, io.Discard))
	assert.Contains(t, out.String(), "tick-empty")
	assert.Contains(t, out.String(), "close-10k-poll")
	_, err := os.Stat(filepath.Join(dir, "report.json"))
	assert.NoError(t, err)
}

func TestRunNamesTheCasesWhenOneIsUnknown(t *testing.T) {
	err := run(config{cases: []string{"nonesuch"}, shrink: 1_000}, io.Discard, io.Discard)
	assert.ErrorContains(t, err, `no case begins with "nonesuch"`)
	assert.ErrorContains(t, err, "timer-100")
}

func TestListMeasuresNothing(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(config{list: true, shrink: 1_000}, &out, io.Discard))
	assert.Contains(t, out.String(), "post")
}
