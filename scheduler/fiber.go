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
	s        *Scheduler
	co       *Coroutine // what it runs; nil: it is idle
	g        uintptr    // the goroutine; written by itself before anybody can ask
	luck     int16      // operations in a row that did not suspend
	refused  int16      // suspension points in a row that failed at once
	state    waitState
	struck   bool // wait.barred is set
	dead     bool // left by Goexit: it goes on to the end of the run without a coroutine
	retired  bool // idle for long: it ends when it is switched to
	returned bool // the body has returned, with wait.err
	ctx      coro.Context
	sample   *sample // somebody wants to see its stack
	labels   uint64  // with Options.PprofLabels: the id of the coroutine whose labels are set
	traced   *trace.Region
	wait     wait
	_        [32]byte // makes it whole cache lines
}

func (s *Scheduler) newFiber(co *Coroutine) *fiber {
	f := &fiber{s: s}
	f.adopt(co)
	f.wait.fiber = f
	s.group.New(&f.ctx, (*fiberBody)(f))
	return f
}

func (f *fiber) adopt(co *Coroutine) {
	f.co, co.fiber = co, f
}

// fiberBody is the [coro.Body] of a fiber.
type fiberBody fiber

// Run runs one coroutine after the other.
func (b *fiberBody) Run() {
	f := (*fiber)(b)
	f.g = goid.Get()
	f.s.owner.set(f.g)
	f.s.fiber = f
	for s := f.s; ; {
		f.exec()
		if to := s.pick(f); to != f {
			s.idle = append(s.idle, f)
			// switchTo, written out: see Group.Begin.
			if m := s.group.Begin(&f.ctx, &to.ctx); m == nil {
				s.group.Switch(&f.ctx, &to.ctx)
			} else if m.Taken {
				m.Taken = false
				m.Yield(struct{}{})
			} else {
				m.Taken = true
				m.Next()
			}
			alive := s.group.End(&f.ctx)
			if !alive || f.retired {
				// The runtime will give the address to another goroutine; whoever goes on sets its own.
				s.owner.set(0)
				if alive {
					s.group.Leave(&s.retiring.ctx)
				}
				return
			}
			s.owner.set(f.g)
			s.fiber = f
		}
	}
}

// Exited goes on in place of a body whose goroutine cannot run anything any more.
func (b *fiberBody) Exited() {
	f := (*fiber)(b)
	f.dead = true
	over := false
	defer func() {
		if r := recover(); r != nil { // a bug of ours
			panic(r)
		}
		if !over { // a callback that ran on this stack exited as well
			b.Exited()
		}
	}()
	f.s.switchTo(f, f.s.pick(f))
	f.s.owner.set(0)
	over = true
}

// exec runs the coroutine's body to its end, whatever the end is.
func (f *fiber) exec() {
	co := f.co
	fn := co.fn
	if fn != nil { // what is nil is not written, for the sake of the collector's write barrier
		co.fn = nil
	}
	co.begun = true
	f.returned = false
	defer f.ended()
	f.enter(co)
	var err error
	if fn != nil {
		err = fn(co)
	} else {
		err = co.task().Run(co)
	}
	if err != nil {
		f.wait.err = err
	}
	f.returned = true
}

// ended is deferred by exec: the body has returned, panicked or exited.
func (f *fiber) ended() {
	co, err := f.co, f.wait.err
	if err != nil {
		f.wait.err = nil
	}
	if !f.returned {
		err = f.aborted(recover())
		f.wait.depart() // a callback that ran on this stack may have exited
		f.wait.drop()
	}
	f.refused, f.luck = 0, 0
	co.state = completed // for those who are told of its end, too
	if !f.s.observed {
		f.co = nil
		f.s.finish(co, err)
		return
	}
	defer func() { // also when a handler exits
		f.co = nil
		f.s.finish(co, err)
	}()
	f.observeLeave(co)
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
	if f.s.observed {
		f.observeEnter(co)
	}
}

// leave ends it.
func (f *fiber) leave(co *Coroutine) {
	co.state = suspended
	if f.s.observed {
		f.observeLeave(co)
	}
}

// suspend gives the loop to others until f's coroutine is scheduled again. What it waits for has been arranged.
func (f *fiber) suspend() {
	co, s := f.co, f.s
	f.leave(co)
	f.luck, f.refused = 0, 0
	to := s.quick()
	if to == nil {
		to = s.pick(f)
	}
	if to != f {
		// switchTo, written out: see Group.Begin.
		if m := s.group.Begin(&f.ctx, &to.ctx); m == nil {
			s.group.Switch(&f.ctx, &to.ctx)
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
		s.owner.set(f.g)
		s.fiber = f
	}
	f.enter(co)
	if co.doomed {
		co.unwind()
	}
}
