package cosync

import (
	"strconv"
	"sync/atomic"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// bound is the run that an object belongs to: that of the first coroutine that uses it (GEN-11). Until then the object is
// an ordinary variable of whoever made it.
type bound struct {
	s atomic.Pointer[scheduler.Scheduler] // any goroutine: two runs may both be the first
}

// enter is what every call begins with that may suspend. what is the object, for errors.
func (b *bound) enter(call, what string, co *scheduler.Coroutine) error {
	if err := co.Enter(call); err != nil {
		return err
	}
	return b.join(call, what, co.Scheduler())
}

// must is enter for a call that never suspends and has no error to return: it does not look at the cancellation (CANC-00).
func (b *bound) must(call, what string, co *scheduler.Coroutine) {
	err := self(call, co)
	if err == nil {
		err = b.join(call, what, co.Scheduler())
	}
	if err != nil {
		panic(err)
	}
}

// self returns an error when co is not the caller.
func self(call string, co *scheduler.Coroutine) error {
	if scope := co.Scope(); scope != nil {
		if s := scope.Scheduler(); s.Check(call) == nil && s.Current() == co {
			return nil
		}
	}
	return co.Enter(call) // says what is wrong
}

// join answers for the run of a caller.
func (b *bound) join(call, what string, s *scheduler.Scheduler) error {
	if b.s.Load() == s || b.s.CompareAndSwap(nil, s) {
		return nil
	}
	return &event.UsageError{
		Call:    call,
		Problem: "the " + what + " belongs to run " + b.s.Load().Name() + ", the caller to run " + s.Name(),
		Fix:     "make one for each run, and cross over with Post",
	}
}

// check is what every call begins with that is given no coroutine: it refuses foreign goroutines.
func (b *bound) check(call string) {
	if s := b.s.Load(); s != nil {
		if err := s.Check(call); err != nil {
			panic(err)
		}
	}
}

// current returns the coroutine that calls; nil in callbacks, and when nobody has used the object yet.
func (b *bound) current() *scheduler.Coroutine {
	if s := b.s.Load(); s != nil {
		return s.Current()
	}
	return nil
}

// schedulerOf returns the run of a coroutine or scope that the caller acts for.
func schedulerOf(call string, by scheduler.Scoped) (*scheduler.Scheduler, error) {
	if by != nil {
		if scope := by.Scope(); scope != nil {
			return scope.Scheduler(), scope.Scheduler().Check(call)
		}
	}
	return nil, usage(call, "the coroutine is nil", "pass the coroutine that calls, or in a callback its scope")
}

func usage(call, problem, fix string) error {
	return &event.UsageError{Call: call, Problem: problem, Fix: fix}
}

func invalid(call, arg string, got any, legal string) error {
	return &event.InvalidArgumentError{Call: call, Arg: arg, Got: got, Legal: legal}
}

// noFunction is the answer to a nil function.
func noFunction(call string) error { return invalid(call, "function", nil, "pass what to run") }

// who names a coroutine in errors and reports.
func who(co *scheduler.Coroutine) string {
	text := "coroutine " + strconv.FormatUint(co.ID(), 10)
	if name := co.Name(); name != text {
		text += " " + strconv.Quote(name)
	}
	if co.Completed() {
		text += ", which has ended"
	}
	return text
}
