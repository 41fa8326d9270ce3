package ours

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
		{"scope", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return ScopeSpawn(10, 3) }},
		{"scope tree", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return ScopeTree(10, 3) }},
		{"group", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return Group(10, 0, 3) }},
		{"group with a limit", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return Group(10, 2, 3) }},
		{"scope with others", measure.Work{Starts: 30, Events: 30}, func() (measure.Sample, error) { return ScopeFinish(100, 10, 3) }},
		{"scope that has seen many", measure.Work{Starts: 1_000, Events: 1_000}, func() (measure.Sample, error) { return ScopeMemory(2_000) }},
		{"scope of queued ones", measure.Work{Starts: 3_000, Stops: 3_000}, func() (measure.Sample, error) { return ScopeQueued(3_000) }},
		{"scopes of queued ones", measure.Work{Starts: 3_000, Stops: 3_000}, func() (measure.Sample, error) { return ScopesQueued(3_000) }},
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

func TestDelayLastsAsLongAsTheLongest(t *testing.T) {
	s, err := Delay([]uint64{1, 20_000_000, 2})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Wall, 20*time.Millisecond)
}
