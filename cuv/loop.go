package cuv

// #cgo pkg-config: libuv
// #cgo CFLAGS: -Wall -Wextra -O2
// #cgo asan CFLAGS: -DCUV_SEPARATE_CELLS
// #cgo LDFLAGS: -Wl,--wrap=sigaction
// #include "cuv.h"
import "C"

import (
	"syscall"
	"time"
	"unsafe"
)

// Options configure a loop. The zero value is what most programs want.
type Options struct {
	// IdleTime makes libuv measure the time spent waiting for events, for Loop.IdleTime.
	IdleTime bool
	// BlockSignal is blocked while the loop waits, so that it does not cut the wait short. libuv accepts SIGPROF only.
	BlockSignal syscall.Signal
}

// Owner is told what happened to the handle that it opened, on the loop's goroutine.
type Owner interface {
	// Complete delivers one completion: a timer that fired, a signal or an async that came, or what a poll found: its
	// readiness as payload, or a failure as a negative status that NewError describes. Others' status means nothing.
	Complete(status int, payload uint64)
	// LoopClosing is called once when the loop is closed while the handle is open; the loop closes the handle itself.
	LoopClosing()
}

// Interrupter is an Owner that has something to tidy up after a Complete of its own that panicked. Interrupted is called
// while the panic passes through.
type Interrupter interface {
	Owner
	Interrupted()
}

// Loop is one libuv loop with its two rings. Its methods are for the goroutine that runs it; its Poster is for everybody.
type Loop struct {
	c     *C.cuv_loop
	sub   []C.cuv_sub // C memory, as long as the ring's capacity
	nsub  int
	slots []slot  // by slot number; 0 is never used
	spare []int32 // slots whose cell waits for its next use
	bare  []int32 // slots without a cell

	done        []C.cuv_done // completions of the last tick, C memory
	next        int          // the first of done that is not yet dispatched
	dispatching bool
	delivering  bool // within Complete of an owner, or after it panicked
	state       loopState
	poster      *Poster
	asyncs      map[*Async]struct{} // the open ones, whose senders must be fenced off
}

type loopState uint8

const (
	loopOpen loopState = iota
	loopClosing
	loopClosed
)

// NewLoop opens a loop. It fails with an *Error when descriptors or memory have run out or an option is not supported.
func NewLoop(opts Options) (*Loop, error) {
	l := &Loop{slots: make([]slot, 1), poster: &Poster{}, asyncs: map[*Async]struct{}{}}
	idle := C.int(0)
	if opts.IdleTime {
		idle = 1
	}
	var call *C.char
	if err := NewError("uv_loop_init", int(C.cuv_loop_new(&l.c, idle, C.int(opts.BlockSignal), &call))); err != nil {
		err.(*Error).Op = C.GoString(call)
		return nil, err
	}
	l.growSubmissions()
	l.poster.loop = l.c
	return l, nil
}

// Handle gives C code the uv_loop_t, so that C libraries with libuv adapters can share the loop; nil once it is closed.
// Their handles must be closed before the loop is.
func (l *Loop) Handle() unsafe.Pointer {
	if l.state == loopClosed {
		return nil
	}
	return unsafe.Pointer(&l.c.uv)
}

// Poster returns the loop's door for other goroutines. Any goroutine may call it.
func (l *Loop) Poster() *Poster { return l.poster }

// Now is the monotonic time in nanoseconds from which timers that were submitted before the last Tick or Flush count.
func (l *Loop) Now() uint64 {
	if l.state == loopClosed {
		return 0
	}
	return uint64(l.c.now)
}

// Turn is how many turns are over; 0 once the loop is closed.
func (l *Loop) Turn() uint32 {
	if l.state == loopClosed {
		return 0
	}
	return uint32(l.c.turn)
}

// LoopTime is libuv's cached time of the last turn, in milliseconds; it never runs ahead of the clock.
func (l *Loop) LoopTime() uint64 {
	if l.state == loopClosed {
		return 0
	}
	return uint64(l.c.uv.time)
}

// IdleTime is the time spent waiting for events; 0 unless Options.IdleTime was set.
func (l *Loop) IdleTime() time.Duration {
	if l.state == loopClosed {
		return 0
	}
	return time.Duration(C.uv_metrics_idle_time(&l.c.uv))
}

func (l *Loop) growSubmissions() {
	C.cuv_grow_submissions(l.c)
	l.sub = unsafe.Slice(l.c.sub, int(l.c.sub_cap))
}

func (l *Loop) submit(op, flags uint16, s *slot, arg uint64) {
	if l.nsub == len(l.sub) {
		l.growSubmissions()
	}
	l.sub[l.nsub] = s.record(op, flags, arg)
	l.nsub++
}

func (s *slot) record(op, flags uint16, arg uint64) C.cuv_sub {
	return C.cuv_sub{
		arg:   C.uint64_t(arg),
		cell:  C.uintptr_t(uintptr(unsafe.Pointer(s.cell))),
		gen:   C.uint32_t(s.gen),
		op:    C.uint16_t(op),
		flags: C.uint16_t(flags),
	}
}

// Flush applies what was submitted so far without running the loop: for a handle whose fd the caller is about to close.
func (l *Loop) Flush() {
	if l.nsub == 0 || l.state == loopClosed {
		return
	}
	n := l.nsub
	l.nsub = 0
	C.cuv_flush(l.c, C.uint32_t(n))
}

// Version is libuv's, of the library that is linked at run time.
func Version() string { return C.GoString(C.uv_version_string()) }
