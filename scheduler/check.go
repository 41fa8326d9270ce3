package scheduler

import (
	"fmt"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/goid"
)

// Check returns nil when the caller runs on this run's loop, in one of its coroutines or in a callback, and a
// *event.UsageError that names the call otherwise (CORO-30): it is what calls begin with that are for the loop alone. It
// takes about 2 ns. Any goroutine.
func (s *Scheduler) Check(call string) error {
	if s != nil && s.here() {
		return nil
	}
	return s.foreign(call)
}

// here reports whether the caller is the goroutine that has the loop.
func (s *Scheduler) here() bool {
	return s.owner.get() == goid.Get()
}

func (s *Scheduler) foreign(call string) error {
	switch {
	case s == nil:
		return usage(call, "it has no run", "call it within Run, with what Run has handed out")
	case s.owner.get() == 0:
		return usage(call, s.name+" is not running", "call it within Run")
	}
	return usage(call, "it was called from another goroutine than that of "+s.name,
		"send it to the loop with Scheduler.Post or an External, or complete a remote future that a coroutine awaits")
}

// Enter is what every suspending call does first. It returns a *event.UsageError for a coroutine that is nil, has ended or
// is not the caller (CORO-30), and the cancellation when co, or the block that it is in, is cancelled (CANC-00). It is for
// packages that build waits of their own.
func (co *Coroutine) Enter(call string) error {
	if co == nil || co.scope == nil || !co.scope.s.here() || co.state != running {
		return co.misuse(call)
	}
	if co.barred {
		return co.refuse()
	}
	return nil
}

// Check returns nil when the caller is co itself, in its body, and a *event.UsageError that names the call otherwise: it is Enter
// without the look at the cancellation. Any goroutine.
func (co *Coroutine) Check(call string) error {
	if co == nil || co.scope == nil || !co.scope.s.here() || co.state != running {
		return co.misuse(call)
	}
	return nil
}

func (co *Coroutine) misuse(call string) error {
	const fix = "pass the *Coroutine that the function you are in was given by Run or Spawn"
	switch {
	case co == nil:
		return usage(call, "the coroutine is nil", fix)
	case co.scope == nil:
		return usage(call, "the coroutine was not made by Run or Spawn", fix)
	}
	if err := co.scope.s.Check(call); err != nil {
		return err
	}
	if co.scope.s.Current() == nil {
		return usage(call, "it was called from a callback of the loop, which cannot suspend", "spawn a coroutine there")
	}
	return usage(call, fmt.Sprintf("it was called in %s with the coroutine of another body: %s", co.scope.s.Current().title(), co.title()), fix+", not that of a function around it")
}

// CheckRun returns nil when co is a coroutine of this run, and a *event.UsageError otherwise that names the call, what was called,
// and both runs (GEN-11). It is what things that belong to one run answer as [Refusing]. Any goroutine.
func (s *Scheduler) CheckRun(call string, co *Coroutine, what string) error {
	if co == nil || co.scope == nil {
		return co.misuse(call)
	}
	return sameRun(call, co, s, what)
}

// sameRun answers GEN-11 for coroutine co and something of s.
func sameRun(call string, co *Coroutine, s *Scheduler, what string) error {
	if co.scope.s == s {
		return nil
	}
	return usage(call, fmt.Sprintf("%s belongs to %s, the coroutine to %s", what, s.name, co.scope.s.name),
		"use it in the run that made it; futures made remote, External and Post are for crossing")
}

func usage(call, problem, fix string) error {
	return &event.UsageError{Call: prefixed(call), Problem: problem, Fix: fix}
}

func invalid(call, arg string, got any, legal string) error {
	return &event.InvalidArgumentError{Call: prefixed(call), Arg: arg, Got: got, Legal: legal}
}

func closedError(call, what string) error {
	return &event.ClosedError{Call: prefixed(call), What: what}
}

// prefixed puts the package in front of the calls of this one.
func prefixed(call string) string {
	for _, c := range call {
		if c == ':' {
			return call
		}
	}
	return "scheduler: " + call
}
