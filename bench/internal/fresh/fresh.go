// Package fresh runs one side of a round in a new process of this program, for
// what an earlier round would leave its mark on: the runtime keeps the
// descriptor of every goroutine that has ended, and the next one that has it
// seems to weigh so much less.
package fresh

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Func is one side of a round, with its amount of work.
type Func func(n int) (measure.Sample, error)

// variable tells a new process what it is there for: "name/n".
const variable = "UVASYNC_BENCH_FRESH"

// Main is the first thing that main and every TestMain must call, with the
// functions that Run may name. In a process that Run has started it does not
// return.
func Main(known map[string]Func) {
	task := os.Getenv(variable)
	if task == "" {
		return
	}
	if err := perform(task, known); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func perform(task string, known map[string]Func) error {
	name, number, _ := strings.Cut(task, "/")
	n, err := strconv.Atoi(number)
	fn := known[name]
	if fn == nil || err != nil {
		return fmt.Errorf("%s=%q names nothing that this program can do", variable, task)
	}
	s, err := fn(n)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// Run has the function of that name run in a new process, with the GOMAXPROCS
// that this one has at the moment, and returns its sample.
func Run(name string, n int) (s measure.Sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(),
		fmt.Sprintf("%s=%s/%d", variable, name, n),
		fmt.Sprintf("GOMAXPROCS=%d", runtime.GOMAXPROCS(0)),
		// Otherwise the first stack of a goroutine is as large as those at the last collection were on average.
		"GODEBUG=adaptivestackstart=0")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%s in a process of its own: %w: %s", name, err, strings.TrimSpace(complaint.String()))
	}
	return s, json.Unmarshal(out, &s)
}
