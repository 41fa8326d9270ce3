package uvasync_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/uvtest"
)

// TestForEach_ITER04_NothingOfAnIterationIsLeftInAnyOrder nests iterations at random, whose calls fail, stop, spawn, make
// scopes and are cancelled: when ForEach has returned, nothing of it runs.
func TestForEach_ITER04_NothingOfAnIterationIsLeftInAnyOrder(t *testing.T) {
	until := time.Now().Add(time.Second)
	for seed := uint64(0); time.Now().Before(until) && !t.Failed(); seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		uvtest.Run(t, func(co *uvasync.Coroutine) error {
			var iterate func(co *uvasync.Coroutine, depth int) error
			iterate = func(co *uvasync.Coroutine, depth int) error {
				live := 0
				limit, at := 1+r.IntN(3), 0
				opts := []future.EachOption{future.Concurrency(limit)}
				if r.IntN(2) == 0 {
					opts = append(opts, future.AwaitPending())
				}
				nap := func(co *uvasync.Coroutine) error {
					if r.IntN(2) == 0 {
						return co.Yield()
					}
					return co.Delay(time.Duration(r.IntN(4)) * time.Millisecond)
				}
				err := future.ForEach(co, slices.Values(make([]int, r.IntN(6))), func(co *uvasync.Coroutine, _ int) error {
					live++
					at++
					defer func() { live--; at-- }()
					if at > limit {
						t.Errorf("seed %d: %d calls at once", seed, at)
					}
					for range r.IntN(3) {
						var in uvasync.Event
						spawn := func(sc interface {
							Spawn(func(*uvasync.Coroutine) error, ...spawnOption) (*uvasync.Coroutine, error)
						}) {
							c, err := sc.Spawn(func(co *uvasync.Coroutine) error {
								live++
								defer func() { live-- }()
								if r.IntN(2) == 0 {
									_ = co.Protect(func(context.Context) error { return nap(co) })
								}
								if r.IntN(6) == 0 {
									return errors.New("child")
								}
								return nap(co)
							})
							if err == nil {
								in = c
								if r.IntN(3) == 0 {
									_ = c.OnFinally(func(self, _ *uvasync.Coroutine) error {
										live++
										defer func() { live-- }()
										return nap(self)
									})
								}
							}
						}
						if r.IntN(2) == 0 {
							spawn(co)
						} else if sc, err := co.Scope().New(); err == nil {
							spawn(sc)
						}
						if in != nil && r.IntN(3) == 0 {
							_, _ = co.Await(in)
						}
					}
					if depth > 0 && r.IntN(2) == 0 {
						if err := iterate(co, depth-1); err != nil && r.IntN(2) == 0 {
							return err
						}
					}
					if err := nap(co); err != nil {
						return err
					}
					switch r.IntN(10) {
					case 0:
						return errors.New("call")
					case 1:
						return future.ErrStop
					case 2:
						panic("call")
					}
					return nil
				}, opts...)
				if live != 0 {
					t.Errorf("seed %d: %d are left of an iteration that ended with %v", seed, live, err)
				}
				return err
			}
			for range 5 {
				c, err := co.Spawn(func(co *uvasync.Coroutine) error { _ = iterate(co, 2); return nil })
				if err != nil {
					return err
				}
				if r.IntN(2) == 0 {
					_ = co.Delay(time.Duration(r.IntN(5)) * time.Millisecond)
					_ = c.Cancel(errors.New("cancelled"))
				}
			}
			return nil
		}, uvtest.Seed(seed), uvtest.Shuffle())
	}
}

type spawnOption = scheduler.SpawnOption

// TestContext_CANC28_ContextsOfBlocksInAnyOrder nests blocks at random and makes contexts in them: one is cancelled exactly
// when a block around the place where it was made was, while that block lasted.
func TestContext_CANC28_ContextsOfBlocksInAnyOrder(t *testing.T) {
	type made struct {
		ctx    context.Context
		done   <-chan struct{}
		blocks []int
	}
	until := time.Now().Add(time.Second)
	for seed := uint64(0); time.Now().Before(until) && !t.Failed(); seed++ {
		r := rand.New(rand.NewPCG(seed, 5))
		uvtest.Run(t, func(co *uvasync.Coroutine) error {
			var all []*made
			fired := map[int]bool{}
			next := 0
			check := func(where string) {
				for i, m := range all {
					want := slices.ContainsFunc(m.blocks, func(b int) bool { return fired[b] })
					if got := m.ctx.Err() != nil; got != want {
						t.Errorf("seed %d, %s: context %d of %v: cancelled %v, want %v", seed, where, i, m.blocks, got, want)
					}
				}
			}
			var nest func(co *uvasync.Coroutine, blocks []int)
			nest = func(co *uvasync.Coroutine, blocks []int) {
				for range 1 + r.IntN(4) {
					if t.Failed() {
						return
					}
					switch r.IntN(5) {
					case 0, 1:
						ctx, cancel := context.WithCancel(co)
						_ = cancel
						all = append(all, &made{ctx: ctx, done: co.Done(), blocks: slices.Clone(blocks)})
					case 2, 3:
						if len(blocks) > 5 {
							continue
						}
						next++
						id := next
						_ = co.WithCancel(func(co *uvasync.Coroutine, cancel func(error)) error {
							inner := append(slices.Clone(blocks), id)
							nest(co, inner)
							if r.IntN(3) == 0 && co.Err() == nil {
								cancel(errors.New("block"))
								fired[id] = true
								check("cancelled")
								assert.Error(t, co.Err())
							}
							nest(co, inner)
							return nil
						})
						check("after a block")
					case 4:
						_ = co.Protect(func(context.Context) error {
							assert.NoError(t, co.Err())
							return nil
						})
						check("after protect")
					}
				}
			}
			nest(co, []int{0})
			fired[0] = true
			self := co
			_, err := co.Spawn(func(co *uvasync.Coroutine) error {
				_, _ = co.Await(self)
				check("the end")
				return nil
			})
			return err
		}, uvtest.Seed(seed))
	}
	_ = fmt.Sprint
}
