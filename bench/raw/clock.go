package raw

/*
#include "raw.h"
*/
import "C"

import (
	"errors"
	"sync/atomic"
	"time"
	"unsafe"
)

// ErrNoVirtualClock says that libuv reads a clock that this program cannot
// replace.
var ErrNoVirtualClock = errors.New("the virtual clock does not reach libuv (it is a shared library): link the static one to measure this case")

// virtualEpoch is an arbitrary whole number of seconds: the virtual clock
// starts there each time it is switched on.
const virtualEpoch = time.Hour

// virtual points into C memory, so that advancing the clock costs our side a
// store, as it costs the C side, and not a crossing.
var virtual = (*uint64)(unsafe.Pointer(&C.raw_virtual_ns))

// StartVirtualClock makes the monotonic clock, as read from C, stand still
// until Advance. One user at a time.
func StartVirtualClock() error {
	atomic.StoreUint64(virtual, uint64(virtualEpoch))
	if C.raw_virtual_reaches_libuv() == 0 {
		StopVirtualClock()
		return ErrNoVirtualClock
	}
	return nil
}

// StopVirtualClock gives the real clock back.
func StopVirtualClock() { atomic.StoreUint64(virtual, 0) }

// VirtualClock reports whether the virtual clock is on.
func VirtualClock() bool { return atomic.LoadUint64(virtual) != 0 }

// Advance moves the virtual clock. Only while it is on, and only by the
// goroutine that turns the loop: it is a plain store on both sides.
func Advance(d time.Duration) { *virtual += uint64(d) }

// hrtime is the clock as libuv sees it.
func hrtime() time.Duration { return time.Duration(C.uv_hrtime()) }
