package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uvasync/uvasync/event"
)

var (
	// ErrRunOver is the reason of cancellations at the end of a run.
	ErrRunOver = errors.New("scheduler: the run is over")
	errUnwound = errors.New("scheduler: unwound at the end of the shutdown grace")
)

// stage is how far a shutdown has come.
type stage uint8

const (
	stageNone   stage = iota
	stageCancel       // everybody is cancelled, protected sections are honoured
	stageUnwind       // the grace is over: whoever suspends is unwound
)

// ShutdownError names the coroutines that a shutdown had to unwind because the grace was over.
type ShutdownError struct {
	Grace      time.Duration
	Coroutines []string // name, what it waited for and where, where it was started
}

func (e *ShutdownError) Error() string {
	who := "1 coroutine"
	if n := len(e.Coroutines); n > 1 {
		who = fmt.Sprint(n, " coroutines")
	}
	return fmt.Sprintf("scheduler: %s did not end within the shutdown grace of %v and had to be unwound: %s",
		who, e.Grace, strings.Join(e.Coroutines, "; "))
}

// Shutdown ends the run in order: every coroutine is cancelled, has the grace to end, and is unwound after it (CANC-18). Run
// then returns an *event.CancelledError with the reason. A second call does nothing. The loop only.
func (s *Scheduler) Shutdown(reason error) error {
	if err := s.Check("Scheduler.Shutdown"); err != nil {
		return err
	}
	s.askedToEnd(reason)
	return nil
}

func (s *Scheduler) askedToEnd(reason error) {
	if s.stage == stageNone {
		s.failure = event.WithCause(&event.CancelledError{Reason: reason}, s.failure)
	}
	s.shutdown(reason)
}

func (s *Scheduler) shutdown(reason error) {
	if s.stage != stageNone || s.ended {
		return
	}
	s.stage = stageCancel
	if s.opts.Grace > 0 {
		s.grace = s.reactor.NewDeadline(s.unwindAll)
		// Hidden, so that waits that nothing can end are told at once, and not when the grace is over.
		s.grace.SetHidden(true)
		if err := s.grace.Start(s.opts.Grace); err != nil {
			s.failure = event.WithCause(err, s.failure)
		}
	}
	if s.opts.Grace > 0 {
		s.unhide()
	}
	e := ending{how: forcibly, reason: &event.CancelledError{Reason: reason}}
	for root := s.roots.first; root != nil; root = root.next {
		if !root.cleans() {
			e.begin(root)
		}
	}
	for root := s.roots.first; root != nil; root = root.next {
		e.add(root)
	}
	if s.opts.Grace < 0 {
		defer s.unwindAll() // also when who is told exits the goroutine
	}
	e.run()
}

// unhide makes the time that helpers wait for count as live, in as far as the cancellation spares them: as long as the
// grace lasts, it may still come.
func (s *Scheduler) unhide() {
	for _, co := range s.Coroutines() {
		if co.marks.has(markHidden) && co.state == suspended {
			co.fiber.wait.lend()
		}
	}
}

// eachScope yields all scopes of the run, the innermost first. Nobody may be told anything meanwhile.
func (s *Scheduler) eachScope(yield func(*Scope) bool) {
	for root := s.roots.first; root != nil; root = root.next {
		if !root.visit(yield) {
			return
		}
	}
}

// unwindAll is stage 2.
func (s *Scheduler) unwindAll() {
	if s.stage == stageUnwind {
		return
	}
	s.stage = stageUnwind
	late := &ShutdownError{Grace: s.opts.Grace}
	for _, co := range s.Coroutines() {
		if co.state == completed { // what its end brings about is under way
			continue
		}
		if co.state != queued {
			late.Coroutines = append(late.Coroutines, s.whereabouts(co))
		}
		co.doomed = true
		if co.state == queued && co.scope.cleans() { // finally handlers begin all the same
			co.barred = true
			continue
		}
		if !co.asked {
			co.asked, co.extra().requested = true, &event.CancelledError{Reason: errUnwound}
		}
		co.judge()
	}
	for sc := range s.eachScope {
		sc.sealed = true
	}
	if len(late.Coroutines) > 0 {
		s.failure = event.WithCause(late, s.failure)
	}
}

func (s *Scheduler) whereabouts(co *Coroutine) string {
	text := co.title()
	if what := co.WaitsFor(); what != "" {
		text += ", waits for " + what
	}
	if where := co.SuspendLocation(); where != "" {
		text += " at " + where
	}
	return text + ", started " + co.SpawnLocation()
}

// unwound is what a coroutine ends with that was unwound.
func (s *Scheduler) unwound(co *Coroutine) error {
	return event.WithCause(&event.CancelledError{Reason: errUnwound}, co.requested())
}

// over reports whether the run is: no coroutine is left, and the scopes are complete. When no active one is left, the others
// are cancelled (SCOPE-29).
func (s *Scheduler) over() bool {
	if s.active > 0 {
		return false
	}
	if s.total > 0 {
		s.shutdown(ErrRunOver)
		return false
	}
	s.complete()
	return s.total == 0
}

// complete ends the scopes that are left, innermost first: they are asked for failures that nobody saw, and their finally
// handlers start, which may make others (SHUT-04).
func (s *Scheduler) complete() {
	var at *Scope
	for s.total == 0 && s.roots.first != nil {
		for at != nil && at.done {
			at = at.parent
		}
		if at == nil {
			at = s.roots.first
		}
		for at.children.first != nil {
			at = at.children.first
		}
		at.sealed = true
		at.leaveIfDone()
	}
}
