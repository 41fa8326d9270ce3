package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

const kindsOfMoodySteps = 24

// moodySteps are the steps of a walk, and what they need to be chosen by.
type moodySteps struct {
	config     int
	ops, picks []int
}

// seededSteps are those of a seed.
func seededSteps(rnd *rand.Rand, n int) (s moodySteps) {
	s.config = rnd.IntN(1 << 20)
	for range n {
		s.ops = append(s.ops, rnd.IntN(kindsOfMoodySteps))
		s.picks = append(s.picks, rnd.IntN(1<<20))
	}
	return s
}

// run is the main coroutine of a walk.
func (w *walk) run(co *scheduler.Coroutine, s moodySteps) error {
	if err := w.open(co, s.config); err != nil {
		return err
	}
	for i, op := range s.ops {
		if err := w.do(co, op, s.picks[i]); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	if err := w.finish(co); err != nil {
		return fmt.Errorf("in the end: %w", err)
	}
	return nil
}

// finish has everything given back, and closes the pool: nothing must be left of it.
func (w *walk) finish(co *scheduler.Coroutine) error {
	w.calm = true
	w.gate.Open(nil, nil)
	for len(w.mine) > 0 {
		w.giveMine(co, 8)
	}
	for _, one := range w.workers {
		if _, err := co.Await(one.co); err != nil && !one.cancelled {
			return err
		}
	}
	w.check()
	w.closed = true
	if err := w.p.Close(co); err != nil {
		return err
	}
	if err := w.p.AwaitClosed(co, scheduler.Timeout(5*time.Second)); err != nil {
		return fmt.Errorf("%w: %+v", err, w.p.Stats())
	}
	return w.over()
}

// walkOn makes a run of it.
func walkOn(t require.TestingT, r reactortest.World, o scheduler.Options, unit time.Duration, s moodySteps) {
	w := &walk{}
	w.unit = unit
	w.shuffled = o.Rand != nil
	o.Slice, o.Luck = hour, 1<<14
	require.NoError(t, scheduler.New(r, o).Run(context.Background(), func(co *scheduler.Coroutine) error { return w.run(co, s) }))
	require.NoError(t, w.err)
	assert.Zero(t, r.Live(), "events are live")
	require.NoError(t, r.Close())
}

func TestPool_ModelOfMoodyHooks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := moodySteps{config: rapid.IntRange(0, 1<<20).Draw(rt, "config")}
		s.ops = rapid.SliceOfN(rapid.IntRange(0, kindsOfMoodySteps-1), 120, 120).Draw(rt, "ops")
		s.picks = rapid.SliceOfN(rapid.IntRange(0, 1<<20), len(s.ops), len(s.ops)).Draw(rt, "picks")
		walkOn(rt, reactortest.Simulated{Reactor: simreactor.New(1)}, scheduler.Options{}, ms, s)
	})
}

func TestPool_ModelOfMoodyHooksInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		r := simreactor.New(seed)
		r.SetShuffle(true)
		walkOn(rt, reactortest.Simulated{Reactor: r}, scheduler.Options{Rand: rand.New(rand.NewPCG(seed, 1))}, ms,
			seededSteps(rand.New(rand.NewPCG(seed, 2)), 120))
	})
}

func TestPool_ModelOfMoodyHooksOnLibuv(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			l, err := reactor.New(reactor.Options{})
			require.NoError(t, err)
			var o scheduler.Options
			if seed%2 == 1 {
				o.Rand = rand.New(rand.NewPCG(seed, 1))
			}
			walkOn(t, reactortest.Real{Loop: l}, o, ms, seededSteps(rand.New(rand.NewPCG(seed, 2)), 120))
		})
	}
}
