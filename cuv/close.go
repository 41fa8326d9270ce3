package cuv

// #include "cuv.h"
import "C"

import "fmt"

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
