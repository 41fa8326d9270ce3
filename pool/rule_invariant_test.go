package pool_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// GEN-04, GEN-05: after any history of arrivals, departures, releases and creations that come to an end, well or not, nobody was
// overtaken, and nobody waits who could be served.
func TestPool_GEN05_AnyHistory(t *testing.T) {
	for _, together := range []int{1, 4} { // how many steps go by before those who were woken run
		t.Run(fmt.Sprint(together, " at once"), func(t *testing.T) {
			for seed := range uint64(60) {
				cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
					runOf(t, e, 1+int(seed%4), func(t *testing.T, d *depot, co *scheduler.Coroutine) {
						h := newHistory(t, d, rand.New(rand.NewPCG(seed, 11)))
						d.open(co)
						for range 120 {
							for range together {
								h.step(co)
								agree(t, d.p.Stats())
							}
							settle(co)
							settle(co)
							if h.check(); t.Failed() {
								t.Fatalf("seed %d: %v", seed, h.log)
							}
						}
						h.finish(co)
					})
				})
			}
		})
	}
}

// history is what is done to a pool. Its creations end when it says so.
type history struct {
	t      *testing.T
	d      *depot
	rnd    *rand.Rand
	visits []*visit        // in the order of arrival
	ended  map[*visit]bool // released again
	making []*cotest.Gate
	log    []string
}

func newHistory(t *testing.T, d *depot, rnd *rand.Rand) *history {
	h := &history{t: t, d: d, rnd: rnd, ended: map[*visit]bool{}}
	d.cfg.BeforeRelease = fine
	d.creates(func(co *scheduler.Coroutine, _ int) error {
		g := d.e.Gate()
		h.making = append(h.making, g)
		return passes(co, g)
	})
	return h
}

func (h *history) step(co *scheduler.Coroutine) {
	switch n := h.rnd.IntN(10); {
	case n < 3:
		h.log = append(h.log, fmt.Sprint("arrive ", len(h.visits)))
		h.visits = append(h.visits, h.d.visit(co))
		if h.rnd.IntN(2) == 0 {
			_ = co.Yield()
		}
	case n < 5:
		if i, v := h.pick(func(v *visit) bool { return !v.over }); v != nil {
			h.log = append(h.log, fmt.Sprint("cancel ", i))
			require.NoError(h.t, v.co.Cancel(errStop))
		}
	case n < 8:
		if i, v := h.pick(func(v *visit) bool { return v.over && v.err == nil && !h.ended[v] }); v != nil {
			h.ended[v] = true
			v.h.Value().bad = h.rnd.IntN(4) == 0
			h.log = append(h.log, fmt.Sprint("release ", i, " bad ", v.h.Value().bad))
			require.NoError(h.t, v.h.Release(co))
		}
	case len(h.making) > 0:
		i := h.rnd.IntN(len(h.making))
		var err error
		if h.rnd.IntN(3) == 0 {
			err = errMake
		}
		h.log = append(h.log, fmt.Sprint("creation ends: ", err))
		h.making[i].Open(nil, err)
		h.making = append(h.making[:i], h.making[i+1:]...)
	}
}

// pick returns one of the visits that are so, at random, and its number.
func (h *history) pick(so func(v *visit) bool) (int, *visit) {
	var all []int
	for i, v := range h.visits {
		if so(v) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return 0, nil
	}
	i := all[h.rnd.IntN(len(all))]
	return i, h.visits[i]
}

func (h *history) check() {
	st := h.d.p.Stats()
	waiting, held, first := 0, map[int]int{}, -1
	for i, v := range h.visits {
		switch {
		case !v.over && v.co.Completed(): // cancelled before it began
			v.over, v.err = true, errStop
		case !v.over:
			if waiting++; first < 0 {
				first = i
			}
		case v.err == nil && first >= 0 && !h.ended[v]:
			h.t.Errorf("%d has a resource, and %d, who came before, has not", i, first)
		case v.err == nil && !h.ended[v]:
			held[v.h.Value().id]++
		case v.err != nil && !isOneOf(v.err, errMake, errStop):
			h.t.Errorf("%d: %v", i, v.err)
		}
	}
	for id, n := range held {
		assert.Equal(h.t, 1, n, "holders of %d", id)
	}
	assert.Equal(h.t, []int{waiting, 0, len(h.making)}, []int{st.Waiting, st.Reserved, st.Constructing}, "waiting, reserved, constructing")
	assert.Equal(h.t, len(held)+st.Constructing, st.Active)
	if waiting > 0 {
		assert.Zero(h.t, st.Idle, "one is idle, and somebody waits")
		if st.Total < st.Max {
			assert.GreaterOrEqual(h.t, st.Constructing, waiting, "there is room, and somebody waits for whom none is made")
		}
	}
}

// finish serves all who wait.
func (h *history) finish(co *scheduler.Coroutine) {
	for rounds := 0; ; rounds++ {
		require.Less(h.t, rounds, 1000, "the line stalls: %v", h.log)
		for _, g := range h.making {
			g.Open(nil, nil)
		}
		h.making = nil
		for _, v := range h.visits {
			if v.over && v.err == nil && !h.ended[v] {
				h.ended[v] = true
				v.h.Value().bad = false
				require.NoError(h.t, v.h.Release(co))
			}
		}
		settle(co)
		settle(co)
		if st := h.d.p.Stats(); st.Active == 0 && st.Waiting == 0 && st.Reserved == 0 {
			break
		}
	}
	for i, v := range h.visits {
		assert.True(h.t, v.over || v.co.Completed(), "%d is over", i)
	}
}
