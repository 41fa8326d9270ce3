package ours

import (
	"errors"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// Group is the counterpart of goroutines.Group.
func Group(n, limit, rounds int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		g := newGrouped(n, limit)
		err := warmed(co, s, rounds, g.round, func() {
			g.starts = 0
			clear(g.did)
		})
		s.Starts, s.Events = g.starts, sum(g.did)
		return err
	})
}

type grouped struct {
	limit  int
	bodies []func(*scheduler.Coroutine) (int, error)
	did    []uint64
	starts uint64
}

func newGrouped(n, limit int) *grouped {
	g := &grouped{limit: limit, bodies: make([]func(*scheduler.Coroutine) (int, error), n), did: make([]uint64, n)}
	for i := range g.bodies {
		g.bodies[i] = func(*scheduler.Coroutine) (int, error) {
			g.did[i]++
			return i, nil
		}
	}
	return g
}

func (g *grouped) round(co *scheduler.Coroutine) error {
	group, err := scope.NewGroup[int](co, scope.GroupConfig{Concurrency: g.limit})
	if err != nil {
		return err
	}
	for _, body := range g.bodies {
		if _, err := group.Spawn(co, body); err != nil {
			return err
		}
		g.starts++
	}
	return errors.Join(group.Close(), group.AwaitCompletion(co))
}
