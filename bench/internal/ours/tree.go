package ours

import (
	"errors"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// ScopeTree is the counterpart of goroutines.Tree.
func ScopeTree(depth, rounds int) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		_, never := future.New[struct{}](co)
		t := &tree{never: never, did: make([]uint64, depth)}
		err := warmed(co, s, rounds, t.round, func() {
			t.starts = 0
			clear(t.did)
		})
		s.Starts, s.Events = t.starts, sum(t.did)
		return err
	})
}

type tree struct {
	never   *future.Future[struct{}]
	arrived cosync.WaitGroup
	did     []uint64
	starts  uint64
}

func (t *tree) round(co *scheduler.Coroutine) error {
	t.arrived.Add(len(t.did))
	top := scope.New(co).AsNotSafely()
	err := t.level(top, 0)
	for i, at := 1, top; i < len(t.did) && err == nil; i++ {
		at = scope.Inherit(at)
		err = t.level(at, i)
	}
	if err != nil {
		return err
	}
	return errors.Join(t.arrived.Wait(co), top.Cancel(nil), top.AwaitCompletion(co))
}

func (t *tree) level(sc *scope.Scope, i int) error {
	t.starts++
	_, err := sc.Spawn(func(co *scheduler.Coroutine) error {
		defer sc.Close() // which also keeps the handle
		t.arrived.Done()
		_, err := t.never.Await(co)
		t.did[i]++
		return err
	})
	return err
}
