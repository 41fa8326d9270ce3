package ours

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// ScopeSpawn is the counterpart of goroutines.Group without a limit.
func ScopeSpawn(n, rounds int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		did := make([]uint64, n)
		bodies := make([]func(*scheduler.Coroutine) error, n)
		for i := range bodies {
			bodies[i] = func(*scheduler.Coroutine) error {
				did[i]++
				return nil
			}
		}
		err := warmed(co, s, rounds, func(co *scheduler.Coroutine) error {
			sc := scope.New(co)
			for _, body := range bodies {
				if _, err := sc.Spawn(body); err != nil {
					return err
				}
				s.Starts++
			}
			return errors.Join(sc.AwaitCompletion(co), sc.Close())
		}, func() {
			s.Starts = 0
			clear(did)
		})
		s.Events = sum(did)
		return err
	})
}

func sum(did []uint64) (n uint64) {
	for _, d := range did {
		n += d
	}
	return n
}

// inScope is inRun in a scope that fn has for itself, and that lives as long.
func inScope(fn func(*scheduler.Coroutine, *measure.Sample) error) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		sc := scope.New(co)
		inside, err := sc.Spawn(func(co *scheduler.Coroutine) error { return fn(co, s) })
		if err != nil {
			return err
		}
		_, err = co.Await(inside)
		return errors.Join(err, sc.Dispose(), sc.AwaitCompletion(co))
	})
}

// ScopeFinish starts n coroutines, which end at once, and waits for them, and
// again, so many rounds, in a scope in which so many others wait all the time.
// The collector rests: how often it runs is up to the size of what it goes
// through, and that is not what is asked here.
func ScopeFinish(live, n, rounds int) (measure.Sample, error) {
	return inScope(func(co *scheduler.Coroutine, s *measure.Sample) error {
		p := newParked(co, live)
		if err := p.start(co); err != nil {
			return err
		}
		c := newCrowd(n, end)
		err := uncollected(func() error { return c.measure(co, s, rounds, func() {}) })
		return errors.Join(err, p.end(co))
	})
}

func end(_ *scheduler.Coroutine, _ int, did *uint64) error {
	*did++
	return nil
}

func uncollected(fn func() error) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return fn()
}

// ScopeMemory weighs 1,000 coroutines that wait in a scope in which n others
// have come and gone, few at once. The time is that of the 1,000.
func ScopeMemory(n int) (measure.Sample, error) {
	return inScope(func(co *scheduler.Coroutine, s *measure.Sample) error {
		const live, atOnce = 1_000, 50
		p, before := newParked(co, live), newCrowd(atOnce, end)
		var all measure.Sample
		err := all.Weighed(func() error {
			for range max(1, n/atOnce) {
				if err := before.round(co); err != nil {
					return err
				}
			}
			return s.Timed(func() error { return p.start(co) })
		})
		s.Memory = all.Memory
		err = errors.Join(err, p.end(co))
		p.count(s)
		return err
	})
}

// ScopeQueued weighs n coroutines in one scope that have not begun.
func ScopeQueued(n int) (measure.Sample, error) { return queued(n, n) }

// ScopesQueued weighs n in scopes of 1,000 each.
func ScopesQueued(n int) (measure.Sample, error) { return queued(n, min(n, 1_000)) }

func queued(n, each int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		scopes := make([]*scope.Scope, 0, n/each+1)
		ran := 0
		body := func(*scheduler.Coroutine) error { ran++; return nil }
		err := s.Weighed(func() error {
			for i := range n {
				if i%each == 0 {
					scopes = append(scopes, scope.New(co))
				}
				if _, err := scopes[i/each].Spawn(body); err != nil {
					return err
				}
				s.Starts++
			}
			return nil
		})
		for _, sc := range scopes { // all, before one of them has a turn
			err = errors.Join(err, sc.Cancel(nil))
		}
		for _, sc := range scopes {
			err = errors.Join(err, sc.AwaitCompletion(co))
		}
		if left := co.Scheduler().Stats().Total; left != 1 || ran != 0 {
			err = errors.Join(err, fmt.Errorf("of %d that were cancelled before they began, %d are left and %d have run", n, left-1, ran))
		}
		s.Stops = s.Starts
		return err
	})
}
