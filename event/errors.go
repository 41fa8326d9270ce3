package event

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// States and classes of errors, for [errors.Is].
var (
	// ErrClosed: the event, or the object that owns it, is closed. See [ClosedError].
	ErrClosed = errors.New("event: closed")
	// ErrTimeout: the time allowed for an operation is over. It also matches [context.DeadlineExceeded].
	ErrTimeout error = timeoutError{}
	// ErrUsage: the call is not allowed here or now. See [UsageError].
	ErrUsage = errors.New("event: illegal call")
	// ErrInvalidArgument: an argument is outside its legal range. See [InvalidArgumentError].
	ErrInvalidArgument = errors.New("event: invalid argument")
)

type timeoutError struct{}

func (timeoutError) Error() string        { return "event: timeout" }
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
func (timeoutError) Timeout() bool        { return true }

// TimeoutError says which time limit is over. It matches [ErrTimeout] and [context.DeadlineExceeded].
type TimeoutError struct {
	Call  string        // the call with its package: "scheduler: Await"
	Limit time.Duration // what was allowed
}

func (e *TimeoutError) Error() string { return e.Call + ": timeout after " + e.Limit.String() }

// Is reports whether target is [ErrTimeout] or [context.DeadlineExceeded].
func (e *TimeoutError) Is(target error) bool {
	return target == ErrTimeout || target == context.DeadlineExceeded
}

// Timeout returns true: the error is one of net's timeouts, too.
func (e *TimeoutError) Timeout() bool { return true }

// ClosedError is the answer to a call on something closed. It matches [ErrClosed].
type ClosedError struct {
	Call   string // the call with its package: "event: Start"
	What   string // what is closed, as its Info describes it
	Reason error  // why it was closed; nil when it was simply closed
	Fix    string // what to do instead; empty: make a new one
}

func (e *ClosedError) Error() string {
	text := e.Call + ": " + strings.TrimSuffix(e.What, ", closed") + " is closed; " + cmp.Or(e.Fix, "make a new one")
	if e.Reason != nil {
		text += ": " + fmt.Sprint(e.Reason)
	}
	return text
}

// Is reports whether target is [ErrClosed].
func (e *ClosedError) Is(target error) bool { return target == ErrClosed }

// Unwrap returns the reason.
func (e *ClosedError) Unwrap() error { return e.Reason }

// UsageError is a call that is not allowed here or now: a bug of the caller. It matches [ErrUsage].
type UsageError struct {
	Call    string // the call with its package: "event: Notify"
	Problem string // what is wrong
	Fix     string // what to do instead
}

func (e *UsageError) Error() string { return e.Call + ": " + e.Problem + "; " + e.Fix }

// Is reports whether target is [ErrUsage].
func (e *UsageError) Is(target error) bool { return target == ErrUsage }

// InvalidArgumentError is an argument outside its legal range. It matches [ErrInvalidArgument].
type InvalidArgumentError struct {
	Call  string // the call with its package: "event: AddCallback"
	Arg   string // the argument
	Got   any    // its value
	Legal string // the legal range, or what to pass instead
}

func (e *InvalidArgumentError) Error() string {
	got := "nil"
	switch v := e.Got.(type) {
	case nil:
	case string:
		got = fmt.Sprintf("%q", v)
	default:
		got = fmt.Sprint(v)
	}
	return e.Call + ": " + e.Arg + " is " + got + "; " + e.Legal
}

// Is reports whether target is [ErrInvalidArgument].
func (e *InvalidArgumentError) Is(target error) bool { return target == ErrInvalidArgument }
