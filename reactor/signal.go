package reactor

import (
	"fmt"
	"syscall"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// Signal is an event that happens whenever the process gets a signal. Any number may watch the same one, on any number of
// loops; on each loop they share one uv_signal_t. The result given to callbacks is the syscall.Signal.
//
// Go's os/signal goes on as before, and so do handlers that C code had installed; after the last Stop everything is as
// it was. signal.Ignore, signal.Reset and handlers that C code installs meanwhile win over it until the next Start of
// any Signal for the same number (SIG-05).
type Signal struct {
	reference
}

type signalEvent struct {
	event.NopKind
	base event.Base
	loop *Loop
	num  syscall.Signal
	sub  event.Callback // on the watch of the number, while started
}

// signalWatch is the one uv_signal_t for a number on a loop. It is an event of its own, whose callbacks are the started
// Signals.
type signalWatch struct {
	event.NopKind
	base   event.Base
	loop   *Loop
	num    syscall.Signal
	handle cuv.Signal
	hidden int // how many of the subscribed are hidden
}

// NewSignal makes an event for a signal, 1 to 64. Errors: *event.InvalidArgumentError for a number outside the range or
// one that the kernel or the Go runtime needs for itself (the message says which and why), ErrClosed on a closed loop.
func (l *Loop) NewSignal(num syscall.Signal) (*Signal, error) {
	const call = "Loop.NewSignal"
	if l.closed {
		return nil, l.closedError(call)
	}
	if why := reserved(num); why != "" {
		return nil, invalid(call, "signal", fmt.Sprintf("%d (%v)", int(num), num), why)
	}
	s := &signalEvent{loop: l, num: num}
	s.base.Init(s, &l.live, event.FlagPeriodic)
	s.sub.Init(s.happened, nil, nil)
	ref := &Signal{}
	ref.Init(&s.base)
	ref.watch(l, nil)
	return ref, nil
}

// OnSignal has fn called whenever the signal comes. Errors as for AddCallback; *event.InvalidArgumentError when fn is nil.
func (s *Signal) OnSignal(fn func(syscall.Signal)) (*event.Callback, error) {
	if fn == nil {
		return nil, nilFunction("Signal.OnSignal")
	}
	return s.Subscribe(func(_ *event.Base, _ *event.Callback, result any, _ error) { fn(result.(syscall.Signal)) })
}

// reserved says why a number cannot be watched, or nothing.
func reserved(num syscall.Signal) string {
	switch num {
	case syscall.SIGKILL, syscall.SIGSTOP:
		return "the kernel does not let anybody catch it"
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGSTKFLT:
		return "the Go runtime turns it into a panic or a crash report"
	case syscall.SIGURG:
		return "the Go runtime preempts goroutines with it"
	case syscall.SIGPROF:
		return "the Go runtime profiles with it"
	case syscall.SIGCHLD:
		return "a handler for it disturbs os/exec; wait for the process itself"
	case 32, 33, 34:
		return "the C library's threads use it"
	}
	if num < 1 || num > 64 {
		return "the numbers are 1 to 64"
	}
	return ""
}

func (s *signalEvent) StartEvent() error {
	if s.loop.closed {
		return s.loop.closedError("Signal.Start")
	}
	w, err := s.loop.signalWatch(s.num, s.base.Has(event.FlagHidden))
	if err != nil {
		return err
	}
	if err := w.base.AddCallback(&s.sub); err != nil {
		return err
	}
	s.base.AddRef()
	w.hide(s.base.Has(event.FlagHidden), 1)
	return nil
}

// signalWatch returns the watch of a number, opened if it is not, and in force if it was put out of it.
func (l *Loop) signalWatch(num syscall.Signal, hidden bool) (*signalWatch, error) {
	if w := l.signals[num]; w != nil {
		w.handle.Renew(l.binding)
		return w, nil
	}
	w := &signalWatch{loop: l, num: num}
	w.base.Init(w, nil, 0)
	if err := w.handle.Open(l.binding, w, num, hidden); err != nil {
		return nil, fmt.Errorf("reactor: Signal.Start: %v: %w", num, err)
	}
	l.signals[num] = w
	return w, nil
}

func (s *signalEvent) StopEvent() {
	w := s.loop.signals[s.num]
	w.base.DelCallback(&s.sub)
	w.hide(s.base.Has(event.FlagHidden), -1)
	if w.base.Callbacks() == 0 {
		w.handle.Close(s.loop.binding)
		delete(s.loop.signals, s.num)
	}
	s.base.Dispose()
}

func (s *signalEvent) HideEvent(hidden bool) {
	delta := 1
	if !hidden {
		delta = -1
	}
	s.loop.signals[s.num].hide(true, delta)
}

func (s *signalEvent) DisposeEvent() { delete(s.loop.orphans, &s.base) }

// happened is called by the watch: the signal came, or the loop is being closed.
func (s *signalEvent) happened(*event.Base, *event.Callback, any, error) {
	if s.loop.closed {
		s.base.MarkClosed()
		return
	}
	_ = s.base.Notify(s.num, nil)
}

func (s *signalEvent) Info() string {
	return fmt.Sprintf("signal %d (%v)%s", int(s.num), s.num, state(&s.base))
}

// hide keeps the handle hidden while all that use it are.
func (w *signalWatch) hide(hidden bool, delta int) {
	if hidden {
		w.hidden += delta
	}
	w.handle.Hide(w.loop.binding, w.hidden == w.base.Callbacks())
}

func (w *signalWatch) Complete(int, uint64) { _ = w.base.Notify(nil, nil) }

// LoopClosing passes it on through the callbacks, which may leave while they are called.
func (w *signalWatch) LoopClosing() {
	_ = w.base.Notify(nil, nil)
	w.handle.Close(w.loop.binding)
}
