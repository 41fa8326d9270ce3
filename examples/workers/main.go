// Workers shows a pool of scarce things. Workers are slow to start, fail to start, are left by whoever had them, and die; the
// pool limits how many there are, finds the dead ones, and turns callers away while none can be had. The workers are coroutines
// here, but could as well be processes, sessions or connections. From the root of the repository:
//
//	third_party/libuv/with.sh plain go -C examples run ./workers
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/pool"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func tell(ctx context.Context, out io.Writer) error {
	return uvasync.Run(ctx, func(co *uvasync.Coroutine) error { return story(co, out) })
}

func story(co *uvasync.Coroutine, out io.Writer) error {
	s, err := open(co, out)
	if err != nil {
		return err
	}
	defer s.pool.Close(co)
	for i, act := range []struct {
		title string
		play  func(co *uvasync.Coroutine) error
	}{
		{"Workers are slow to start. What was begun for a caller who leaves is there for the next.", s.slow},
		{"There are two workers at most: others wait in line.", s.line},
		{"A caller is cancelled while it has a worker, which finishes its job and is good for the next.", s.cancelled},
		{"Workers die while nobody has them: the health check finds them.", s.dead},
		{"A start fails: whoever wanted the worker is told. The next one succeeds.", s.failing},
		{"No worker starts any more. At the second failure the circuit breaker opens: callers are turned away at once.", s.outage},
		{"Time has passed: the breaker lets one caller through as a probe. It goes well, and the breaker closes.", s.recovery},
		{"The pool is closed: whoever has a worker keeps it to the end.", s.closing},
	} {
		fmt.Fprintf(out, "%d. %s\n", i+1, act.title)
		if err := act.play(co); err != nil {
			return err
		}
		s.stats()
	}
	return nil
}

var errOutOfMemory = errors.New("out of memory")

func (s *workshop) slow(co *uvasync.Coroutine) error {
	_, err := s.pool.Acquire(co, uvasync.Timeout(startTakes/2))
	s.say("eve has no patience: %v", err)
	// What is being made for eve is not lost.
	return s.until(co, func(n pool.Stats) bool { return n.Idle == 1 })
}

func (s *workshop) line(co *uvasync.Coroutine) error {
	var linus *uvasync.Coroutine
	err := s.pool.With(co, func(co *uvasync.Coroutine, _ *worker) error {
		return s.pool.With(co, func(co *uvasync.Coroutine, _ *worker) (err error) {
			if linus, err = co.Spawn(func(co *uvasync.Coroutine) error { return s.call(co, "linus") }); err != nil {
				return err
			}
			err = s.until(co, func(n pool.Stats) bool { return n.Waiting == 1 })
			s.stats()
			return err
		})
	})
	if err != nil {
		return err
	}
	_, err = co.Await(linus)
	return err
}

func (s *workshop) cancelled(co *uvasync.Coroutine) error {
	ada, err := co.Spawn(func(co *uvasync.Coroutine) error {
		w, err := s.pool.Acquire(co)
		if err != nil {
			return err
		}
		defer w.Release(co) // does all that it should, though co is cancelled
		_, err = w.Value().do(co, "the job of ada")
		s.say("ada gets an error: %v", err)
		return nil
	}, uvasync.Named("ada"))
	if err != nil {
		return err
	}
	// When this comes back from ada, she has a worker, and waits for the result.
	if err := errors.Join(co.YieldTo(ada), ada.Cancel(errors.New("she has left"))); err != nil {
		return err
	}
	if _, err := co.Await(ada); err != nil {
		return err
	}
	return s.call(co, "grace", "linus")
}

func (s *workshop) dead(co *uvasync.Coroutine) error {
	for _, w := range s.staff {
		if err := w.die(errOutOfMemory); err != nil {
			return err
		}
	}
	return s.until(co, func(n pool.Stats) bool { return n.Total == 0 })
}

func (s *workshop) failing(co *uvasync.Coroutine) error {
	s.fault = errOutOfMemory
	if err := s.call(co, "ada"); err != nil {
		return err
	}
	s.fault = nil
	return s.call(co, "ada")
}

func (s *workshop) outage(co *uvasync.Coroutine) error {
	adas, err := s.pool.Acquire(co)
	if err != nil {
		return err
	}
	defer adas.Release(co) // it is of the old version, and leaves when ada is done
	s.fault = errors.New("the new version of the worker crashes")
	if err := s.pool.Reset(co); err != nil {
		return err
	}
	// There is room for one beside that of ada: a worker is started for grace, then one for linus. Eve waits in line.
	if err := s.call(co, "grace", "linus", "eve"); err != nil {
		return err
	}
	// From now on nobody waits, and nothing is started.
	return s.call(co, "grace", "linus")
}

func (s *workshop) recovery(co *uvasync.Coroutine) error {
	if err := co.Delay(coolDown); err != nil {
		return err
	}
	s.fault = nil
	if err := s.call(co, "ada", "grace"); err != nil { // ada is the probe
		return err
	}
	return s.call(co, "grace")
}

func (s *workshop) closing(co *uvasync.Coroutine) error {
	var graces pool.Handle[*worker]
	err := s.pool.With(co, func(co *uvasync.Coroutine, _ *worker) (err error) { // so that hers is another one
		graces, err = s.pool.Acquire(co)
		return err
	})
	if err != nil {
		return err
	}
	err1 := s.pool.Close(co)
	err2 := s.call(co, "linus")
	result, err3 := graces.Value().do(co, "the job of grace")
	s.say("%s", result)
	return errors.Join(err1, err2, err3, graces.Release(co), s.pool.AwaitClosed(co))
}
