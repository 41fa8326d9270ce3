package main

import (
	"fmt"
	"io"
	"time"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/pool"
)

const (
	startTakes  = 30 * time.Millisecond
	checksEvery = 50 * time.Millisecond
	coolDown    = 300 * time.Millisecond
)

// A workshop has two workers at most, and tells of them.
type workshop struct {
	pool  *pool.Pool[*worker]
	staff []*worker // all that have ever started
	fault error     // why none starts at the moment; nil: they start
	out   io.Writer
}

func open(co *uvasync.Coroutine, out io.Writer) (s *workshop, err error) {
	s = &workshop{out: out}
	s.pool, err = pool.New(co, pool.Config[*worker]{
		Name: "workers",
		Max:  2,

		Create:         s.start,
		Destroy:        s.stop,
		BeforeRelease:  s.comesBack,
		HealthCheck:    s.isAlive,
		HealthInterval: checksEvery,

		Strategy:      &pool.ConsecutiveFailures{Failures: 2, CoolDown: coolDown},
		OnStateChange: func(from, to pool.State) { s.say("the breaker was %v and is %v", from, to) },
		OnError:       func(err error) { s.say("nobody's error: %v", err) },
	})
	return s, err
}

// The hooks of the pool. Each of them may wait.

func (s *workshop) start(co *uvasync.Coroutine) (*worker, error) {
	if err := co.Delay(startTakes); err != nil {
		return nil, err
	}
	if s.fault != nil {
		return nil, s.fault
	}
	w, err := newWorker(co, len(s.staff)+1)
	if err != nil {
		return nil, err
	}
	s.staff = append(s.staff, w)
	s.say("%v has started", w)
	return w, nil
}

func (s *workshop) stop(co *uvasync.Coroutine, w *worker) error {
	err := w.stop(co)
	s.say("%v has left", w)
	return err
}

// comesBack waits for a result that the worker owes, so that the next one does not get it.
func (s *workshop) comesBack(co *uvasync.Coroutine, w *worker) (bool, error) {
	if w.owes {
		result, err := w.result(co, uvasync.Timeout(time.Minute))
		if err != nil {
			return false, err
		}
		s.say("nobody waits for it: %s", result)
	}
	return !w.self.Completed(), nil
}

func (s *workshop) isAlive(_ *uvasync.Coroutine, w *worker) (bool, error) {
	if w.self.Completed() {
		return false, fmt.Errorf("%v is dead: %w", w, w.self.Error())
	}
	return true, nil
}

// call has a job done for each of them, all at once, and tells in this order what they got.
func (s *workshop) call(co *uvasync.Coroutine, names ...string) error {
	var calls []*future.Future[string]
	for _, name := range names {
		calls = append(calls, future.Go(co, func(co *uvasync.Coroutine) (string, error) {
			got, err := pool.Use(co, s.pool, func(co *uvasync.Coroutine, w *worker) (string, error) {
				return w.do(co, "the job of "+name)
			})
			if err != nil {
				got = fmt.Sprintf("%s gets an error: %v", name, err)
			}
			return got, nil
		}, uvasync.Named(name)))
	}
	got, err := future.AwaitAllOrFail(co, future.Of(calls...))
	for _, line := range got.Values() {
		s.say("%s", line)
	}
	return err
}

// until waits for what the pool does on its own, of which nobody is told.
func (s *workshop) until(co *uvasync.Coroutine, so func(n pool.Stats) bool) error {
	for !so(s.pool.Stats()) {
		if err := co.Delay(time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (s *workshop) say(format string, args ...any) { fmt.Fprintf(s.out, "   "+format+"\n", args...) }

func (s *workshop) stats() {
	n := s.pool.Stats()
	s.say("= %d/%d workers, %d idle, %d waiting, breaker %v; made %d, failed %d, destroyed %d; acquired %d, waited %d, timed out %d",
		n.Total, n.Max, n.Idle, n.Waiting, n.State, n.Created, n.CreateFailures, n.Destroyed, n.Acquired, n.EmptyAcquired, n.TimedOut)
}
