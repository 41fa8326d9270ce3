package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// What happens between the moment in which somebody is promised something, and the one in which it runs. A task that begins
// when a place frees runs in between; a microtask that it leaves runs after its end, still in between.

// promised is a group with one running task, "a", one that waits for its turn, which runs second, and spawners in line.
type promised struct {
	t        *testing.T
	g        *scope.Group[int, string]
	order    []string
	errs     map[string]error
	spawners map[string]*groupCo
}

func newPromised(t *testing.T, co *groupCo, second func(co *groupCo), names ...string) *promised {
	p := &promised{t: t, g: newTestGroup(t, co, scope.GroupConfig{Concurrency: 1, QueueLimit: 1}), errs: map[string]error{}, spawners: map[string]*groupCo{}}
	_, err := p.g.Spawn(co, gives(1, "a", nil))
	require.NoError(t, err)
	_, err = p.g.Spawn(co, func(co *groupCo) (string, error) {
		second(co)
		return "b", nil
	})
	require.NoError(t, err)
	for _, name := range names {
		p.spawn(co, name)
	}
	require.NoError(t, co.Yield())
	return p
}

func (p *promised) spawn(co *groupCo, name string) {
	c, err := co.Spawn(func(co *groupCo) error {
		_, err := p.g.Spawn(co, func(*groupCo) (string, error) {
			p.order = append(p.order, name)
			return name, nil
		})
		p.errs[name] = err
		return nil
	})
	require.NoError(p.t, err)
	p.spawners[name] = c
}

func (p *promised) microtask(co *groupCo, fn func()) {
	require.NoError(p.t, co.Scheduler().Microtask(func() error { fn(); return nil }))
}

func TestGroup_APromisedPlaceGoesToTheNextAtOnce(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		var p *promised
		p = newPromised(t, co, func(co *groupCo) {
			_, err := p.g.TrySpawn(gives(0, "", nil))
			assert.ErrorIs(t, err, scope.ErrQueueFull)
			assert.NoError(t, p.spawners["c"].Cancel(nil))
			assert.Equal(t, 2, p.g.Stats().SpawnersWaiting)
			assert.NoError(t, co.Yield())
			assert.Equal(t, 1, p.g.Stats().SpawnersWaiting)
			assert.Equal(t, 3, p.g.Count())
		}, "c", "d", "e")
		require.NoError(t, co.Delay(2*time.Millisecond))
		assert.ErrorIs(t, p.errs["c"], context.Canceled)
		assert.Equal(t, []string{"d", "e"}, p.order)
		assert.Equal(t, []int{0, 1, 2, 3}, p.g.Results().Keys())
	})
}

func TestGroup_AllWaitsForWhoWasPromisedAPlace(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		inGroup(t, func(co *groupCo) {
			var p *promised
			finished := true
			p = newPromised(t, co, func(co *groupCo) {
				p.microtask(co, func() {
					finished = p.g.IsFinished()
					if leaves {
						assert.NoError(t, p.spawners["c"].Cancel(nil))
						assert.True(t, p.g.IsFinished())
					}
				})
			}, "c")
			all := p.g.All()
			require.NoError(t, co.Delay(2*time.Millisecond))
			assert.False(t, finished)
			require.True(t, all.Completed())
			values, _, err := all.Result()
			require.NoError(t, err)
			want := []string{"a", "b", "c"}
			if leaves {
				want = want[:2]
			}
			assert.Equal(t, want, values.Values())
		})
	}
}

func TestGroup_ClosedWhileSomebodyHasAPromise(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		var p *promised
		p = newPromised(t, co, func(*groupCo) { assert.NoError(t, p.g.Close()) }, "c", "d")
		require.NoError(t, co.Delay(2*time.Millisecond))
		require.NoError(t, p.g.AwaitCompletion(co, scheduler.Timeout(time.Second)))
		require.NoError(t, co.Delay(time.Millisecond))
		assert.ErrorIs(t, p.errs["c"], event.ErrClosed)
		assert.ErrorIs(t, p.errs["d"], event.ErrClosed)
		assert.Empty(t, p.order)
		assert.Equal(t, 2, p.g.Count())
	})
}

func TestGroup_NobodyOvertakesWhoWasPromisedAPlace(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		p := &promised{t: t, g: newTestGroup(t, co, scope.GroupConfig{Concurrency: 2, QueueLimit: 1}), errs: map[string]error{}, spawners: map[string]*groupCo{}}
		for range 2 { // end in one turn
			_, err := p.g.Spawn(co, gives(1, "a", nil))
			require.NoError(t, err)
		}
		_, err := p.g.Spawn(co, func(co *groupCo) (string, error) {
			_, err := p.g.TrySpawn(gives(0, "", nil))
			assert.ErrorIs(t, err, scope.ErrQueueFull)
			_, err = p.g.Spawn(co, func(*groupCo) (string, error) {
				p.order = append(p.order, "late")
				return "", nil
			})
			return "b", err
		})
		require.NoError(t, err)
		p.spawn(co, "c")
		require.NoError(t, co.Delay(3*time.Millisecond))
		assert.Equal(t, []string{"c", "late"}, p.order)
		assert.Equal(t, 5, p.g.Stats().Succeeded)
	})
}

func TestGroup_TheKeyOfASpawnerThatLeavesIsFree(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g, err := scope.NewKeyedGroup[string, string](co, scope.GroupConfig{Concurrency: 1, QueueLimit: 1})
		require.NoError(t, err)
		require.NoError(t, g.SpawnKey(co, "a", gives(5, "", nil)))
		require.NoError(t, g.SpawnKey(co, "b", gives(0, "", nil)))
		c, err := co.Spawn(func(co *groupCo) error { return g.SpawnKey(co, "c", gives(0, "", nil)) })
		require.NoError(t, err)
		require.NoError(t, co.Yield())
		assert.ErrorIs(t, g.SpawnKey(co, "c", gives(0, "", nil)), event.ErrUsage)
		require.NoError(t, c.Cancel(nil))
		assert.NoError(t, g.SpawnKey(co, "c", gives(0, "mine", nil)))
		all, err := g.All().Await(co)
		require.NoError(t, err)
		v, ok := all.Get("c")
		assert.True(t, ok)
		assert.Equal(t, "mine", v)
	})
}

func TestSet_WhatWasSetAsideGoesBackInOrder(t *testing.T) {
	for _, closed := range []bool{false, true} {
		inGroup(t, func(co *groupCo) {
			s := newTestSet(t, co)
			var got []string
			loop := func() *groupCo {
				c, err := co.Spawn(func(co *groupCo) error {
					for o, err := range s.Outcomes(co) {
						if err != nil {
							return err
						}
						got = append(got, o.Value)
					}
					got = append(got, "end")
					return nil
				})
				require.NoError(t, err)
				return c
			}
			first, second := loop(), loop()
			require.NoError(t, co.Yield())
			add(t, co, s, 0, "a", nil)
			_, err := s.Spawn(co, func(co *groupCo) (string, error) {
				return "b", co.Scheduler().Microtask(func() error {
					assert.Equal(t, 2, s.Count())
					if closed {
						assert.NoError(t, s.Close())
					}
					assert.NoError(t, first.Cancel(nil))
					return second.Cancel(nil)
				})
			})
			require.NoError(t, err)
			third := loop()
			require.NoError(t, co.Delay(time.Millisecond))
			assert.Equal(t, closed, third.Completed())
			require.NoError(t, s.Close())
			require.NoError(t, co.Delay(time.Millisecond))
			assert.Equal(t, []string{"a", "b", "end"}, got)
		})
	}
}

func TestSet_JoinAnyWaitsForWhatAnotherMayLeave(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		s := newTestSet(t, co)
		loop, err := co.Spawn(func(co *groupCo) error {
			for o, err := range s.Outcomes(co) {
				assert.NoError(t, err)
				assert.ErrorIs(t, o.Err, errTask)
				break
			}
			return nil
		})
		require.NoError(t, err)
		require.NoError(t, co.Yield())
		add(t, co, s, 0, "", errTask)
		add(t, co, s, 0, "", errTask)
		_, err = joined(t, co, s.JoinAny)
		assert.Equal(t, 1, failuresIn(t, err))
		assert.True(t, loop.Completed())
		assert.Zero(t, s.Count())
	})
}

func TestSet_AFutureBehindWhatAnotherMayLeaveIsNotTurnedAway(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		inGroup(t, func(co *groupCo) {
			s := newTestSet(t, co)
			loop, err := co.Spawn(func(co *groupCo) error {
				for _, err := range s.Outcomes(co) {
					if err != nil {
						return err
					}
				}
				return nil
			})
			require.NoError(t, err)
			require.NoError(t, co.Yield())
			_, err = s.Spawn(co, func(co *groupCo) (string, error) {
				return "a", co.Scheduler().Microtask(func() error {
					if leaves {
						return loop.Cancel(nil)
					}
					return nil
				})
			})
			require.NoError(t, err)
			next, err := s.JoinNext()
			require.NoError(t, err)
			require.NoError(t, s.Close())
			v, err := next.Await(co)
			if leaves {
				require.NoError(t, err)
				assert.Equal(t, "a", v)
			} else {
				assert.ErrorIs(t, err, event.ErrClosed)
			}
		})
	}
}
