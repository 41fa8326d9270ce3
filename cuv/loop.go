package cuv

// #cgo pkg-config: libuv
// #cgo CFLAGS: -Wall -Wextra -O2
// #cgo asan CFLAGS: -DCUV_SEPARATE_CELLS
// #cgo LDFLAGS: -Wl,--wrap=sigaction
// #include "cuv.h"
import "C"

import (
	"fmt"
	"slices"
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

// Dispatching reports whether Dispatch is running.
func (l *Loop) Dispatching() bool { return l.dispatching }

// Undelivered is how many completions of the last Tick wait for Dispatch; after a panic in one, say.
func (l *Loop) Undelivered() int { return len(l.done) - l.next }

// Tick is one turn: it applies the submissions, runs libuv once, and returns how many completions wait for Dispatch. With
// block it sleeps until there is one, or until somebody posts; it does not sleep while posts are waiting, and does
// nothing while completions are.
// ErrClosed, or ErrDispatching within Dispatch.
func (l *Loop) Tick(block bool) (int, error) {
	if l.state == loopClosed {
		return 0, ErrClosed
	}
	if l.dispatching {
		return 0, ErrDispatching
	}
	if n := l.Undelivered(); n > 0 {
		return n, nil
	}
	return l.tick(block), nil
}

func (l *Loop) tick(block bool) int {
	sleep := C.int(0)
	if block && l.poster.mayWait() {
		sleep = 1
	}
	n := l.nsub
	l.nsub = 0
	completions := int(C.cuv_tick(C.uintptr_t(uintptr(unsafe.Pointer(l.c))), C.uint32_t(n), sleep))
	if block {
		l.poster.awake()
	}
	l.done, l.next = nil, 0
	if completions > 0 {
		l.done = unsafe.Slice(l.c.done[1-l.c.writing].records, completions)
	}
	if l.c.disorder != 0 {
		l.c.disorder = 0
		sortTimers(l.done)
	}
	return completions
}

// Dispatch hands the completions of the last Tick to their owners, then runs what was posted until now. A panic passes
// through; what is left is delivered by the next Dispatch.
func (l *Loop) Dispatch() {
	if l.dispatching || l.state != loopOpen {
		return
	}
	l.dispatching = true
	defer l.endDispatch()
	for l.next < len(l.done) {
		d := &l.done[l.next]
		l.next++
		if d.kind >= C.CUV_KINDS {
			l.deliverOwn(d)
			continue
		}
		// Another generation means that the handle was stopped, restarted or closed after this was recorded.
		if s := &l.slots[d.slot]; s.gen == uint32(d.gen) {
			l.delivering = true
			s.owner.Complete(int(d.status), uint64(d.payload))
		}
	}
	l.delivering = false
	l.poster.run()
}

func (l *Loop) endDispatch() {
	l.dispatching = false
	if l.delivering {
		l.delivering = false
		if owner, ok := l.slots[l.done[l.next-1].slot].owner.(Interrupter); ok {
			owner.Interrupted()
		}
	}
}

// deliverOwn takes the completions that are for the loop itself.
func (l *Loop) deliverOwn(d *C.cuv_done) {
	if d.kind == C.CUV_DONE_BUG {
		panic(fmt.Sprintf("bug: libuv refused what cannot fail: %v", NewError("submission", int(d.status))))
	}
	l.release(int32(d.slot))
}

// sortTimers puts timers that were started in one turn and are due in one millisecond in the order of their delays; in
// the ring they stand side by side, in the order of their starts.
func sortTimers(done []C.cuv_done) {
	const ms = uint64(time.Millisecond)
	same := func(a, b *C.cuv_done) bool {
		return b.kind == C.CUV_TIMER && a.status == b.status && (uint64(a.payload)+ms-1)/ms == (uint64(b.payload)+ms-1)/ms
	}
	for i := 0; i < len(done); {
		n := i + 1
		if done[i].kind == C.CUV_TIMER {
			for n < len(done) && same(&done[i], &done[n]) {
				n++
			}
			slices.SortStableFunc(done[i:n], func(a, b C.cuv_done) int {
				if a.payload < b.payload {
					return -1
				} else if a.payload > b.payload {
					return 1
				}
				return 0
			})
		}
		i = n
	}
}

// Close ends the loop in order: posts are refused from now on and those already accepted run, every handle is closed,
// the loop runs until all close callbacks came, and libuv's own uv_loop_close must succeed. With handles of somebody
// else's still open it fails with EBUSY and names them; it can be called again once they are closed. Idempotent.
func (l *Loop) Close() error {
	if l.state == loopClosed {
		return nil
	}
	if l.dispatching {
		return ErrDispatching
	}
	l.Shut()
	l.closeHandles()
	if err := NewError("uv_loop_close", int(C.cuv_loop_close(l.c))); err != nil {
		return fmt.Errorf("%w: handles that this loop did not open are still open: %v", err, l.Walk())
	}
	C.cuv_loop_free(l.c)
	l.state, l.c, l.sub, l.done = loopClosed, nil, nil, nil
	return nil
}

// Shut is the first half of Close: completions that a panic has left are dropped, posts are refused from now on, and
// those already accepted run. Idempotent.
func (l *Loop) Shut() {
	if l.state == loopOpen && !l.dispatching {
		l.releaseClosed()
		l.poster.shut()
		for l.poster.Pending() {
			l.Dispatch()
		}
	}
}

// releaseClosed takes from the completions only which handles are closed, and drops the rest.
func (l *Loop) releaseClosed() {
	for ; l.next < len(l.done); l.next++ {
		if d := &l.done[l.next]; d.kind == C.CUV_DONE_CLOSED {
			l.release(int32(d.slot))
		}
	}
}

func (l *Loop) closeHandles() {
	if l.state != loopOpen {
		return
	}
	l.state = loopClosing
	for i := range l.slots {
		if s := &l.slots[i]; s.use == slotOpen {
			s.owner.LoopClosing()
		}
	}
	for a := range l.asyncs {
		a.Close(l)
	}
	for i := range l.slots {
		if s := &l.slots[i]; s.use == slotOpen {
			l.closeSlot(int32(i), 0)
		}
	}
	for l.nsub > 0 || l.inUse() {
		l.tick(false)
		l.releaseClosed()
	}
	l.freeSpares()
	l.Flush()
	C.cuv_wake_close(l.c)
}

// Version is libuv's, of the library that is linked at run time.
func Version() string { return C.GoString(C.uv_version_string()) }
