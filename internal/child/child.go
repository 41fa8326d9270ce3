// Package child runs the body of one test in a process of its own, for tests of what belongs to a whole process: signal
// dispositions, crashes, how it ends. The process is the test binary again, told by its environment which test it is:
//
//	func TestSignal_Storm(t *testing.T) {
//		child.Pass(t, func() { ... }) // runs in the child, and may fail t there
//	}
package child

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	variable = "UVASYNC_TEST_CHILD"
	// defaultLimit ends a child that hangs; none that is well comes near it.
	defaultLimit = 2 * time.Minute
	// grace is how long a child that was asked for its stacks has to write them.
	grace = 5 * time.Second
)

// Option is an option of Start, Run and Pass.
type Option func(*Process)

// Limit is how long the child may take.
func Limit(d time.Duration) Option { return func(p *Process) { p.limit = d } }

// Env adds to the child's environment, as "NAME=value".
func Env(variables ...string) Option {
	return func(p *Process) { p.cmd.Env = append(p.cmd.Env, variables...) }
}

// Ignoring starts the child with signals ignored, as nohup does.
func Ignoring(names ...string) Option {
	return func(p *Process) {
		p.under = []string{"/bin/sh", "-c", "trap '' " + strings.Join(names, " ") + `; exec "$@"`, "sh"}
	}
}

// Process is a child that runs.
type Process struct {
	cmd    *exec.Cmd
	under  []string // a command to run the test binary with
	output output
	limit  time.Duration
	late   atomic.Bool
	done   chan struct{} // closed when the child has ended
}

// Result is how a child ended.
type Result struct {
	Output   string         // what it wrote, standard error included
	ExitCode int            // -1 when a signal ended it
	Signal   syscall.Signal // the signal that ended it, or 0
	TimedOut bool           // it was ended because it took too long; Output has its stacks
}

func (r Result) String() string {
	how := fmt.Sprintf("exit code %d", r.ExitCode)
	if r.Signal != 0 {
		how = fmt.Sprintf("signal %d (%v)", int(r.Signal), r.Signal)
	}
	if r.TimedOut {
		how = "out of time, " + how
	}
	return fmt.Sprintf("child: %s, output:\n\t| %s", how, strings.ReplaceAll(strings.TrimSpace(r.Output), "\n", "\n\t| "))
}

// Start has body run in a child, as the test t, and goes on beside it. It may be called once a test or subtest, before
// anything that the child should not do. In the child it does not return: t ends with body, and so does the process, with
// exit code 0 unless body failed t. A child that still runs when t ends is killed.
func Start(t *testing.T, body func(), options ...Option) *Process {
	t.Helper()
	if name := os.Getenv(variable); name == t.Name() {
		body()
		t.SkipNow() // nothing of the parent's part
	} else if name != "" {
		t.Fatalf("child: this process is for %s", name)
	}
	p := &Process{limit: defaultLimit, done: make(chan struct{})}
	p.output.grown.L = &p.output.mu
	p.cmd = exec.Command(os.Args[0])
	// The race detector would sleep for a second at the end.
	p.cmd.Env = append(os.Environ(), variable+"="+t.Name(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.WaitDelay = grace // a grandchild may hold the pipe
	for _, option := range options {
		option(p)
	}
	if len(p.under) > 0 {
		p.cmd.Path = p.under[0]
	}
	// The timeout is for a child whose parent is gone.
	p.cmd.Args = append(p.under, os.Args[0], "-test.run="+pattern(t.Name()), "-test.count=1", "-test.v",
		fmt.Sprint("-test.timeout=", p.limit+2*grace))
	if err := p.start(); err != nil {
		t.Fatalf("child: %v", err)
	}
	go p.wait()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // an error means that it has ended
		<-p.done
	})
	return p
}

// start lets the child begin with the signals at their defaults, also where the tests run under nohup or in the background
// of a script: what a parent ignores its children ignore too, but what it handles they do not.
func (p *Process) start() error {
	sink := make(chan os.Signal, 1)
	signal.Notify(sink, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(sink)
	return p.cmd.Start()
}

// pattern makes -test.run match one test, or subtest, exactly.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

func (p *Process) wait() {
	ask := time.AfterFunc(p.limit, func() {
		p.late.Store(true)
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // Go answers with its stacks
	})
	kill := time.AfterFunc(p.limit+grace, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait() // its state says how it ended
	ask.Stop()
	kill.Stop()
	p.output.end()
	close(p.done)
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends the child a signal; nothing happens when it has ended.
func (p *Process) Signal(num syscall.Signal) { _ = p.cmd.Process.Signal(num) }

// Await waits until the child has written text; false when it ended without.
func (p *Process) Await(text string) bool { return p.output.await(text) }

// Wait waits for the child's end.
func (p *Process) Wait() Result {
	<-p.done
	state := p.cmd.ProcessState
	r := Result{Output: p.output.String(), ExitCode: state.ExitCode(), TimedOut: p.late.Load()}
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		r.Signal = status.Signal()
	}
	return r
}

// Passed reports whether the body ran to its end and did not fail its test.
func (r Result) Passed() bool {
	return r.ExitCode == 0 && !r.TimedOut && strings.Contains(r.Output, "--- SKIP: ")
}

// Run is Start and Wait.
func Run(t *testing.T, body func(), options ...Option) Result {
	t.Helper()
	return Start(t, body, options...).Wait()
}

// Pass is Run; t fails when body failed it in the child, or the child crashed, hung, or ended in any other way.
func Pass(t *testing.T, body func(), options ...Option) Result {
	t.Helper()
	r := Run(t, body, options...)
	if !r.Passed() {
		t.Errorf("%v", r)
	}
	return r
}
