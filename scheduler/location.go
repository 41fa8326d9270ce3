package scheduler

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// sample is a request to a suspended fiber for its stack.
type sample struct {
	back *fiber
	pcs  []uintptr
}

// sampled runs on the stack of f, which was asked for, and goes back to who wanted it until f is switched to for good.
func (s *Scheduler) sampled(f *fiber) (alive bool) {
	for f.sample != nil {
		sa := f.sample
		f.sample = nil
		sa.take()
		alive = s.group.Switch(&f.ctx, &sa.back.ctx)
	}
	return alive
}

func (sa *sample) take() {
	sa.pcs = make([]uintptr, 64)
	sa.pcs = sa.pcs[:runtime.Callers(3, sa.pcs)]
}

// stack returns the stack of a suspended coroutine, which is switched to and back for it.
func (co *Coroutine) stack() []uintptr {
	s := co.scope.s
	if co.state != suspended || s.Check("Coroutine.Stack") != nil {
		return nil
	}
	sa := &sample{back: s.fiber}
	if sa.back == co.fiber { // the scheduler runs on this very stack
		sa.take()
		return sa.pcs
	}
	co.fiber.sample, s.sampling = sa, true
	defer func() { s.sampling = false }()
	s.group.Switch(&sa.back.ctx, &co.fiber.ctx)
	return sa.pcs
}

// Stack returns the call stack of a suspended coroutine, innermost call first and without the scheduler's own frames; nil
// before the start, while running, and after the end (CORO-11). The loop only.
func (co *Coroutine) Stack() []runtime.Frame {
	var list []runtime.Frame
	pcs := co.stack()
	if len(pcs) == 0 {
		return nil
	}
	outside := false
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		outside = outside || !ours(frame)
		if outside && strings.HasSuffix(frame.Function, "/scheduler.(*fiber).exec") {
			return list
		}
		if outside {
			list = append(list, frame)
		}
		if !more {
			return list
		}
	}
}

// SuspendLocation returns where a suspended coroutine waits: function, file and line of the innermost call that is not this
// library's; empty otherwise. The loop only.
func (co *Coroutine) SuspendLocation() string {
	stack := co.Stack()
	if len(stack) == 0 {
		return ""
	}
	return at(stack[0])
}

// SpawnLocation returns where co was started: the line, with Options.SpawnLines, unless it is of a task that had to wait
// for its turn in a group; or else the function that it runs and where that begins. Any goroutine.
func (co *Coroutine) SpawnLocation() string {
	if x := co.ext.Load(); x != nil && x.label != nil && x.label.calls != nil {
		frames := runtime.CallersFrames(x.label.calls[:])
		for frame, more := frames.Next(); more; frame, more = frames.Next() {
			if frame.PC != 0 && !ours(frame) {
				return at(frame)
			}
		}
	}
	f := runtime.FuncForPC(co.entry)
	if f == nil {
		return "unknown"
	}
	file, line := f.FileLine(co.entry)
	return at(runtime.Frame{Function: f.Name(), File: file, Line: line})
}

// WaitsFor describes what a suspended coroutine waits for; empty when it is ready to go on.
func (co *Coroutine) WaitsFor() string {
	if co.state != suspended || co.fiber.state != waitOn {
		return ""
	}
	return co.fiber.wait.info()
}

func at(f runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)
}

// root is the folder of this library's sources, as the compiler noted it.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "scheduler/location.go")
}()

// ours reports whether a frame is of this library, and not of its tests or programs. The file tells, because a generic
// function that was inlined has the caller's package in its name.
func ours(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(f.File, root)
	if !ok {
		return strings.HasPrefix(f.Function, "iter.") || strings.HasPrefix(f.Function, "runtime.")
	}
	return !strings.HasSuffix(rest, "_test.go") && !strings.HasPrefix(rest, "examples/") && !strings.HasPrefix(rest, "bench/")
}

func entryOf(fn any) uintptr { return reflect.ValueOf(fn).Pointer() }
