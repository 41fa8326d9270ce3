package uvasync

import (
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// The types of everyday use.
type (
	// Coroutine is a function that runs in turns with others; see [scheduler.Coroutine].
	Coroutine = scheduler.Coroutine
	// Scope owns coroutines; see [scope.Scope].
	Scope = scope.Scope
	// WaitOption bounds a wait: [Timeout], [Token].
	WaitOption = scheduler.WaitOption
	// Event is anything that can be awaited; see [event.Event].
	Event = event.Event

	// CancelledError says that whoever waited was cancelled.
	CancelledError = event.CancelledError
	// TimeoutError says which time limit is over.
	TimeoutError = event.TimeoutError
	// ClosedError says what was closed, and why.
	ClosedError = event.ClosedError
	// PanicError carries a panic, with its stack.
	PanicError = event.PanicError
	// DeadlockError says who waited for what nothing could bring about.
	DeadlockError = scheduler.DeadlockError
	// FailureError says which coroutine failed, and where it was started.
	FailureError = scheduler.FailureError
	// ShutdownError names who did not end within the grace.
	ShutdownError = scheduler.ShutdownError
)

// States, for errors.Is.
var (
	ErrTimeout      = event.ErrTimeout
	ErrClosed       = event.ErrClosed
	ErrUsage        = event.ErrUsage
	ErrNotSimulated = event.ErrNotSimulated
)

// Timeout ends a wait after d; see [scheduler.Timeout].
func Timeout(d time.Duration) WaitOption { return scheduler.Timeout(d) }

// Token ends a wait when ev happens; see [scheduler.Token].
func Token(ev Event) WaitOption { return scheduler.Token(ev) }

// Named gives a coroutine a name; see [scheduler.Named].
func Named(name string) scheduler.SpawnOption { return scheduler.Named(name) }
