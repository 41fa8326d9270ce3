// Package measure holds what both sides of a case share: the figure of one
// round, the counts of the work behind it, the clock, and the random numbers.
package measure

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// Work counts what a round did. The two sides of a case are compared by it.
type Work struct {
	Starts uint64 // timers, deadlines, polls, coroutines, messages or futures that were started
	Stops  uint64 // stopped again before they fired
	Events uint64 // callbacks that ran; coroutines that got to their end, switches, messages received, wake-ups, acquisitions
	Bytes  uint64 // bytes read
	Closes uint64 // handles that were closed and freed
	Turns  uint64 // turns of the loop
}

// Sample is the figure of one round on one side. Only the timed part counts,
// not the set-up and the teardown.
type Sample struct {
	Wall time.Duration
	CPU  time.Duration // of the whole process
	// Memory is what Held grew by, in bytes. 0 where time is measured.
	Memory uint64
	Work
}

// SameAs compares the work of two samples. Turns are left out: how many a side
// needs is its own affair. Each count may be off by slack.
func (w Work) SameAs(other Work, slack uint64) error {
	pairs := []struct {
		name string
		a, b uint64
	}{
		{"starts", w.Starts, other.Starts},
		{"stops", w.Stops, other.Stops},
		{"events", w.Events, other.Events},
		{"bytes", w.Bytes, other.Bytes},
		{"closes", w.Closes, other.Closes},
	}
	for _, p := range pairs {
		if max(p.a, p.b)-min(p.a, p.b) > slack {
			return fmt.Errorf("unequal work: %s %d and %d (slack %d)", p.name, p.a, p.b, slack)
		}
	}
	return nil
}

// Timed runs fn and adds what it cost to s.
func (s *Sample) Timed(fn func() error) error {
	cpu := processCPU()
	wall := time.Now()
	err := fn()
	s.Wall += time.Since(wall) // first, so that it does not pay for the system call below
	s.CPU += processCPU() - cpu
	return err
}

const clockProcessCPU = 2 // CLOCK_PROCESS_CPUTIME_ID

// processCPU is finer than getrusage, which counts in microseconds.
func processCPU() time.Duration {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockProcessCPU, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}
