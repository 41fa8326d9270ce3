package goroutines

import (
	"context"
	"sync"

	"github.com/uvasync/uvasync/bench/internal/measure"
)

// Tree makes contexts, each from the one above it, with a goroutine for each
// that waits for its end. When all wait it cancels the first one, and waits
// until all have ended; and again, so many rounds.
func Tree(depth, rounds int) (s measure.Sample, err error) {
	t := &tree{did: make([]uint64, depth)}
	err = warmed(&s, rounds, t.round, func() {
		t.starts = 0
		clear(t.did)
	})
	s.Starts = t.starts
	for _, d := range t.did {
		s.Events += d
	}
	return s, err
}

type tree struct {
	arrived, ended sync.WaitGroup
	did            []uint64
	starts         uint64
}

func (t *tree) round() error {
	t.arrived.Add(len(t.did))
	t.ended.Add(len(t.did))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t.level(ctx, cancel, 0)
	for i := 1; i < len(t.did); i++ {
		below, cancelBelow := context.WithCancel(ctx)
		t.level(below, cancelBelow, i)
		ctx = below
	}
	t.arrived.Wait()
	cancel()
	t.ended.Wait()
	return nil
}

func (t *tree) level(ctx context.Context, cancel context.CancelFunc, i int) {
	go func() {
		defer t.ended.Done()
		defer cancel()
		t.arrived.Done()
		<-ctx.Done()
		t.did[i]++
	}()
	t.starts++
}
