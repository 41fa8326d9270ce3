package cuv

// #include "cuv.h"
import "C"

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unsafe"
)

// Dispatching reports whether Dispatch is running.
func (l *Loop) Dispatching() bool { return l.dispatching }

// Undelivered is how many completions of the last Tick wait for Dispatch; after a panic in one, say.
func (l *Loop) Undelivered() int { return len(l.done) - l.next }

// Tick is one turn: it applies the submissions, runs libuv once, and returns how many completions wait for Dispatch. With
// block it sleeps until there is one, or until somebody posts; it does not sleep while posts are waiting, and does
// nothing while completions are. ErrClosed, or ErrDispatching within Dispatch.
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
			slices.SortStableFunc(done[i:n], func(a, b C.cuv_done) int { return cmp.Compare(a.payload, b.payload) })
		}
		i = n
	}
}
