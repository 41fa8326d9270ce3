package cuv

// #include "cuv.h"
import "C"

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrClosed is answered by every call on a loop that was closed.
var ErrClosed = errors.New("cuv: the loop is closed")

// ErrDispatching is answered by Tick and Close when they are called from within Dispatch.
var ErrDispatching = errors.New("cuv: called from within Dispatch; return to the loop first")

// Error is a failure that libuv reported. It unwraps to the matching syscall.Errno where there is one, so that
// errors.Is(err, syscall.EPERM) and errors.Is(err, fs.ErrPermission) hold.
type Error struct {
	Op      string // libuv's function
	Code    int    // libuv's code, negative
	Name    string // "EPERM"
	Message string // "operation not permitted"
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Op, e.Name, e.Message) }

// libuv's codes that are no errno of the system lie below -1000 (UV_EOF, UV_EAI_...); the kernel's end at 4095 but stay
// below 1000 on every platform that Go knows.
const lowestErrno = -1000

func (e *Error) Unwrap() error {
	if e.Code < lowestErrno || e.Code >= 0 {
		return nil
	}
	return syscall.Errno(-e.Code)
}

// NewError describes code, one of libuv's, as the failure of the function op; nil for a code that is no error.
func NewError(op string, code int) error {
	if code >= 0 {
		return nil
	}
	var name, message [128]C.char
	C.uv_err_name_r(C.int(code), &name[0], C.size_t(len(name)))
	C.uv_strerror_r(C.int(code), &message[0], C.size_t(len(message)))
	return &Error{Op: op, Code: code, Name: C.GoString(&name[0]), Message: C.GoString(&message[0])}
}
