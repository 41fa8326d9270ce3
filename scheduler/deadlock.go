package scheduler

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/uvasync/uvasync/event"
)

// DeadlockError says that coroutines waited for what nothing could bring about any more.
type DeadlockError struct {
	Waiting int    // how many coroutines
	Report  string // each of them: what it waits for, where, and where it was started; several lines
}

func (e *DeadlockError) Error() string {
	return fmt.Sprintf("scheduler: deadlock: %s", e.Report)
}

// Starving is something that may help when nothing can go on: a channel with a soft time limit (CHAN-32).
type Starving interface {
	// Starve is called before a deadlock verdict; true: somebody was woken.
	Starve() bool
}

// StarvingNode is the place of something in the list of what may help. Embed one; the zero value is ready; do not copy it.
type StarvingNode struct {
	prev, next *StarvingNode
	s          *Scheduler
	thing      Starving
}

// Starving registers a thing, at the end of the list; one that is registered stays where it is. The loop only.
func (s *Scheduler) Starving(n *StarvingNode, thing Starving) {
	if n.s != nil {
		return
	}
	n.s, n.thing, n.prev = s, thing, s.lastStarving
	if s.lastStarving == nil {
		s.firstStarving = n
	} else {
		s.lastStarving.next = n
	}
	s.lastStarving = n
}

// Release takes the thing out of the list. Idempotent.
func (n *StarvingNode) Release() {
	if n.s == nil {
		return
	}
	if n.prev == nil {
		n.s.firstStarving = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		n.s.lastStarving = n.prev
	} else {
		n.next.prev = n.prev
	}
	*n = StarvingNode{}
}

// starve asks for help, one after the other, until somebody was woken.
func (s *Scheduler) starve() {
	var list []*StarvingNode
	for n := s.firstStarving; n != nil; n = n.next {
		list = append(list, n)
	}
	for _, n := range list {
		if n.s == nil { // released by one before it
			continue
		}
		if s.starves(n) || !s.stuck() {
			return
		}
	}
}

func (s *Scheduler) starves(n *StarvingNode) (helped bool) {
	exits := true
	defer func() {
		if exits { // it would do so again
			n.Release()
		}
	}()
	s.call(func() error { helped = n.thing.Starve(); return nil })
	exits = false
	return helped
}

// deadlocked is the verdict: every wait fails, protected ones too, and the run ends. When those who went on after an earlier
// one get stuck again, they are unwound.
func (s *Scheduler) deadlocked() {
	var waiting []*Coroutine
	for _, co := range s.Coroutines() {
		if co.state == suspended && !co.marks.has(markHidden) {
			waiting = append(waiting, co)
		}
	}
	if len(waiting) == 0 || s.deadlocks > 0 {
		if s.stage == stageUnwind {
			panic("bug: scheduler: coroutines are left that nothing can end: " + s.report(s.Coroutines()))
		}
		s.unwindAll()
		return
	}
	s.deadlocks++
	err := &DeadlockError{Waiting: len(waiting), Report: s.report(waiting)}
	s.failure = event.WithCause(err, s.failure) // DEAD-08
	s.log(slog.LevelError, err.Error)
	cancelled := &event.CancelledError{Reason: err}
	for _, co := range waiting {
		co.cancel(cancelled)
		if co.state == suspended {
			co.fiber.wait.interrupt(cancelled) // a protected one
		}
	}
	s.shutdown(err)
}

// report describes each waiting coroutine (DEAD-10).
func (s *Scheduler) report(waiting []*Coroutine) string {
	var b strings.Builder
	who := "1 coroutine waits"
	if len(waiting) > 1 {
		who = fmt.Sprint(len(waiting), " coroutines wait")
	}
	fmt.Fprintf(&b, "%s, and nothing can wake them\n", who)
	const most = 20
	for i, co := range waiting {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more\n", len(waiting)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s\n    waits for  %s\n", co.title(), co.WaitsFor())
		if where := co.SuspendLocation(); where != "" {
			fmt.Fprintf(&b, "    at         %s\n", where)
		}
		fmt.Fprintf(&b, "    started    %s\n", co.SpawnLocation())
	}
	return b.String()
}
