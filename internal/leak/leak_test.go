package leak

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
)

func start(t *testing.T) func() error {
	t.Helper()
	patient := patience
	patience = 50 * time.Millisecond
	t.Cleanup(func() { patience = patient })
	check, err := Start()
	require.NoError(t, err)
	return check
}

func TestNothingLeftBehindIsNoError(t *testing.T) {
	check := start(t)
	l, err := cuv.NewLoop(cuv.Options{})
	require.NoError(t, err)
	require.NoError(t, new(cuv.Timer).Start(l, owner{}, 1, false))
	require.NoError(t, l.Close())
	assert.NoError(t, check())
}

func TestAnOpenHandleIsNamedByItsKind(t *testing.T) {
	check := start(t)
	l, err := cuv.NewLoop(cuv.Options{})
	require.NoError(t, err)
	require.NoError(t, new(cuv.Timer).Start(l, owner{}, 1, false))
	l.Flush()
	err = check()
	assert.ErrorContains(t, err, "timer handles: 1 opened, 0 closed")
	assert.ErrorContains(t, err, "file descriptors", "the loop itself is open too")
	require.NoError(t, l.Close())
}

func TestAnOpenDescriptorIsNamedByItsTarget(t *testing.T) {
	check := start(t)
	f, err := os.Open("/dev/null")
	require.NoError(t, err)
	assert.ErrorContains(t, check(), "/dev/null")
	require.NoError(t, f.Close())
}

func TestAGoroutineThatIsLeftIsShown(t *testing.T) {
	check := start(t)
	end := make(chan struct{})
	go func() { <-end }()
	assert.ErrorContains(t, check(), "TestAGoroutineThatIsLeftIsShown")
	close(end)
	assert.NoError(t, check())
}

type owner struct{}

func (owner) Complete(int, uint64) {}
func (owner) LoopClosing()         {}
