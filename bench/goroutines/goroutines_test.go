package goroutines

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

func TestCountsAreWhatWasAskedFor(t *testing.T) {
	delays := []uint64{1, 1_000_000, 1_000_001, 5_000_000}
	for _, c := range []struct {
		name string
		want measure.Work
		run  func() (measure.Sample, error)
	}{
		{"switch", measure.Work{Starts: 3, Events: 30}, func() (measure.Sample, error) { return Switch(3, 10) }},
		{"spawn", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return Spawn(10, 3) }},
		{"spawn-yield", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return SpawnYield(10, 3) }},
		{"park", measure.Work{Starts: 300, Events: 300}, func() (measure.Sample, error) { return Park(300) }},
		{"delay", measure.Work{Starts: 4, Events: 4}, func() (measure.Sample, error) { return Delay(delays) }},
		{"buffered channel", measure.Work{Starts: 2 + 99, Events: 99}, func() (measure.Sample, error) { return Channel(64, 99) }},
		{"rendezvous", measure.Work{Starts: 2 + 99, Events: 99}, func() (measure.Sample, error) { return Channel(0, 99) }},
		{"wake", measure.Work{Starts: 2 + 2*7, Events: 2 * 7}, func() (measure.Sample, error) { return Wake(7) }},
		{"group", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return Group(10, 0, 3) }},
		{"group with a limit", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return Group(10, 2, 3) }},
		{"tree", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return Tree(10, 3) }},
		{"pool", measure.Work{Starts: 1, Events: 30}, func() (measure.Sample, error) { return PoolUncontended(3, 30) }},
		{"pool with a line", measure.Work{Starts: 10, Events: 30}, func() (measure.Sample, error) { return PoolContended(10, 2, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.run()
			require.NoError(t, err)
			assert.NoError(t, s.SameAs(c.want, 0))
			assert.Positive(t, s.Wall)
		})
	}
}

// A goroutine has a stack of 2 KiB at least; a few of those may have lain ready.
func TestParkWeighsTheStacks(t *testing.T) {
	const n = 1_000
	s, err := Park(n)
	require.NoError(t, err)
	assert.Greater(t, s.Memory, uint64(1_900*n))
}

func TestDelayLastsAsLongAsTheLongest(t *testing.T) {
	s, err := Delay([]uint64{1, 20_000_000, 2})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Wall, 20*time.Millisecond)
}
