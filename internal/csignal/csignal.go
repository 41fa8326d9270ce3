package csignal

// #cgo pkg-config: libuv
// #cgo CFLAGS: -Wall -Wextra
// #include <stdlib.h>
// #include "csignal.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Disposition is what the kernel does on a signal, as sigaction reports it. Two are equal when they are byte for byte,
// except that the C library's mark of its own doings (SA_RESTORER) is left out.
type Disposition struct {
	Handler uintptr // 0 is SIG_DFL, 1 is SIG_IGN
	Flags   Flags
	Mask    uint64
}

// Flags are those of a struct sigaction.
type Flags uint32

const (
	OnStack Flags = C.SA_ONSTACK
	SigInfo Flags = C.SA_SIGINFO
	Restart Flags = C.SA_RESTART
)

func (d Disposition) String() string {
	handler := fmt.Sprintf("handler %#x", d.Handler)
	switch d.Handler {
	case 0:
		handler = "SIG_DFL"
	case 1:
		handler = "SIG_IGN"
	}
	return fmt.Sprintf("%s, flags %#x, mask %#x", handler, uint32(d.Flags), d.Mask)
}

// Style is a kind of C handler. Each counts the signals that it gets.
type Style C.csignal_style

const (
	Plain    Style = C.CSIGNAL_PLAIN    // gets the number alone
	Info     Style = C.CSIGNAL_INFO     // SA_SIGINFO
	Chaining Style = C.CSIGNAL_CHAINING // calls the handler that it replaced
	Raising  Style = C.CSIGNAL_RAISING  // raises SIGWINCH on its own thread
)

func check(call string, code C.int, err error) {
	if code != 0 {
		panic(fmt.Sprintf("csignal: %s: %v", call, err))
	}
}

// Current reads the disposition of a signal.
func Current(num syscall.Signal) Disposition {
	sa := Save(num).sa
	return Disposition{uintptr(C.csignal_handler(&sa)), Flags(C.csignal_flags(&sa)), uint64(C.csignal_mask(&sa))}
}

// Saved is a disposition as C code keeps one, to put it back.
type Saved struct {
	num syscall.Signal
	sa  C.struct_sigaction
}

// Save is sigaction(num, NULL, &saved).
func Save(num syscall.Signal) *Saved {
	s := &Saved{num: num}
	code, err := C.sigaction(C.int(num), nil, &s.sa)
	check("sigaction", code, err)
	return s
}

// Restore is sigaction(num, &saved, NULL).
func (s *Saved) Restore() {
	code, err := C.csignal_set(C.int(s.num), &s.sa)
	check("sigaction", code, err)
}

// Install sets a C handler, with SA_ONSTACK as Go demands it.
func Install(num syscall.Signal, style Style) {
	code, err := C.csignal_install(C.int(num), C.csignal_style(style), C.SA_ONSTACK)
	check("sigaction", code, err)
}

// Default sets SIG_DFL.
func Default(num syscall.Signal) { set(num, 0) }

// Ignore sets SIG_IGN, behind the back of os/signal.
func Ignore(num syscall.Signal) { set(num, 1) }

func set(num syscall.Signal, handler uintptr) {
	var sa C.struct_sigaction
	// The handler is the struct's first field on Linux, in a union of which Go sees bytes.
	*(*uintptr)(unsafe.Pointer(&sa)) = handler
	code, err := C.csignal_set(C.int(num), &sa)
	check("sigaction", code, err)
}

// Count is how many signals of a number the C handlers got.
func Count(num syscall.Signal) int { return int(C.csignal_count(C.int(num))) }

// Raise sends a signal to a thread that Go does not know, and returns when that thread has handled it and ended.
func Raise(num syscall.Signal) {
	if code := C.csignal_raise(C.int(num)); code != 0 {
		panic(fmt.Sprintf("csignal: pthread_kill: %v", syscall.Errno(code)))
	}
}

// Storm sends the process n signals from each of several threads that get none themselves, and returns when they have
// ended.
func Storm(num syscall.Signal, n, threads int) {
	if code := C.csignal_storm(C.int(num), C.int(n), C.int(threads)); code != 0 {
		panic(fmt.Sprintf("csignal: kill: %v", syscall.Errno(code)))
	}
}

// WriteBroken writes to a pipe without a reader, on a thread that Go does not know, which gets SIGPIPE for it.
func WriteBroken() error {
	if code := C.csignal_broken_pipe(); code != 0 {
		return syscall.Errno(code)
	}
	return nil
}

// Watch is a uv_signal_t that C code has put on a loop of ours.
type Watch struct{ w *C.csignal_watch }

// NewWatch starts one on the uv_loop_t; with once it stops by itself after a signal. The loop's goroutine.
func NewWatch(loop unsafe.Pointer, num syscall.Signal, once bool) *Watch {
	var err, oneshot C.int
	if once {
		oneshot = 1
	}
	w := C.csignal_watch_new((*C.uv_loop_t)(loop), C.int(num), oneshot, &err)
	if err != 0 {
		panic("csignal: uv_signal_start: " + C.GoString(C.uv_strerror(err)))
	}
	return &Watch{w}
}

// Count is how many signals it was called for.
func (w *Watch) Count() int { return int(w.w.count) }

// Close stops it. It is gone when the loop has turned, see Closed; then Free it.
func (w *Watch) Close() { C.csignal_watch_close(w.w) }

// Closed reports whether it is gone.
func (w *Watch) Closed() bool { return w.w.closed != 0 }

// Free gives its memory back.
func (w *Watch) Free() { C.free(unsafe.Pointer(w.w)) }
