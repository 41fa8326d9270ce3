package pool_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// finish closes the pool, and has everything given back: nothing must be left of it.
func (w *modelled) finish(co *scheduler.Coroutine) error {
	if err := w.closeIt(co, 0); err != nil {
		return err
	}
	for w.total > 0 || len(w.ready) > 0 {
		w.openOne(0)
		if err := w.yields(co); err != nil {
			return err
		}
		if err := w.compare(); err != nil {
			return err
		}
		if err := w.giveOne(co, 0, "release"); err != nil {
			return err
		}
	}
	if err := co.Yield(); err != nil {
		return err
	}
	if !w.over {
		return errors.New("AwaitClosed does not return")
	}
	w.end.Open(nil, nil)
	return w.compare()
}

func TestPool_ModelOfWhoGetsWhatInWhichOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		yes := func(label string) bool { return rapid.Bool().Draw(rt, label) }
		rules := exactRules{
			max: rapid.IntRange(1, 4).Draw(rt, "max"), places: rapid.IntRange(0, 2).Draw(rt, "places"), limited: yes("limited"),
			guards: yes("guards"), looks: yes("looks"), destroys: !yes("no Destroy"), strategic: yes("strategic"),
		}
		rules.min = rapid.IntRange(0, rules.max).Draw(rt, "min")
		ops := rapid.SliceOfN(rapid.IntRange(0, 24), 120, 120).Draw(rt, "ops")
		picks := rapid.SliceOfN(rapid.IntRange(0, 1<<20), len(ops), len(ops)).Draw(rt, "picks")
		r := simreactor.New(1)
		defer r.Close()
		err := scheduler.New(r, scheduler.Options{Slice: hour, Luck: 1 << 14}).Run(t.Context(), func(co *scheduler.Coroutine) error {
			w := &modelled{
				exact: &exact{exactRules: rules, epoch: 1}, gates: map[int]*cotest.Gate{}, end: cotest.NewGate(nil),
				did: map[*exactVisit]*deed{}, holds: map[*exactHold]pool.Handle[*thing]{},
			}
			if err := w.open(co); err != nil {
				return err
			}
			for i, op := range ops {
				if err := w.do(co, op, picks[i]); err != nil {
					return fmt.Errorf("step %d: %w", i, err)
				}
				if err := w.compare(); err != nil {
					return fmt.Errorf("after step %d: %w", i, err)
				}
			}
			return w.finish(co)
		})
		require.NoError(rt, err)
	})
}
