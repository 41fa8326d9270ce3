package pool_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// GEN-04 at length: who comes first is served first, round after round.
func TestPool_GEN04_ServiceIsInTheOrderOfArrival(t *testing.T) {
	const workers, resources, rounds = 1000, 10, 20
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		runOf(t, e, resources, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			p := d.open(co)
			var arrived, served []int
			out := 0
			all := make([]*scheduler.Coroutine, workers)
			for i := range all {
				all[i] = e.Spawn(co, func(co *scheduler.Coroutine) error {
					for range rounds {
						arrived = append(arrived, i)
						h, err := p.Acquire(co)
						if err != nil {
							return err
						}
						served = append(served, i)
						if out++; out > resources {
							t.Errorf("%d are out", out)
						}
						if err := co.Yield(); err != nil {
							return err
						}
						out--
						if err := h.Release(co); err != nil {
							return err
						}
					}
					return nil
				})
			}
			for _, v := range all {
				_, err := co.Await(v)
				require.NoError(t, err)
			}
			require.Len(t, served, workers*rounds)
			for n := range arrived {
				if arrived[n] != served[n] {
					t.Fatalf("number %d to come was %d, to be served %d", n, arrived[n], served[n])
				}
			}
			assert.Len(t, d.made, resources)
			d.has(resources, resources, 0)
			st := p.Stats()
			assert.Equal(t, uint64(workers*rounds), st.Acquired)
			assert.Zero(t, st.Cancelled+st.TimedOut+st.Destroyed+st.CreateFailures)
		})
	})
}

// GEN-03, GEN-06: whatever happens to those who want, hold and release, nothing is lost, held twice or counted twice.
func TestPool_GEN03_NothingIsLostOrGivenTwice(t *testing.T) {
	for seed := range uint64(12) {
		inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			c := &chaos{d: d, rnd: rand.New(rand.NewPCG(seed, 7)), held: map[int]bool{}}
			c.configure()
			d.open(co)
			var all []*scheduler.Coroutine
			for range 12 {
				all = append(all, d.e.Spawn(co, c.worker))
			}
			for range 60 {
				_ = co.Delay(ms)
				agree(t, d.p.Stats())
				victim := all[c.rnd.IntN(len(all))]
				if c.rnd.IntN(3) == 0 {
					require.NoError(t, victim.Cancel(errStop))
				}
				if victim.Completed() {
					all = append(all, d.e.Spawn(co, c.worker))
				}
			}
			for _, v := range all {
				if _, err := co.Await(v); err != nil {
					cotest.IsCancelled(t, err, errStop)
				}
			}
			for d.p.Stats().Active > 0 { // what is being made for nobody
				require.NoError(t, co.Delay(ms))
			}
			st := d.p.Stats()
			assert.Equal(t, []int{0, 0}, []int{st.Reserved, st.Waiting})
			assert.Equal(t, len(d.made)-len(d.gone), st.Idle)
			assert.Equal(t, []uint64{uint64(len(d.made)), uint64(len(d.gone))}, []uint64{st.Created, st.Destroyed})
			assert.Empty(t, c.held)
			c.calm = true
			d.works(co)
		})
	}
}

// chaos is a pool whose hooks take some time and say no sometimes, and those who use it.
type chaos struct {
	d    *depot
	rnd  *rand.Rand
	held map[int]bool
	calm bool // from now on all goes well
}

// dawdle takes no time, a turn, or some.
func (c *chaos) dawdle(co *scheduler.Coroutine) error {
	switch c.rnd.IntN(3) {
	case 0:
		return nil
	case 1:
		return co.Yield()
	}
	return co.Delay(ms)
}

func (c *chaos) configure() {
	look := func(co *scheduler.Coroutine, v *part) (bool, error) {
		agree(c.d.t, c.d.p.Stats())
		assert.False(c.d.t, c.held[v.id], "it is somebody's")
		err := c.dawdle(co)
		return c.calm || c.rnd.IntN(5) > 0, err
	}
	c.d.cfg.BeforeAcquire, c.d.cfg.BeforeRelease = look, look
	c.d.creates(func(co *scheduler.Coroutine, _ int) error {
		agree(c.d.t, c.d.p.Stats())
		if err := c.dawdle(co); err != nil {
			return err
		}
		if !c.calm && c.rnd.IntN(5) == 0 {
			return errMake
		}
		return nil
	})
	c.d.destroys(func(co *scheduler.Coroutine, v *part) error {
		assert.False(c.d.t, c.held[v.id], "it is somebody's")
		return c.dawdle(co)
	})
}

// worker acquires and releases some times, until it is cancelled.
func (c *chaos) worker(co *scheduler.Coroutine) error {
	for range 15 {
		var opts []scheduler.WaitOption
		if c.rnd.IntN(3) == 0 {
			opts = append(opts, scheduler.Timeout(2*ms))
		}
		h, err := c.d.p.Acquire(co, opts...)
		if isOneOf(err, errMake, event.ErrTimeout) {
			continue // also when it is cancelled: the next Acquire says so
		}
		if err != nil {
			return err
		}
		v := h.Value()
		assert.False(c.d.t, c.held[v.id], "two have it")
		c.held[v.id] = true
		_ = c.dawdle(co)
		delete(c.held, v.id)
		end := handle.Release
		if c.rnd.IntN(8) == 0 {
			end = handle.Destroy
		}
		if err := end(h, co); err != nil && co.Err() == nil {
			return err
		}
	}
	return nil
}
