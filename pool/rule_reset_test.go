package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestPool_Reset_DestroysTheIdleNowAndTheOthersWhenTheyComeBack(t *testing.T) {
	inRun(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		hs := d.take(co, 4)
		give(t, co, hs[2], hs[0])
		require.NoError(t, p.Reset(co))
		assert.Equal(t, []int{3, 1}, d.gone, "longest idle first")
		d.has(2, 0, 2)
		fresh := d.take(co, 2)
		assert.Equal(t, []int{5, 6}, ids(fresh...))
		give(t, co, hs[1], fresh[0], hs[3], fresh[1])
		assert.Equal(t, []int{3, 1, 2, 4}, d.gone, "those that were there")
		d.has(2, 2, 0)
		assert.Equal(t, []int{5, 6}, ids(d.take(co, 2)...))
		assert.False(t, p.Stats().Closed)
	})
}

func TestPool_Reset_ReturnsTheFailuresOfTheDestructor(t *testing.T) {
	inRun(t, 3, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Destroy = func(_ *scheduler.Coroutine, v *part) error {
			d.gone = append(d.gone, v.id)
			return map[int]error{1: errRuin, 3: errOutcome}[v.id]
		}
		p := d.open(co)
		d.stock(co, 3)
		err := p.Reset(co)
		assert.ErrorIs(t, err, errRuin)
		assert.ErrorIs(t, err, errOutcome)
		assert.Equal(t, []int{1, 2, 3}, d.gone)
		assert.Empty(t, d.told, "once (GEN-08)")
		d.has(0, 0, 0)
	})
}

func TestPool_Reset_RefillsUpToMinAtOnce(t *testing.T) {
	inRun(t, 4, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		d.cfg.Min = 2
		p := d.open(co)
		d.stock(co, 4)
		h := d.take(co, 1)
		require.NoError(t, p.Reset(co))
		settle(co)
		assert.Equal(t, []int{2, 3, 4}, d.gone)
		d.has(2, 1, 1)
		assert.Equal(t, []int{1, 2, 3, 4, 5}, d.made)
		give(t, co, h...)
		assert.Equal(t, []int{2, 3, 4, 1}, d.gone)
	})
}

func TestPool_Reset_WhatItFreesGoesToWhoWaits(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			destroy := d.cfg.Destroy
			d.cfg.Destroy = func(co *scheduler.Coroutine, v *part) error {
				d.has(1, 0, 1)
				assert.NoError(t, co.Delay(2*time.Millisecond))
				return destroy(co, v)
			}
			p := d.open(co)
			d.stock(co, 1)
			var err error
			reset := e.Spawn(co, func(co *scheduler.Coroutine) error { err = p.Reset(co); return nil })
			settle(co)
			v := d.queued(co, 1)[0]
			assert.False(t, v.over, "it counts until it is destroyed")
			_, waitErr := co.Await(v.co)
			require.NoError(t, waitErr)
			require.NoError(t, v.err)
			assert.Equal(t, []int{2}, ids(v.h))
			assert.Equal(t, []int{1}, d.gone)
			_, waitErr = co.Await(reset)
			require.NoError(t, waitErr)
			return err
		})
	})
}

func TestPool_Reset_LeavesWhatIsSetAsideAndWhatIsBeingMade(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := newDepot(e, 1)
			p := d.open(co)
			h := d.take(co, 1)[0]
			v := d.queued(co, 1)[0]
			give(t, co, h)
			require.NoError(t, p.Reset(co))
			assert.Empty(t, d.gone, "it was promised to somebody (GEN-01)")
			settle(co)
			require.NoError(t, v.err)
			assert.Equal(t, []int{1}, ids(v.h))
			give(t, co, v.h)
			assert.Equal(t, []int{1}, d.gone)

			d = newDepot(e, 1)
			d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) { return d.make(), co.Delay(time.Millisecond) }
			p = d.open(co)
			v = d.queued(co, 1)[0]
			require.NoError(t, p.Reset(co))
			_, err := co.Await(v.co)
			require.NoError(t, err)
			require.NoError(t, v.err)
			give(t, co, v.h)
			assert.Equal(t, []int{1}, d.gone, "it was being made from what has changed")
			d.has(0, 0, 0)
			return nil
		})
	})
}

func TestPool_Reset_WhoComesAfterItGetsNothingFromBefore(t *testing.T) {
	for _, how := range []string{"being made for nobody", "being made for somebody before", "set aside for somebody who leaves"} {
		t.Run(how, func(t *testing.T) {
			inRun(t, 1, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
				g := d.e.Gate()
				slow := how != "set aside for somebody who leaves"
				calls := 0
				d.cfg.Create = func(co *scheduler.Coroutine) (*part, error) {
					calls++
					old := calls == 1
					if old && slow {
						if err := passes(co, g); err != nil { // its pool may give it up
							return nil, err
						}
					}
					v := d.make()
					v.bad = old
					return v, nil
				}
				p := d.open(co)
				var first *visit
				if slow {
					first = d.queued(co, 1)[0]
				} else {
					h := d.take(co, 1)[0]
					first = d.queued(co, 1)[0]
					give(t, co, h)
				}
				if how == "being made for nobody" {
					require.NoError(t, first.co.Cancel(nil))
					settle(co)
				}
				require.NoError(t, p.Reset(co))
				if !slow {
					require.NoError(t, first.co.Cancel(nil))
				}
				second := d.visit(co)
				settle(co)
				if how == "being made for somebody before" {
					require.NoError(t, first.co.Cancel(nil))
					settle(co)
				}
				g.Open(nil, nil)
				settle(co)
				require.True(t, second.over)
				require.NoError(t, second.err)
				assert.False(t, second.h.Value().bad, "what the first Create makes was retired")
				assert.Len(t, d.gone, len(d.made)-1)
				give(t, co, second.h)
				d.has(1, 1, 0)
				assert.Equal(t, 2, calls)
			})
		})
	}
}

func TestPool_Reset_OfTheHealthChecked(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			d := checked(e, 2)
			d.cfg.HealthCheck = func(co *scheduler.Coroutine, v *part) (bool, error) {
				return true, co.Delay(5 * time.Millisecond)
			}
			p := d.open(co)
			d.stock(co, 2)
			pause(t, co, 12*time.Millisecond)
			require.NoError(t, p.Reset(co))
			assert.Equal(t, []int{2}, d.gone)
			pause(t, co, 5*time.Millisecond)
			assert.Equal(t, []int{2, 1}, d.gone, "when its check is over")
			d.has(0, 0, 0)
			return nil
		})
	})
}

func TestPool_Reset_OnAClosedPoolAndByWhom(t *testing.T) {
	inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
		p := d.open(co)
		d.stock(co, 2)
		other := d.e.Spawn(co, cotest.Sleeper(time.Millisecond))
		cotest.IsUsage(t, p.Reset(nil), "Reset")
		cotest.IsUsage(t, p.Reset(other), "Reset")
		cotest.Foreign(func() { cotest.IsUsage(t, p.Reset(co), "Reset") })
		assert.Empty(t, d.gone)

		cancelled := d.e.Spawn(co, func(co *scheduler.Coroutine) error {
			defer func() { assert.NoError(t, p.Reset(co)) }()
			return co.Delay(time.Hour)
		})
		settle(co)
		require.NoError(t, cancelled.Cancel(nil))
		settle(co)
		assert.Equal(t, []int{1, 2}, d.gone, "a cancelled coroutine can reset")

		h := d.take(co, 1)
		require.NoError(t, p.Close(co))
		require.NoError(t, p.Reset(co))
		assert.Equal(t, []int{1, 2}, d.gone)
		give(t, co, h...)
		assert.Equal(t, []int{1, 2, 3}, d.gone)
	})
}

func TestPool_Reset_WhatIsGivenUpWhileItIsMadeIsMadeAgainUpToMin(t *testing.T) {
	for _, deaf := range []bool{false, true} { // to its cancellation
		inRun(t, 2, func(t *testing.T, d *depot, co *scheduler.Coroutine) {
			d.cfg.Min = 1
			g := d.e.Gate()
			d.creates(func(co *scheduler.Coroutine, call int) error {
				if call != 2 {
					return nil
				}
				err := passes(co, g)
				if deaf {
					return nil
				}
				return err
			})
			p := d.open(co)
			require.NoError(t, p.Reset(co))
			settle(co)
			require.Equal(t, 1, p.Stats().Constructing, "the second, for nobody")
			require.NoError(t, p.Reset(co))
			settle(co)
			d.has(1, 1, 0)
			assert.Zero(t, p.Stats().Constructing)
			if deaf {
				assert.Equal(t, []int{1, 2}, d.gone)
			}
		})
	}
}
