package foreign

// #cgo pkg-config: libuv
// #cgo CFLAGS: -Wall -Wextra
// #include <stdlib.h>
// #include "foreign.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Handle is a handle of the foreign library: a poll or a timer.
type Handle struct {
	h  *C.foreign_handle
	fn cgo.Handle
}

func uvLoop(loop unsafe.Pointer) *C.uv_loop_t { return (*C.uv_loop_t)(loop) }

// NewPoll is uv_poll_init; code is libuv's.
func NewPoll(loop unsafe.Pointer, fd int) (h *Handle, code int) {
	var err C.int
	p := C.foreign_poll(uvLoop(loop), C.int(fd), &err)
	if p == nil {
		return nil, int(err)
	}
	return &Handle{h: p}, 0
}

// Start is uv_poll_start.
func (h *Handle) Start(mask int) (code int) { return int(C.foreign_poll_start(h.h, C.int(mask))) }

// Stop is uv_poll_stop.
func (h *Handle) Stop() (code int) { return int(C.foreign_poll_stop(h.h)) }

// Events is how often the poll has happened.
func (h *Handle) Events() int { return int(h.h.events) }

// NewTimer starts a timer, in milliseconds; fn is called from its C callback, below uv_run.
func NewTimer(loop unsafe.Pointer, timeout, repeat uint64, fn func()) *Handle {
	h := &Handle{fn: cgo.NewHandle(fn)}
	h.h = C.foreign_timer(uvLoop(loop), C.uint64_t(timeout), C.uint64_t(repeat), C.uintptr_t(h.fn))
	return h
}

//export foreignCall
func foreignCall(fn C.uintptr_t) { cgo.Handle(fn).Value().(func())() }

// Close is uv_close. The handle is gone when the loop has called back, see Closed; then Free it.
func (h *Handle) Close() { C.foreign_close(h.h) }

// Closed reports whether the close callback ran.
func (h *Handle) Closed() bool { return h.h.closed != 0 }

// Free gives the memory back after the close callback.
func (h *Handle) Free() {
	if h.h.closed == 0 {
		panic("foreign: the handle is still open")
	}
	C.free(unsafe.Pointer(h.h))
	h.h = nil
	if h.fn != 0 {
		h.fn.Delete()
	}
}

// Referenced counts, by libuv's name of their type, the handles that are active and keep a uv_run going.
func Referenced(loop unsafe.Pointer) map[string]int {
	var counts [C.UV_HANDLE_TYPE_MAX]C.int
	C.foreign_count_referenced(uvLoop(loop), &counts[0])
	found := map[string]int{}
	for t, n := range counts {
		if n > 0 {
			found[C.GoString(C.uv_handle_type_name(C.uv_handle_type(t)))] = int(n)
		}
	}
	return found
}

// Data returns handle->data of every handle on the loop that has one.
func Data(loop unsafe.Pointer) []unsafe.Pointer {
	data := make([]unsafe.Pointer, 1024)
	n := C.foreign_data(uvLoop(loop), &data[0], C.int(len(data)))
	return data[:n]
}
