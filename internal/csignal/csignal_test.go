package csignal_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/child"
	"github.com/uvasync/uvasync/internal/csignal"
)

const num = syscall.SIGUSR1

func TestHandlersCountAndAreTakenAway(t *testing.T) {
	child.Pass(t, func() {
		before := csignal.Current(num)
		assert.NotZero(t, before.Flags&csignal.OnStack, "Go's: %v", before)
		saved := csignal.Save(num)
		csignal.Install(num, csignal.Plain)
		plain := csignal.Current(num)
		assert.Zero(t, plain.Flags&csignal.SigInfo)
		csignal.Raise(num)
		csignal.Install(num, csignal.Info)
		assert.NotEqual(t, plain, csignal.Current(num))
		csignal.Raise(num)
		assert.Equal(t, 2, csignal.Count(num))
		assert.Zero(t, csignal.Count(syscall.SIGUSR2))

		csignal.Ignore(num)
		csignal.Raise(num)
		assert.Contains(t, csignal.Current(num).String(), "SIG_IGN")
		csignal.Default(num)
		assert.Contains(t, csignal.Current(num).String(), "SIG_DFL")
		saved.Restore()
		assert.Equal(t, before, csignal.Current(num))
	})
}

func TestTheChainingHandlerCallsWhatItReplaced(t *testing.T) {
	child.Pass(t, func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, num)
		csignal.Install(num, csignal.Chaining)
		csignal.Raise(num)
		<-c
		assert.Equal(t, 1, csignal.Count(num))
	})
}

func TestAStormReachesTheProcess(t *testing.T) {
	child.Pass(t, func() {
		csignal.Install(num, csignal.Info)
		csignal.Storm(num, 1000, 3)
		assert.NotZero(t, csignal.Count(num))
		assert.LessOrEqual(t, csignal.Count(num), 3000)
	})
}

func TestABrokenPipeSignalsTheThreadThatWrites(t *testing.T) {
	child.Pass(t, func() {
		csignal.Install(syscall.SIGPIPE, csignal.Info)
		require.ErrorIs(t, csignal.WriteBroken(), syscall.EPIPE)
		assert.Equal(t, 1, csignal.Count(syscall.SIGPIPE))
	})
}

// The trap: on such a thread nobody keeps SIGPIPE from killing the process.
func TestABrokenPipeWithoutAHandlerKills(t *testing.T) {
	r := child.Run(t, func() { _ = csignal.WriteBroken() })
	assert.Equal(t, syscall.SIGPIPE, r.Signal, "%v", r)
}
