package cuv

// #include "cuv.h"
import "C"

import (
	"math"
	"strings"
	"syscall"
)

// Readiness is a set of what a descriptor can be ready for.
type Readiness uint8

const (
	Readable    Readiness = C.UV_READABLE
	Writable    Readiness = C.UV_WRITABLE
	Disconnect  Readiness = C.UV_DISCONNECT
	Prioritized Readiness = C.UV_PRIORITIZED
)

// String returns the names of what is in the set, joined by |; "none" for the empty set.
func (r Readiness) String() string {
	var names []string
	for i, name := range [...]string{"readable", "writable", "disconnect", "prioritized"} {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "|")
}

// Poll is one uv_poll_t. There may be one a descriptor and loop. The zero value is closed.
type Poll struct{ slot int32 }

// Open makes the descriptor non-blocking and prepares to watch it. An *Error: EBADF, EPERM for what cannot be polled (a
// regular file), EEXIST when another handle watches it.
func (p *Poll) Open(l *Loop, owner Owner, fd int) error {
	if l.state != loopOpen {
		return ErrClosed
	}
	if fd > math.MaxInt32 { // what C would make of it may well be open
		return NewError("uv_poll_init", -int(syscall.EBADF))
	}
	i := l.take(owner)
	if code := C.cuv_poll_open(l.slots[i].cell, C.int(fd)); code != 0 {
		l.putBack(i)
		return NewError("uv_poll_init", int(code))
	}
	p.slot = i
	return nil
}

// Watch sets what is watched for; 0 stops. Readiness is level-triggered: it is delivered in every turn in which it holds. A descriptor that no longer stands for the file
// that was opened is delivered as EBADF.
// What was recorded for an earlier mask is dropped when fresh is set, and kept when the mask merely grew.
func (p *Poll) Watch(l *Loop, mask Readiness, fresh, hidden bool) {
	if !l.holds(p.slot) {
		return
	}
	s := &l.slots[p.slot]
	if fresh {
		s.gen++
	}
	if mask == 0 {
		l.submit(C.CUV_OP_POLL_STOP, 0, s, 0)
		return
	}
	l.submit(C.CUV_OP_POLL_START, hiddenFlag(hidden), s, uint64(mask))
}

// SameFile reports whether the descriptor still stands for the file that was opened. Descriptors of one shared inode, such
// as eventfds, are told apart only while they are watched.
func (p *Poll) SameFile(l *Loop) bool {
	return l.holds(p.slot) && C.cuv_poll_same_file(l.slots[p.slot].cell) != 0
}

// Close stops watching and closes the handle. With closeFD the descriptor is closed too, at the next Tick or Flush, in
// the order of the submissions; without, it is the caller's, gets back the blocking mode that it had, and Close acts
// before it returns, so that the caller may close it next. Idempotent.
func (p *Poll) Close(l *Loop, closeFD bool) {
	if !l.holds(p.slot) {
		p.slot = 0
		return
	}
	flags := uint16(0)
	if closeFD {
		flags = C.CUV_FLAG_CLOSE_FD
	}
	l.closeSlot(p.slot, flags)
	p.slot = 0
	if !closeFD {
		l.Flush()
	}
}

// IsOpen reports whether the poll has a handle.
func (p *Poll) IsOpen() bool { return p.slot != 0 }
