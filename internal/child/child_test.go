package child_test

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/uvasync/uvasync/internal/child"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheBodyRunsInAnotherProcess(t *testing.T) {
	here := os.Getpid()
	r := child.Pass(t, func() { fmt.Println("body in", os.Getpid(), "of", os.Getppid(), "with", os.Getenv("EXTRA")) }, child.Env("EXTRA=x"))
	assert.Contains(t, r.Output, fmt.Sprintf("of %d with x", here))
	assert.NotContains(t, r.Output, fmt.Sprintf("body in %d ", here))
	assert.Zero(t, r.Signal)
}

func TestASubtestWithAnOddName(t *testing.T) {
	for _, name := range []string{"a (b)", "a (b) c", "with/slash"} {
		t.Run(name, func(t *testing.T) {
			r := child.Pass(t, func() { fmt.Println("body of", t.Name()) })
			assert.Equal(t, 1, strings.Count(r.Output, "body of"), r.Output)
		})
	}
}

func TestHowItEndedIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		body func(t *testing.T)
		code int
		num  syscall.Signal
		text string
	}{
		"failed":  {func(t *testing.T) { t.Fatal("no good") }, 1, 0, "no good"},
		"exit":    {func(*testing.T) { os.Exit(7) }, 7, 0, ""},
		"panic":   {func(*testing.T) { panic("boom") }, 2, 0, "boom"},
		"killed":  {func(*testing.T) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }, -1, syscall.SIGKILL, ""},
		"no body": {func(t *testing.T) { os.Exit(0) }, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := child.Run(t, func() { c.body(t) })
			assert.False(t, r.Passed())
			assert.False(t, r.TimedOut)
			assert.Equal(t, c.code, r.ExitCode)
			assert.Equal(t, c.num, r.Signal)
			assert.Contains(t, r.Output, c.text)
			assert.NotEmpty(t, r.String())
		})
	}
}

func TestOneThatHangsIsEndedAndShowsItsStacks(t *testing.T) {
	r := child.Run(t, func() { hang() }, child.Limit(100*time.Millisecond))
	assert.True(t, r.TimedOut)
	assert.False(t, r.Passed())
	assert.Contains(t, r.Output, "child_test.hang")
	assert.Contains(t, r.String(), "out of time")
}

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

func TestTalkingToOneThatRuns(t *testing.T) {
	p := child.Start(t, func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1)
		fmt.Println("ready")
		fmt.Println("got", <-c)
	})
	require.True(t, p.Await("ready\n"))
	p.Signal(syscall.SIGUSR1)
	assert.False(t, p.Await("never written"))
	assert.True(t, p.Wait().Passed())
	assert.Contains(t, p.Wait().Output, "got user defined signal 1")
	p.Signal(syscall.SIGUSR1)
	assert.NotZero(t, p.PID())
}

func TestOneThatStillRunsIsKilledAtTheEnd(t *testing.T) {
	var p *child.Process
	t.Run("test", func(t *testing.T) { p = child.Start(t, func() { fmt.Println("ready"); hang() }) })
	if p != nil {
		assert.Equal(t, syscall.SIGKILL, p.Wait().Signal)
	}
}

func TestIgnoring(t *testing.T) {
	child.Pass(t, func() {
		assert.True(t, signal.Ignored(syscall.SIGHUP))
		assert.True(t, signal.Ignored(syscall.SIGINT))
	}, child.Ignoring("HUP", "INT"))
}
