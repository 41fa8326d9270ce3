package pool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// GEN-04: what is made goes to the oldest, whoever it was begun for.
func TestPool_GEN04_WhatIsMadeFirstGoesToTheOldest(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gated(2)
		d.open(co)
		vs := d.queued(co, 2)
		gs[1].Open(nil, nil)
		settle(co)
		got(t, vs, 1, 0)
		gs[0].Open(nil, nil)
		settle(co)
		got(t, vs, 1, 2)
		give(t, co, vs[0].h, vs[1].h)
		d.has(2, 2, 0)
	})
}

// One comes back while another is being made for the waiter: it takes the former, and the latter becomes idle, or somebody else's.
func TestPool_GEN04_WhatComesBackGoesToWhoHasOneInTheMaking(t *testing.T) {
	for name, newcomer := range map[string]bool{"alone": false, "and a newcomer": true} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				gs := d.gated(2)
				p := d.open(co)
				vs := d.queued(co, 1)
				gs[0].Open(nil, nil)
				join(t, co, vs...)

				vs = append(vs, d.queued(co, 1)...)
				assert.Equal(t, 1, p.Stats().Constructing)
				if newcomer {
					vs = append(vs, d.queued(co, 1)...)
				}
				give(t, co, vs[0].h)
				settle(co)
				got(t, vs[:2], 1, 1)
				gs[1].Open(nil, nil)
				settle(co)
				if newcomer {
					got(t, vs[2:], 2)
					give(t, co, vs[2].h)
				} else {
					d.has(2, 1, 1)
				}
				give(t, co, vs[1].h)
				d.has(2, 2, 0)
				assert.Len(t, d.made, 2)
			})
		})
	}
}

// POOL-41: who leaves wastes nothing.
func TestPool_POOL41_TheNextAdoptsWhatIsBeingMade(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gated(1)
		p := d.open(co)
		vs := d.queued(co, 3)
		require.NoError(t, vs[0].co.Cancel(errStop))
		settle(co)
		cotest.IsCancelled(t, vs[0].err, errStop)
		assert.Equal(t, 1, p.Stats().Constructing)
		gs[0].Open(nil, nil)
		settle(co)
		got(t, vs[1:], 1, 0)
		give(t, co, vs[1].h)
		settle(co)
		got(t, vs[1:], 1, 1)
		give(t, co, vs[2].h)
		assert.Equal(t, []int{1}, d.made)
	})
}

func TestPool_POOL41_NobodyIsLeftForIt(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gated(2)
		p := d.open(co)
		vs := d.queued(co, 2)
		for _, v := range vs {
			require.NoError(t, v.co.Cancel(nil))
		}
		settle(co)
		d.has(2, 0, 2)
		assert.Zero(t, p.Stats().Waiting)
		gs[1].Open(nil, nil)
		gs[0].Open(nil, nil)
		settle(co)
		d.has(2, 2, 0)
		d.works(co)
		assert.Len(t, d.made, 2)
	})
}

// GEN-05: the creation fails that a waiter has counted on without having started it.
func TestPool_GEN05_WhatWasAdoptedFails(t *testing.T) {
	for name, who := range map[string]func(t *testing.T, co *scheduler.Coroutine, v *visit){
		"of one who was cancelled": func(t *testing.T, _ *scheduler.Coroutine, v *visit) { require.NoError(t, v.co.Cancel(errStop)) },
		"of one out of time":       func(t *testing.T, co *scheduler.Coroutine, v *visit) { join(t, co, v) },
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				gs := d.gated(2)
				d.open(co)
				vs := d.queued(co, 1, scheduler.Timeout(10*ms))
				vs = append(vs, d.queued(co, 1)...)
				who(t, co, vs[0])
				settle(co)
				require.Error(t, vs[0].err)
				gs[0].Open(nil, errMake)
				settle(co)
				d.surfaced(t, errMake, vs[1])
				if !vs[1].over {
					gs[1].Open(nil, nil)
					join(t, co, vs[1])
					got(t, vs[1:], 1)
					give(t, co, vs[1].h)
				}
				agree(t, d.p.Stats())
				assert.Zero(t, d.p.Stats().Waiting)
			})
		})
	}
}

// surfaced checks that the failure came to be known exactly once: by one of the visits, or by OnError (GEN-08).
func (d *depot) surfaced(t *testing.T, want error, vs ...*visit) {
	t.Helper()
	n := 0
	for _, v := range vs {
		if v.err != nil {
			assert.ErrorIs(t, v.err, want)
			n++
		}
	}
	for _, err := range d.told {
		assert.ErrorIs(t, err, want)
		n++
	}
	assert.Equal(t, 1, n, "how often %v surfaced", want)
}

// The first took what was made for the second, whose own was begun for the first and fails.
func TestPool_GEN05_TheCreationOfWhoWasServedFails(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gated(3)
		p := d.open(co)
		vs := d.queued(co, 2)
		gs[1].Open(nil, nil)
		settle(co)
		got(t, vs, 1, 0)
		gs[0].Open(nil, errMake)
		settle(co)
		d.surfaced(t, errMake, vs[1])
		if !vs[1].over {
			assert.Equal(t, 1, p.Stats().Constructing, "there is room: the waiter must not be left to others")
			gs[2].Open(nil, nil)
			join(t, co, vs[1])
			got(t, vs, 1, 2)
			give(t, co, vs[1].h)
		}
		give(t, co, vs[0].h)
		assert.Zero(t, p.Stats().Waiting)
	})
}

// Who comes later adopts what nobody waits for, rather than have another one made.
func TestPool_POOL41_ANewcomerAdoptsWhatNobodyWaitsFor(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, d *depot, co *scheduler.Coroutine){
		"its acquirer was cancelled": func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			v := d.queued(co, 1)[0]
			require.NoError(t, v.co.Cancel(errStop))
			join(t, co, v)
		},
		"its acquirer got another one": func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			h := d.take(co, 1)[0]
			v := d.queued(co, 1)[0]
			give(t, co, h)
			join(t, co, v)
			assert.Equal(t, 1, v.h.Value().id)
			require.NoError(t, v.h.Destroy(co))
		},
		"it is of a TryAcquire": func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			_, ok := d.tries(co)
			assert.False(t, ok)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g, calls := d.e.Gate(), 0
				d.creates(func(co *scheduler.Coroutine, call int) error {
					if calls = call; name == "its acquirer got another one" && call == 1 {
						return nil
					}
					return passes(co, g)
				})
				p := d.open(co)
				leave(t, d, co)
				assert.Equal(t, 1, p.Stats().Constructing)
				begun := calls
				v := d.queued(co, 1)
				assert.Equal(t, begun, calls, "no other one is begun")
				g.Open(nil, nil)
				join(t, co, v...)
				require.NoError(t, v[0].err)
				give(t, co, v[0].h)
				d.has(1, 1, 0)
			})
		})
	}
}

// POOL-32 for one who did not begin it: what it adopted still comes.
func TestPool_POOL32_WhoHasAdoptedStillGetsIt(t *testing.T) {
	inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		gs := d.gated(1)
		p := d.open(co)
		vs := d.queued(co, 3)
		require.NoError(t, vs[0].co.Cancel(errStop))
		join(t, co, vs[0])
		require.NoError(t, p.Close(co))
		join(t, co, vs[2])
		assert.ErrorIs(t, vs[2].err, event.ErrClosed)
		assert.False(t, vs[1].over)
		gs[0].Open(nil, nil)
		join(t, co, vs[1])
		got(t, vs[1:2], 1)
		give(t, co, vs[1].h)
		assert.Equal(t, []int{1}, d.gone)
	})
}
