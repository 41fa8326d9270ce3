package measure

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWeighedCountsWhatIsStillHeld(t *testing.T) {
	const size = 32 << 20
	var s Sample
	var kept []byte
	require.NoError(t, s.Weighed(func() error {
		kept = make([]byte, size)
		_ = make([]byte, size)
		return nil
	}))
	runtime.KeepAlive(kept)
	assert.InDelta(t, size, s.Memory, size/10)
	assert.Positive(t, s.Wall)
}

func TestWeighedCountsStacks(t *testing.T) {
	const n = 10_000
	var s Sample
	release := make(chan struct{})
	defer close(release)
	require.NoError(t, s.Weighed(func() error {
		for range n {
			go func() { <-release }()
		}
		return nil
	}))
	assert.Greater(t, s.Memory, uint64(2_000*n))
}

func TestWeighedRefusesWhatWeighsNothing(t *testing.T) {
	kept := make([]byte, 32<<20)
	var s Sample
	err := s.Weighed(func() error {
		runtime.KeepAlive(kept)
		kept = nil
		return nil
	})
	assert.ErrorContains(t, err, "holds no memory")
	assert.Zero(t, s.Memory)

	failed := errors.New("failed")
	assert.ErrorIs(t, s.Weighed(func() error { return failed }), failed)
}
