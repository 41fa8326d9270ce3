package scope_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scope"
)

func newTestSet(t *testing.T, co *groupCo, config ...scope.GroupConfig) *scope.Set[int, string] {
	t.Helper()
	s, err := scope.NewSet[string](co, config...)
	require.NoError(t, err)
	return s
}

func add(t *testing.T, co *groupCo, s *scope.Set[int, string], ms int, v string, err error) {
	t.Helper()
	_, spawned := s.Spawn(co, gives(ms, v, err))
	require.NoError(t, spawned)
}

func joined(t *testing.T, co *groupCo, join func() (*future.Future[string], error)) (string, error) {
	t.Helper()
	f, err := join()
	require.NoError(t, err)
	return f.Await(co)
}

func TestSet_JoinNextHandsOutInOrder(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		s := newTestSet(t, co)
		_, err := s.JoinNext()
		require.ErrorIs(t, err, event.ErrUsage)
		add(t, co, s, 2, "b", nil)
		add(t, co, s, 1, "a", nil)
		add(t, co, s, 3, "", errTask)
		gone, err := s.JoinNext()
		require.NoError(t, err)
		first, err := s.JoinNext()
		require.NoError(t, err)
		require.NoError(t, gone.Dispose())
		v, err := first.Await(co)
		require.NoError(t, err)
		assert.Equal(t, "a", v)
		assert.Equal(t, 2, s.Count())
		require.NoError(t, co.Delay(5*time.Millisecond))
		assert.Equal(t, 1, s.Stats().Unhandled)
		v, err = joined(t, co, s.JoinNext)
		require.NoError(t, err)
		assert.Equal(t, "b", v)
		_, err = joined(t, co, s.JoinNext)
		require.ErrorIs(t, err, errTask)
		assert.Zero(t, s.Count())
		assert.Equal(t, scope.GroupStats{}, s.Stats())
	})
}

func TestSet_TakersBeyondTheLastTaskAreTurnedAway(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		s := newTestSet(t, co)
		add(t, co, s, 1, "a", nil)
		one, err := s.JoinNext()
		require.NoError(t, err)
		two, err := s.JoinNext()
		require.NoError(t, err)
		three, err := s.JoinAny()
		require.NoError(t, err)
		require.NoError(t, s.Close())
		v, err := one.Await(co)
		require.NoError(t, err)
		assert.Equal(t, "a", v)
		_, err = two.Await(co)
		require.ErrorIs(t, err, event.ErrClosed)
		_, err = three.Await(co)
		require.ErrorIs(t, err, event.ErrClosed)
		for range s.Outcomes(co) {
			assert.Fail(t, "nothing is left")
		}
		all, err := s.JoinAll().Await(co)
		require.NoError(t, err)
		assert.Zero(t, all.Len())
	})
}

func TestSet_JoinAnySkipsFailuresUntilThereIsNothingElse(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		s := newTestSet(t, co)
		add(t, co, s, 1, "", errTask)
		add(t, co, s, 2, "a", nil)
		add(t, co, s, 3, "", errTask)
		v, err := joined(t, co, s.JoinAny)
		require.NoError(t, err)
		assert.Equal(t, "a", v)
		assert.Equal(t, 2, s.Count())
		_, err = joined(t, co, s.JoinAny)
		assert.Equal(t, 2, failuresIn(t, err))
		assert.Zero(t, s.Count())
		add(t, co, s, 0, "", errTask)
		require.NoError(t, co.Delay(time.Millisecond))
		_, err = joined(t, co, s.JoinAny)
		assert.Equal(t, 1, failuresIn(t, err))
		assert.Zero(t, s.Stats().Unhandled)
	})
}

func TestSet_JoinAllHandsOutEverything(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		s := newTestSet(t, co)
		add(t, co, s, 3, "a", nil)
		add(t, co, s, 1, "b", nil)
		all, same := s.JoinAll(), s.JoinAll()
		ended := -1
		require.NoError(t, s.OnFinally(func(_ *groupCo, s *scope.Set[int, string]) error {
			ended = s.Count()
			return nil
		}))
		require.NoError(t, s.Close())
		values, err := all.Await(co)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, values.Values())
		values, err = same.Await(co)
		require.NoError(t, err)
		assert.Equal(t, []int{0, 1}, values.Keys())
		require.NoError(t, co.Delay(time.Millisecond))
		assert.Zero(t, ended)
	})
}

func TestSet_WhatALoopWasPromisedGoesOnWhenItLeaves(t *testing.T) {
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
				return nil
			})
			require.NoError(t, err)
			return c
		}
		first, second, third := loop(), loop(), loop()
		require.NoError(t, co.Yield())
		add(t, co, s, 0, "a", nil)
		add(t, co, s, 0, "b", nil)
		require.NoError(t, co.Yield())
		_ = first.Cancel(nil)
		add(t, co, s, 0, "c", nil)
		require.NoError(t, s.Close())
		require.NoError(t, s.AwaitCompletion(co))
		require.NoError(t, co.Delay(time.Millisecond))
		assert.ElementsMatch(t, []string{"a", "b", "c"}, got)
		assert.True(t, second.Completed() && third.Completed())
		assert.Zero(t, s.Count())
	})
}

func TestSet_APanicOfASubscriberLeavesTheOthersTheirValues(t *testing.T) {
	values := 0
	err := groupRun(t, func(co *groupCo) {
		s := newTestSet(t, co)
		add(t, co, s, 1, "a", nil)
		require.NoError(t, s.JoinAll().AsEvent().AddCallback(event.NewCallback(func(*event.Base, *event.Callback, any, error) {
			panic("from a subscriber")
		}, nil)))
		require.NoError(t, s.JoinAll().AsEvent().AddCallback(event.NewCallback(func(_ *event.Base, _ *event.Callback, result any, _ error) {
			values = result.(future.Keyed[int, string]).Len()
		}, nil)))
		_ = co.Delay(time.Hour)
	})
	assert.ErrorContains(t, err, "from a subscriber")
	assert.Equal(t, 1, values)
}

func TestSet_UsesItsMemoryAgain(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		s := newTestSet(t, co, scope.GroupConfig{Concurrency: 4})
		round := func() {
			add(t, co, s, 0, "a", nil)
			if _, err := joined(t, co, s.JoinNext); err != nil {
				t.Error(err)
			}
		}
		round()
		n := testing.AllocsPerRun(200, round)
		assert.LessOrEqual(t, n, 9.0)
	})
}
