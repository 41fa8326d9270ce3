// Package ours is the library's side of every case: the same work as in
// package raw, done in Go through package reactor, and as in package
// goroutines, done with coroutines.
package ours

import (
	"errors"
	"runtime"

	"github.com/uvasync/uvasync/bench/internal/measure"
	"github.com/uvasync/uvasync/bench/raw"
	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/reactor"
)

// onLoop opens a loop for one round, and closes it again.
func onLoop(fn func(*reactor.Loop, *measure.Sample) error) (s measure.Sample, err error) {
	opts := reactor.Options{}
	if raw.VirtualClock() {
		// The loop yields to other goroutines by its own time, which would be as many times too often as the virtual clock
		// runs ahead of the real one.
		opts.YieldEvery = -1
	}
	loop, err := reactor.New(opts)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, loop.Close()) }()
	return s, fn(loop, &s)
}

// settle ends the set-up: the collection that its memory has set off is not to
// run into the timed part.
func settle() { runtime.GC() }

// turnUntil turns the loop until done, and counts the turns.
func turnUntil(loop *reactor.Loop, block bool, s *measure.Sample, done func() bool) error {
	for !done() {
		if _, err := loop.Tick(block); err != nil {
			return err
		}
		s.Turns++
	}
	return nil
}

// closed counts the handles of a kind that were closed and whose close callback
// has come.
func closed(loop *reactor.Loop, kind cuv.Kind) uint64 {
	return loop.Binding().Handles(kind).Closed
}
