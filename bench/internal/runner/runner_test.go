package runner

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/cases"
	"github.com/uvasync/uvasync/bench/internal/fresh"
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/raw"
	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/reactor"
)

func TestMain(m *testing.M) {
	fresh.Main(cases.Fresh())
	os.Exit(m.Run())
}

func fake(ours, baseline func() measure.Sample) cases.Case {
	return cases.Case{
		Name:   "fake",
		Per:    func(w measure.Work) uint64 { return w.Events },
		Ours:   func() (measure.Sample, error) { return ours(), nil },
		Theirs: func() (measure.Sample, error) { return baseline(), nil },
	}
}

func TestRunAlternatesAndDropsTheFirstRound(t *testing.T) {
	var order string
	sample := measure.Sample{Wall: 1_000_000, CPU: 500, Work: measure.Work{Events: 10}}
	all, err := Run(fake(
		func() measure.Sample { order += "o"; sample.Wall /= 2; return sample },
		func() measure.Sample {
			order += "b"
			return measure.Sample{Wall: 1000, CPU: 100, Work: measure.Work{Events: 10}}
		},
	), 3)
	require.NoError(t, err)
	assert.Equal(t, "ob"+"bo"+"ob"+"bo", order)
	wall := all[cases.Wall]
	assert.Equal(t, []float64{25_000, 12_500, 6_250}, wall.Ours)
	assert.Equal(t, []float64{100, 100, 100}, wall.Baseline)
	assert.Equal(t, 125.0, wall.Ratio())
	assert.Equal(t, []float64{5, 5, 5}, all[cases.CPU].Ratios())
}

func TestRunCountsMemoryWhereThatIsTheFigure(t *testing.T) {
	weighing := func(memory uint64) func() measure.Sample {
		return func() measure.Sample {
			return measure.Sample{Wall: 1, CPU: 1, Memory: memory, Work: measure.Work{Events: 10}}
		}
	}
	c := fake(weighing(3_000), weighing(2_000))
	all, err := Run(c, 1)
	require.NoError(t, err)
	assert.NotContains(t, all, cases.Memory)

	c.Clock = cases.Memory
	all, err = Run(c, 1)
	require.NoError(t, err)
	assert.Equal(t, []float64{300}, all[cases.Memory].Ours)
	assert.Equal(t, 1.5, all[cases.Memory].Ratio())
	assert.Equal(t, 1.0, all[cases.CPU].Ratio())
}

func TestRunSetsGOMAXPROCSForBothSidesAndPutsItBack(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	var seen []int
	side := func() measure.Sample {
		seen = append(seen, runtime.GOMAXPROCS(0))
		return measure.Sample{Wall: 1, CPU: 1, Work: measure.Work{Events: 1}}
	}
	c := fake(side, side)
	_, err := Run(c, 1)
	require.NoError(t, err)
	c.Procs = 1
	_, err = Run(c, 1)
	require.NoError(t, err)
	assert.Equal(t, []int{3, 3, 3, 3, 1, 1, 1, 1}, seen)
	assert.Equal(t, 3, runtime.GOMAXPROCS(0))
}

func TestRunHasTheBaselineWithBothGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for procs, want := range [][]int{{3, 3, 1, 3, 1, 3}, {1, 1, 3, 1, 3, 1}} {
		var seen []int
		side := func() measure.Sample {
			seen = append(seen, runtime.GOMAXPROCS(0))
			return measure.Sample{Wall: 600, CPU: 1, Work: measure.Work{Events: 1}}
		}
		c := fake(side, func() measure.Sample {
			s := side()
			s.Wall = 100 * time.Duration(runtime.GOMAXPROCS(0))
			return s
		})
		c.Procs, c.Both = procs, true
		all, err := Run(c, 1)
		require.NoError(t, err)
		assert.Equal(t, want, seen, "the order changes")
		assert.Equal(t, 6.0, all[cases.Wall].BestRatio())
	}
}

func TestRunRefusesUnequalWork(t *testing.T) {
	_, err := Run(fake(
		func() measure.Sample { return measure.Sample{Wall: 1, Work: measure.Work{Events: 10}} },
		func() measure.Sample { return measure.Sample{Wall: 1, Work: measure.Work{Events: 11}} },
	), 1)
	assert.EqualError(t, err, "unequal work: events 10 and 11 (slack 0)")
}

func TestRunNamesTheSideThatFailed(t *testing.T) {
	broken := errors.New("broken")
	c := fake(func() measure.Sample { return measure.Sample{} }, nil)
	c.Theirs = func() (measure.Sample, error) { return measure.Sample{}, broken }
	_, err := Run(c, 1)
	assert.ErrorIs(t, err, broken)
	assert.EqualError(t, err, "baseline: broken")
}

// Run itself refuses a round in which the two sides did not do the same.
func TestBothSidesOfEveryCaseDoTheSameWork(t *testing.T) {
	require.NoError(t, onlyOpenAndClose(), "what the process opens once and keeps is not to count")
	fds := openFiles(t)
	for _, c := range cases.List(200) {
		t.Run(c.Name, func(t *testing.T) {
			all, err := Run(c, 1)
			if errors.Is(err, raw.ErrNoVirtualClock) {
				t.Skip(err)
			}
			require.NoError(t, err)
			for clock, f := range all {
				assert.Positive(t, f.Ours[0], clock)
				assert.Positive(t, f.Baseline[0], clock)
			}
		})
	}
	for kind, n := range cuv.ProcessHandles() {
		assert.Equal(t, n.Opened, n.Closed, "%v handles opened and closed", kind)
	}
	assert.Equal(t, fds, openFiles(t), "open files")
}

func onlyOpenAndClose() error {
	loop, err := reactor.New(reactor.Options{})
	if err != nil {
		return err
	}
	_, err = raw.TickEmpty(1)
	return errors.Join(err, loop.Close())
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}
