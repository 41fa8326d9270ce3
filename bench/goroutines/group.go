package goroutines

import (
	"golang.org/x/sync/errgroup"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Group starts n goroutines, which end at once, through an errgroup of their
// own, waits for them, and again, so many rounds. At most limit of them run at
// once; 0: as many as there are.
func Group(n, limit, rounds int) (s measure.Sample, err error) {
	g := newGrouped(n, limit)
	err = warmed(&s, rounds, g.round, func() {
		g.starts = 0
		clear(g.did)
	})
	s.Starts = g.starts
	for _, d := range g.did {
		s.Events += d
	}
	return s, err
}

type grouped struct {
	limit  int
	bodies []func() error
	did    []uint64
	starts uint64
}

func newGrouped(n, limit int) *grouped {
	g := &grouped{limit: limit, bodies: make([]func() error, n), did: make([]uint64, n)}
	for i := range g.bodies {
		g.bodies[i] = func() error {
			g.did[i]++
			return nil
		}
	}
	return g
}

func (g *grouped) round() error {
	var group errgroup.Group
	if g.limit > 0 {
		group.SetLimit(g.limit)
	}
	for _, body := range g.bodies {
		group.Go(body)
		g.starts++
	}
	return group.Wait()
}
