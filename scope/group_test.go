package scope_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

type groupCo = scheduler.Coroutine

var errTask = errors.New("the task has failed")

// groupRun runs main in the simulation, and returns what the run ends with.
func groupRun(t *testing.T, main func(co *groupCo)) error {
	t.Helper()
	r := simreactor.New(1)
	defer func() { assert.NoError(t, r.Close()) }()
	s := scheduler.New(r, scheduler.Options{Name: t.Name(), Budget: 1 << 20, Slice: time.Minute})
	return s.Run(context.Background(), func(co *groupCo) error {
		main(co)
		return nil
	})
}

// inGroup is groupRun for runs that must end well.
func inGroup(t *testing.T, main func(co *groupCo)) {
	t.Helper()
	require.NoError(t, groupRun(t, main))
}

// gives is a task that takes so many milliseconds and returns v, or err.
func gives[T any](ms int, v T, err error) func(co *groupCo) (T, error) {
	return func(co *groupCo) (T, error) {
		if ms > 0 {
			if err := co.Delay(time.Duration(ms) * time.Millisecond); err != nil {
				return v, err
			}
		}
		return v, err
	}
}

func newTestGroup(t *testing.T, owner scheduler.Scoped, config ...scope.GroupConfig) *scope.Group[int, string] {
	t.Helper()
	g, err := scope.NewGroup[string](owner, config...)
	require.NoError(t, err)
	return g
}

func TestGroup_RunsInOrderWithinItsLimits(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co, scope.GroupConfig{Concurrency: 2, QueueLimit: 3})
		var order []int
		running, most := 0, 0
		for i := range 20 {
			key, err := g.Spawn(co, func(co *groupCo) (string, error) {
				running++
				most = max(most, running)
				order = append(order, i)
				err := co.Delay(time.Duration(1+i%3) * time.Millisecond)
				running--
				return fmt.Sprint(i), err
			})
			require.NoError(t, err)
			require.Equal(t, i, key)
			s := g.Stats()
			require.LessOrEqual(t, s.Queued+s.Running, 5)
		}
		require.NoError(t, g.Close())
		values, err := g.All().Await(co)
		require.NoError(t, err)
		require.NoError(t, g.AwaitCompletion(co))
		assert.Equal(t, 2, most)
		assert.IsIncreasing(t, order)
		assert.IsIncreasing(t, values.Keys())
		assert.Equal(t, "19", values.Values()[19])
	})
}

func TestGroup_ASpawnerThatLeavesGivesItsPlaceOn(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co, scope.GroupConfig{Concurrency: 1, QueueLimit: 1})
		var order []string
		task := func(name string) func(co *groupCo) (string, error) {
			return func(co *groupCo) (string, error) {
				order = append(order, name)
				return name, co.Delay(time.Millisecond)
			}
		}
		_, err := g.Spawn(co, task("a"))
		require.NoError(t, err)
		_, err = g.Spawn(co, task("b"))
		require.NoError(t, err)
		errs := map[string]error{}
		spawn := func(name string, opts ...scheduler.WaitOption) *groupCo {
			s, err := co.Spawn(func(co *groupCo) error {
				_, errs[name] = g.Spawn(co, task(name), opts...)
				return nil
			})
			require.NoError(t, err)
			return s
		}
		c := spawn("c")
		spawn("d")
		spawn("e", scheduler.Timeout(100*time.Microsecond))
		spawn("f")
		require.NoError(t, co.Yield())
		assert.Equal(t, 4, g.Stats().SpawnersWaiting)
		_, err = g.TrySpawn(task("g"))
		require.ErrorIs(t, err, scope.ErrQueueFull)
		// c is cancelled when it was promised the place of b.
		_, err = co.Spawn(func(co *groupCo) error {
			for g.Count() > 2 || g.Stats().Succeeded == 0 {
				if err := co.Delay(time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, err)
		for g.Stats().Succeeded == 0 {
			require.NoError(t, co.Yield())
			if g.Stats().Succeeded == 0 {
				require.NoError(t, co.Delay(100*time.Microsecond))
			}
		}
		require.NoError(t, c.Cancel(errTask))
		require.NoError(t, co.Delay(20*time.Millisecond))
		assert.ErrorIs(t, errs["e"], event.ErrTimeout)
		assert.NoError(t, errs["d"])
		assert.NoError(t, errs["f"])
		assert.Equal(t, 0, g.Stats().SpawnersWaiting)
		if errs["c"] != nil {
			assert.Equal(t, []string{"a", "b", "d", "f"}, order)
		} else {
			assert.Equal(t, []string{"a", "b", "c", "d", "f"}, order)
		}
		assert.True(t, g.IsFinished())
		require.NoError(t, g.Close())
	})
}

func TestGroup_Keys(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		key, err := g.Spawn(co, gives(0, "a", nil))
		require.NoError(t, err)
		assert.Equal(t, 0, key)
		require.NoError(t, g.SpawnKey(co, 2, gives(0, "b", nil)))
		require.NoError(t, g.TrySpawnKey(1, gives(0, "c", nil)))
		key, err = g.Spawn(co, gives(0, "d", nil))
		require.NoError(t, err)
		assert.Equal(t, 3, key)
		for _, key := range []int{0, 1, 2, 3} {
			assert.ErrorIs(t, g.SpawnKey(co, key, gives(0, "x", nil)), event.ErrUsage)
			assert.ErrorIs(t, g.TrySpawnKey(key, gives(0, "x", nil)), event.ErrUsage)
		}
		values, err := g.All().Await(co)
		require.NoError(t, err)
		assert.Equal(t, map[int]string{0: "a", 1: "c", 2: "b", 3: "d"}, values.Map())
		named, err := scope.NewKeyedGroup[string, int](co)
		require.NoError(t, err)
		_, err = named.Spawn(co, gives(0, 1, nil))
		assert.ErrorIs(t, err, event.ErrUsage)
		_, err = named.TrySpawn(gives(0, 1, nil))
		assert.ErrorIs(t, err, event.ErrUsage)
		require.NoError(t, named.SpawnKey(co, "x", gives(0, 1, nil)))
	})
}

func TestGroup_RaceAndAny(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		_, err := g.Race()
		require.ErrorIs(t, err, event.ErrUsage)
		_, err = g.Any()
		require.ErrorIs(t, err, event.ErrUsage)
		for _, task := range []func(*groupCo) (string, error){gives(5, "slow", nil), gives(1, "", errTask), gives(3, "fast", nil)} {
			_, err := g.Spawn(co, task)
			require.NoError(t, err)
		}
		race, err := g.Race()
		require.NoError(t, err)
		win, err := g.Any()
		require.NoError(t, err)
		gone, err := g.Any()
		require.NoError(t, err)
		require.NoError(t, gone.Dispose())
		_, err = race.Await(co)
		assert.ErrorIs(t, err, errTask)
		v, err := win.Await(co)
		require.NoError(t, err)
		assert.Equal(t, "fast", v)
		again, err := g.Race()
		require.NoError(t, err)
		_, err = again.Await(co)
		assert.ErrorIs(t, err, errTask)
		assert.False(t, g.IsFinished())
		assert.Zero(t, g.Stats().Unhandled)
		_, err = g.All().Await(co)
		var several *event.CompositeError
		require.ErrorAs(t, err, &several)
		assert.Len(t, several.Errors, 1)
	})
}

func TestGroup_OutcomesComeAsTheyEnd(t *testing.T) {
	inGroup(t, func(co *groupCo) {
		g := newTestGroup(t, co)
		for i, ms := range []int{3, 1, 2} {
			_, err := g.Spawn(co, gives(ms, fmt.Sprint(i), nil))
			require.NoError(t, err)
		}
		_, err := co.Spawn(func(co *groupCo) error {
			if err := co.Delay(10 * time.Millisecond); err != nil {
				return err
			}
			if _, err := g.Spawn(co, gives(1, "", errTask)); err != nil {
				return err
			}
			return g.Close()
		})
		require.NoError(t, err)
		var keys []int
		for o, err := range g.Outcomes(co) {
			require.NoError(t, err)
			keys = append(keys, o.Key)
			if o.Key == 3 {
				assert.ErrorIs(t, o.Err, errTask)
			}
		}
		assert.Equal(t, []int{1, 2, 0, 3}, keys)
		for _, err := range g.Outcomes(co) {
			require.NoError(t, err)
			break
		}
		open := newTestGroup(t, co)
		for _, err := range open.Outcomes(co, scheduler.Timeout(time.Millisecond)) {
			assert.ErrorIs(t, err, event.ErrTimeout)
		}
	})
}
