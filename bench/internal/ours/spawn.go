package ours

import (
	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/scheduler"
)

// Spawn is the counterpart of goroutines.Spawn.
func Spawn(n, rounds int) (measure.Sample, error) {
	return spawn(n, rounds, func(_ *scheduler.Coroutine, _ int, did *uint64) error {
		*did++
		return nil
	})
}

// SpawnYield is the counterpart of goroutines.SpawnYield.
func SpawnYield(n, rounds int) (measure.Sample, error) {
	return spawn(n, rounds, func(co *scheduler.Coroutine, _ int, did *uint64) error {
		err := co.Yield()
		*did++
		return err
	})
}

func spawn(n, rounds int, body func(*scheduler.Coroutine, int, *uint64) error) (measure.Sample, error) {
	return inRun(func(co *scheduler.Coroutine, s *measure.Sample) error {
		return newCrowd(n, body).measure(co, s, rounds, func() {})
	})
}
