package cuv_test

import (
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
)

// owner notes what it is told; fn, if set, is called as well.
type owner struct {
	fn       func(status int, payload uint64)
	statuses []int
	payloads []uint64
	closings int
}

func (o *owner) Complete(status int, payload uint64) {
	o.statuses = append(o.statuses, status)
	o.payloads = append(o.payloads, payload)
	if o.fn != nil {
		o.fn(status, payload)
	}
}

func (o *owner) LoopClosing() { o.closings++ }

const ms = uint64(time.Millisecond)

func newLoop(t *testing.T) *cuv.Loop {
	t.Helper()
	l, err := cuv.NewLoop(cuv.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

// turn is Tick and Dispatch.
func turn(t *testing.T, l *cuv.Loop, block bool) int {
	t.Helper()
	n, err := l.Tick(block)
	require.NoError(t, err)
	l.Dispatch()
	return n
}

// turnUntil turns the loop until done. It does not sleep: what it waits for may not wake it.
func turnUntil(t *testing.T, l *cuv.Loop, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(end) {
			t.Fatal("what was waited for has not come")
		}
		turn(t, l, false)
	}
}

func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// monotonic reads the clock that libuv reads.
func monotonic() int64 {
	var ts syscall.Timespec
	const clockMonotonic = 1
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}
