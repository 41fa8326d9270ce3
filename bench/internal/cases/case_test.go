package cases

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

var three = []Case{{Name: "timer-1"}, {Name: "timer-2"}, {Name: "poll"}}

func TestSelectMatchesBeginningsInTheOrderOfTheList(t *testing.T) {
	chosen, err := Select(three, []string{"poll", "timer"})
	require.NoError(t, err)
	assert.Equal(t, []string{"timer-1", "timer-2", "poll"}, Names(chosen))

	chosen, err = Select(three, []string{"timer-2"})
	require.NoError(t, err)
	assert.Equal(t, []string{"timer-2"}, Names(chosen))

	chosen, err = Select(three, nil)
	require.NoError(t, err)
	assert.Len(t, chosen, 3)
}

func TestSelectNamesTheCasesWhenOneIsUnknown(t *testing.T) {
	_, err := Select(three, []string{"timer", "tmier"})
	assert.EqualError(t, err, `no case begins with "tmier"; the cases are: timer-1, timer-2, poll`)
}

func TestCostIsByTheClock(t *testing.T) {
	s := measure.Sample{Wall: 1000, CPU: 500, Memory: 20_000, Work: measure.Work{Events: 10}}
	wall, err := Case{Per: perEvent}.Cost(Wall, s)
	require.NoError(t, err)
	assert.Equal(t, 100.0, wall)
	cpu, err := Case{Per: perEvent}.Cost(CPU, s)
	require.NoError(t, err)
	assert.Equal(t, 50.0, cpu)
	memory, err := Case{Per: perEvent}.Cost(Memory, s)
	require.NoError(t, err)
	assert.Equal(t, 2000.0, memory)
	_, err = Case{Per: perClose}.Cost(CPU, s)
	assert.EqualError(t, err, "no work was done")
}

func TestEveryCaseOfTheListIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range List(1_000) {
		assert.False(t, seen[c.Name], "%s is there twice", c.Name)
		seen[c.Name] = true
		assert.NotEmpty(t, c.Unit, c.Name)
		assert.NotEmpty(t, c.Baseline, c.Name)
		assert.Contains(t, []Clock{CPU, Wall, Memory}, c.Clock, c.Name)
		assert.NotNil(t, c.Per, c.Name)
		assert.NotNil(t, c.Ours, c.Name)
		assert.NotNil(t, c.Theirs, c.Name)
		if c.Both {
			assert.LessOrEqual(t, c.Procs, 1, c.Name)
		}
	}
}

func TestNeedFilesSaysWhatIsMissing(t *testing.T) {
	assert.NoError(t, needFiles(1))
	err := needFiles(1 << 30)
	assert.ErrorIs(t, err, ErrTooFewFiles)
	assert.ErrorContains(t, err, "ulimit -n")
}
