// Package leak fails a test binary that leaves something behind: a C handle, a file descriptor or a goroutine. It is for
// TestMain of the packages that open loops:
//
//	func TestMain(m *testing.M) { leak.Main(m) }
package leak

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uvasync/uvasync/cuv"
)

// Main runs the tests and exits; with 1, too, when they pass but leave something behind.
func Main(m *testing.M) {
	check, err := Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leak: cannot measure:", err)
		os.Exit(1)
	}
	code := m.Run()
	if code == 0 {
		if err := check(); err != nil {
			fmt.Fprintf(os.Stderr, "leak: left behind by the tests:\n%v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Start notes what the process has now. The function it returns says what is there beyond that, after a short wait for
// what is about to end by itself.
func Start() (check func() error, err error) {
	if err := warmUp(); err != nil {
		return nil, err
	}
	handles, files := cuv.ProcessHandles(), openFiles()
	goroutines := goleak.IgnoreCurrent()
	return func() error {
		return errors.Join(
			await(func() error { return compareHandles(handles, cuv.ProcessHandles()) }),
			await(func() error { return compareFiles(files, openFiles()) }),
			goleak.Find(goroutines),
		)
	}, nil
}

// warmUp opens what the first loop of a process opens for good (libuv's signal pipe), and what Go's poller does.
func warmUp() error {
	l, err := cuv.NewLoop(cuv.Options{})
	if err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	return errors.Join(r.Close(), w.Close())
}

// patience is how long what is about to end by itself may take.
var patience = 2 * time.Second

// await gives other goroutines time to finish, but never collects garbage: a descriptor that only its finalizer closes is
// a leak.
func await(check func() error) error {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if err := check(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

func compareHandles(before, after map[cuv.Kind]cuv.HandleCount) error {
	var errs []error
	for _, k := range cuv.Kinds {
		opened, closed := after[k].Opened-before[k].Opened, after[k].Closed-before[k].Closed
		if opened != closed {
			errs = append(errs, fmt.Errorf("%s handles: %d opened, %d closed", k, opened, closed))
		}
	}
	return errors.Join(errs...)
}

// openFiles returns what each descriptor of the process stands for.
func openFiles() map[string]string {
	files := map[string]string{}
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files
	}
	for _, e := range entries {
		// The one that read the directory is gone by now.
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			files[e.Name()] = target
		}
	}
	return files
}

func compareFiles(before, after map[string]string) error {
	if len(after) <= len(before) {
		return nil
	}
	var extra []string
	for _, fd := range slices.Sorted(maps.Keys(after)) {
		if before[fd] != after[fd] {
			extra = append(extra, fd+" -> "+after[fd])
		}
	}
	return fmt.Errorf("file descriptors: %d before, %d after: %s", len(before), len(after), strings.Join(extra, ", "))
}
