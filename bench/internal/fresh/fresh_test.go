package fresh

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

func TestMain(m *testing.M) {
	Main(map[string]Func{
		"process": func(n int) (measure.Sample, error) {
			return measure.Sample{Memory: uint64(os.Getpid()), Work: measure.Work{Starts: uint64(n), Events: uint64(runtime.GOMAXPROCS(0))}}, nil
		},
		"failure": func(int) (measure.Sample, error) { return measure.Sample{}, errors.New("it is broken") },
	})
	os.Exit(m.Run())
}

func TestRunIsInAnotherProcess(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s, err := Run("process", 7)
	require.NoError(t, err)
	assert.NotEqual(t, uint64(os.Getpid()), s.Memory)
	assert.Equal(t, uint64(7), s.Starts)
	assert.Equal(t, uint64(3), s.Events, "GOMAXPROCS goes with it")
}

func TestRunSaysWhatFailed(t *testing.T) {
	_, err := Run("failure", 1)
	assert.ErrorContains(t, err, "failure in a process of its own")
	assert.ErrorContains(t, err, "it is broken")
}

func TestRunKnowsOnlyWhatMainWasGiven(t *testing.T) {
	_, err := Run("nonesuch", 1)
	assert.ErrorContains(t, err, `"nonesuch/1" names nothing that this program can do`)
}
