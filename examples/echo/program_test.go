package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testPatience bounds every wait of a test; nothing comes near it unless something is wrong.
const testPatience = time.Minute

// program is a running child.
type program struct {
	t         *testing.T
	cmd       *exec.Cmd
	out, errs transcript
	addr      string
	ended     chan struct{}
}

// start starts the program on a free port and waits until it listens.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	return startUnder(t, nil, args...)
}

// startUnder is start through a command that runs the rest of its arguments, such as sh -c 'exec "$@"' sh.
func startUnder(t *testing.T, wrapper []string, args ...string) *program {
	t.Helper()
	p := launch(t, wrapper, append([]string{"-addr", "127.0.0.1:0"}, args...)...)
	p.addr = p.out.await(t, regexp.MustCompile(`listening on (\S+) `))[1]
	return p
}

// launch starts the program with exactly these arguments.
func launch(t *testing.T, wrapper []string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	argv := append(append(wrapper[:len(wrapper):len(wrapper)], self), args...)
	p := &program{t: t, cmd: exec.Command(argv[0], argv[1:]...), ended: make(chan struct{})}
	// The race detector would have every program sleep for a second before it exits.
	p.cmd.Env = append(os.Environ(), asProgram+"=1", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the exit code is read from ProcessState
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *program) signal(sig syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(sig))
}

// exit waits for the end and returns the exit code.
func (p *program) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(testPatience):
		require.FailNow(p.t, "the program does not end", "%s%s", p.out.String(), p.errs.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// result is what the summary says.
type result struct {
	served, peak, echoed, broken, cutOff, unsent int
}

var summary = regexp.MustCompile(`served (\d+) connections?, at most (\d+) at once; echoed (\d+) bytes(?:; (\d+) broke off, the last with: [^;\n]*)?(?:; (\d+) cut off with (\d+) bytes unsent)?\n$`)

// terminate ends the program by SIGTERM, which must be in order and without a word of complaint.
func (p *program) terminate() result {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	require.Equal(p.t, 0, p.exit(), p.errs.String())
	require.Empty(p.t, p.errs.String())
	return p.result()
}

func (p *program) result() result {
	p.t.Helper()
	m := summary.FindStringSubmatch(p.out.String())
	require.NotNil(p.t, m, "no summary in %q", p.out.String())
	figure := func(i int) int {
		n, _ := strconv.Atoi(m[i])
		return n
	}
	return result{figure(1), figure(2), figure(3), figure(4), figure(5), figure(6)}
}

// resident is the memory of the program in bytes.
func (p *program) resident() int {
	p.t.Helper()
	return p.proc("statm", 1) * os.Getpagesize()
}

// cpuTime is what the program has used so far; the kernel counts in hundredths of a second.
func (p *program) cpuTime() time.Duration {
	p.t.Helper()
	return time.Duration(p.proc("stat", 13)+p.proc("stat", 14)) * 10 * time.Millisecond
}

// proc reads a field of a file in /proc, whose only words with spaces in them are names, in parentheses.
func (p *program) proc(file string, field int) int {
	p.t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/" + file)
	require.NoError(p.t, err)
	plain := regexp.MustCompile(`\(.*\)`).ReplaceAll(text, []byte("-"))
	n, err := strconv.Atoi(strings.Fields(string(plain))[field])
	require.NoError(p.t, err)
	return n
}

// requireIdle watches the program for a while in which it has nothing to do.
func (p *program) requireIdle() {
	p.t.Helper()
	const watch = 500 * time.Millisecond
	before := p.cpuTime()
	time.Sleep(watch)
	require.Less(p.t, p.cpuTime()-before, watch/4, "it spins")
}

// transcript is what a program has written so far.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
	grew chan struct{}   // guarded by mu: closed at the next Write; nil while nobody waits
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.grew != nil {
		close(w.grew)
		w.grew = nil
	}
	return w.text.Write(p)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// look returns the text, and a channel that is closed when there is more.
func (w *transcript) look() (string, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.grew == nil {
		w.grew = make(chan struct{})
	}
	return w.text.String(), w.grew
}

// await waits until the text matches, and returns the match and its groups.
func (w *transcript) await(t *testing.T, want *regexp.Regexp) []string {
	t.Helper()
	deadline := time.After(testPatience)
	for {
		text, grew := w.look()
		if m := want.FindStringSubmatch(text); m != nil {
			return m
		}
		select {
		case <-grew:
		case <-deadline:
			require.FailNow(t, "it never says so", "want %v in %q", want, text)
		}
	}
}

// lines returns what was written, line by line.
func (w *transcript) lines() []string {
	return strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
}
