package scheduler

import (
	"runtime/debug"
	"runtime/trace"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/coro"
	"github.com/uvasync/uvasync/internal/goid"
)

// fiber is an execution context: a goroutine of the run's group that runs one coroutine after the other, and what the one
// it runs needs to wait. The root fiber is the goroutine of Run itself, which runs none.
//
// What a switch reads is in its first cache line.
type fiber struct {
	s       *Scheduler
	co      *Coroutine // what it runs; nil: it is idle
	g       uintptr    // the goroutine; written by itself before anybody can ask
	luck    int16      // operations in a row that did not suspend
	refused int16      // suspension points in a row that failed at once
	state   waitState
	struck  bool // wait.barred is set
	dead    bool // left by Goexit: it goes on to the end of the run without a coroutine
	ctx     coro.Context
	sample  *sample // somebody wants to see its stack
	labels  uint64  // with Options.PprofLabels: the id of the coroutine whose labels are set
	traced  *trace.Region
	wait    wait
}

// maxIdle is how many idle fibers a run keeps; more end when they have nothing to do.
const maxIdle = 1024

func (s *Scheduler) newFiber(co *Coroutine) *fiber {
	f := &fiber{s: s}
	f.adopt(co)
	f.wait.fiber = f
	s.group.New(&f.ctx, f.run, f.linger)
	return f
}

func (f *fiber) adopt(co *Coroutine) {
	f.co, co.fiber = co, f
}

// run is the body of the context.
func (f *fiber) run() {
	f.g = goid.Get()
	f.s.take(f)
	for {
		f.exec()
		if !f.s.schedule(f) {
			return
		}
	}
}

// linger goes on in place of a body that was left by Goexit, whose goroutine cannot run anything any more.
func (f *fiber) linger() {
	f.dead = true
	over := false
	defer func() {
		if r := recover(); r != nil { // a bug of ours
			panic(r)
		}
		if !over { // a callback that ran on this stack exited as well
			f.linger()
		}
	}()
	f.s.schedule(f)
	over = true
}

// exec runs the coroutine's body to its end, whatever the end is.
func (f *fiber) exec() {
	co := f.co
	f.enter(co)
	var err error
	returned := false
	defer func() {
		if !returned {
			err = f.aborted(recover())
			f.wait.depart() // a callback that ran on this stack may have exited
			f.wait.drop()
		}
		defer func() { // also when a handler exits
			f.refused, f.luck = 0, 0
			f.co = nil
			f.s.finish(co, err)
		}()
		f.leave(co)
	}()
	fn := co.fn
	co.fn, co.begun = nil, true
	err = fn(co)
	returned = true
}

// aborted is what a body ends with that did not return.
func (f *fiber) aborted(panicked any) error {
	switch {
	case panicked != nil:
		return &event.PanicError{Value: panicked, Stack: debug.Stack()}
	case f.co.doomed:
		return f.s.unwound(f.co)
	}
	f.s.exited = true
	return errGoexit
}

// enter begins a stretch in which co's body runs.
func (f *fiber) enter(co *Coroutine) {
	co.state = running
	f.s.current = co
	if f.s.observed || trace.IsEnabled() {
		f.observeEnter(co)
	}
}

// leave ends it.
func (f *fiber) leave(co *Coroutine) {
	f.s.current = nil
	if f.s.observed || f.s.regions > 0 {
		f.observeLeave(co)
	}
}

// suspend gives the loop to others until f's coroutine is scheduled again. What it waits for has been arranged.
func (f *fiber) suspend() {
	co, s := f.co, f.s
	f.leave(co)
	co.state = suspended
	f.luck, f.refused = 0, 0
	if next := s.quick(); next == nil {
		s.schedule(f)
	} else if next != f {
		if m := s.group.Begin(&f.ctx, &next.ctx); m == nil {
			s.group.Switch(&f.ctx, &next.ctx)
		} else if m.Taken {
			m.Taken = false
			m.Yield(struct{}{})
		} else {
			m.Taken = true
			m.Next()
		}
		s.group.End(&f.ctx)
		if s.sampling {
			s.sampled(f)
		}
		s.take(f)
	}
	f.enter(co)
	if co.doomed {
		co.unwind()
	}
}
