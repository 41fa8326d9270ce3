package scheduler

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
)

// observeEnter tells those who want to know that co goes on.
func (f *fiber) observeEnter(co *Coroutine) {
	s := f.s
	if s.watched {
		s.shown.Store(co)
	}
	if h := s.handlers(); h != nil && h.Enter != nil {
		co.state = suspended
		s.call(func() error { h.Enter(co); return nil })
		co.state = running
	}
	if s.opts.PprofLabels && f.labels != co.id { // the goroutine may have those of the coroutine that it ran before
		f.labels = co.id
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(),
			pprof.Labels("coroutine", co.Name(), "coroutine_id", strconv.FormatUint(co.id, 10))))
	}
	if trace.IsEnabled() {
		s.regions++
		f.traced = trace.StartRegion(context.Background(), co.Name())
	}
}

// observeLeave tells them that co suspends or has ended.
func (f *fiber) observeLeave(co *Coroutine) {
	s := f.s
	if s.watched {
		s.shown.Store(nil)
	}
	if f.traced != nil {
		f.traced.End()
		s.regions--
		f.traced = nil
	}
	if h := s.handlers(); h != nil && h.Leave != nil {
		s.call(func() error { h.Leave(co); return nil })
	}
}

// handlers are the switch handlers, as long as nobody has exited a goroutine: one of them may be who does, every time.
func (s *Scheduler) handlers() *SwitchHandlers {
	if s.exited {
		return nil
	}
	return s.opts.Switch
}
