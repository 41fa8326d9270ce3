package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/cases"
	"github.com/uvasync/uvasync/bench/internal/runner"
)

var (
	limited = cases.Case{Name: "timer-1k", Unit: "ns/fire", Clock: cases.CPU, Baseline: "uv_timer_t", Limit: 1.3}
	free    = cases.Case{Name: "close", Unit: "ns/handle", Clock: cases.Wall, Baseline: "uv_close"}

	ten    = []float64{10, 10, 10, 10, 10}
	steady = runner.ByClock{
		cases.CPU:  {Ours: []float64{12, 12, 12, 12, 12}, Baseline: ten},
		cases.Wall: {Ours: []float64{15, 15, 15, 15, 15}, Baseline: ten},
	}
	wild = runner.ByClock{
		cases.CPU:  {Ours: []float64{10, 20, 30, 40, 50}, Baseline: ten},
		cases.Wall: {Ours: ten, Baseline: ten},
	}
)

func TestReportIsAListOfEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path, err := Write(dir, []Entry{New(limited, steady), Skipped(free, errors.New("no clock"))})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "report.json"), path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"name": "timer-1k", "unit": "ns/fire", "ours": 12, "baseline": 10, "baseline_name": "uv_timer_t", "ratio": 1.2,
		 "rounds": 5, "spread": {"ours": 0, "baseline": 0, "ratio": 0}, "limit": 1.3, "clock": "cpu",
		 "cpu_ratio": 1.2, "wall_ratio": 1.5},
		{"name": "close", "unit": "ns/handle", "ours": null, "baseline": null, "baseline_name": "uv_close", "ratio": null,
		 "rounds": 0, "spread": null, "limit": null, "clock": "wall",
		 "cpu_ratio": null, "wall_ratio": null, "note": "not measured: no clock"}
	]`, string(text))
}

func TestReportOfNothingIsAnEmptyList(t *testing.T) {
	path, err := Write(t.TempDir(), []Entry{})
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var entries []Entry
	require.NoError(t, json.Unmarshal(text, &entries))
	assert.NotNil(t, entries)
}

func TestMemoryIsReportedInItsOwnUnit(t *testing.T) {
	heavy := cases.Case{Name: "park-bytes", Unit: "bytes/coroutine", Clock: cases.Memory, Baseline: "goroutine", Limit: 1.3}
	e := New(heavy, runner.ByClock{cases.CPU: steady[cases.CPU], cases.Wall: steady[cases.Wall], cases.Memory: {Ours: []float64{3_000}, Baseline: []float64{2_000}}})
	assert.Equal(t, "memory", e.Clock)
	var out bytes.Buffer
	require.NoError(t, Table(&out, []Entry{e}))
	assert.Regexp(t, `park-bytes +bytes/coroutine +3000\.0 +2000\.0 +1\.50 +1\.30 +over +0 % +memory +1\.20 +1\.50 +goroutine`, out.String())
}

func TestACaseWhoseRoundsScatterSaysSo(t *testing.T) {
	assert.Empty(t, New(limited, steady).Note)
	assert.Contains(t, New(limited, wild).Note, "unsteady")
}

func TestTheBetterOfTwoBaselinesIsJudgedBy(t *testing.T) {
	both := limited
	both.Both = true
	all := func(other float64) runner.ByClock {
		return runner.ByClock{
			cases.CPU:  {Ours: []float64{12}, Baseline: []float64{10}, Other: []float64{other}},
			cases.Wall: steady[cases.Wall],
		}
	}
	worse, better := New(both, all(20)), New(both, all(5))
	assert.Equal(t, 1.2, *worse.BestRatio)
	assert.Equal(t, 2.4, *better.BestRatio)
	assert.Nil(t, New(limited, steady).BestRatio)

	var out bytes.Buffer
	require.NoError(t, Table(&out, []Entry{worse, better}))
	assert.Regexp(t, `timer-1k +ns/fire +12\.0 +10\.0 +1\.20 +1\.30 +ok`, out.String())
	assert.Regexp(t, `timer-1k +ns/fire +12\.0 +10\.0 +1\.20 +1\.30 +over`, out.String())
	assert.Contains(t, out.String(), "timer-1k: 2.40 against the better baseline, which the limit is for; 5.0 ns/fire with the other GOMAXPROCS\n")
}

func TestTableJudgesByTheLimit(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Table(&out, []Entry{New(limited, steady), New(limited, wild), New(free, steady), Skipped(limited, errors.New("no clock"))}))
	assert.Regexp(t, `timer-1k +ns/fire +12\.0 +10\.0 +1\.20 +1\.30 +ok +0 % +cpu +1\.20 +1\.50 +uv_timer_t`, out.String())
	assert.Regexp(t, `timer-1k +ns/fire +30\.0 +10\.0 +3\.00 +1\.30 +over`, out.String())
	assert.Regexp(t, `close +ns/handle +15\.0 +10\.0 +1\.50 +- +0 % +wall +1\.20 +1\.50 +uv_close`, out.String())
	assert.Regexp(t, `timer-1k +ns/fire +- +- +- +1\.30 +skipped +- +cpu`, out.String())
	assert.Contains(t, out.String(), "timer-1k: not measured: no clock\n")
}
