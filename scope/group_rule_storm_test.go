package scope_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestGroup_TG02_TenThousandTasksFiftyAtATime(t *testing.T) {
	const tasks, limit = 10_000, 50
	groupBoth(t, groupLimit(limit, 0), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		running, most, next := 0, 0, 0
		for i := range tasks {
			key, err := g.Spawn(co, func(co *scheduler.Coroutine) (int, error) {
				if i != next {
					assert.Equal(t, next, i, "tasks start in order")
				}
				next = i + 1
				running++
				most = max(most, running)
				defer func() { running-- }()
				for range i % 4 {
					if err := co.Yield(); err != nil {
						return 0, err
					}
				}
				if i%10 == 9 {
					return 0, errBoom
				}
				return i, nil
			})
			require.NoError(t, err)
			require.Equal(t, i, key)
		}
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		assert.LessOrEqual(t, most, limit)
		assert.Greater(t, most, limit/2)
		assert.Equal(t, tasks, next)
		groupStats(t, g, 0, 0, tasks-tasks/10, tasks/10, 0)
		assert.Equal(t, tasks/10, g.Errors().Len())
		results := g.Results()
		for key, v := range results.All() {
			if key != v {
				assert.Equal(t, key, v)
			}
		}
		assert.Equal(t, tasks-tasks/10, results.Len())
	})
}

// A thousand wait for places. Some leave: before they were woken, and after. The others go on in their order.
func TestGroup_GEN04_AThousandSpawnersInLine(t *testing.T) {
	const spawners = 1000
	groupBoth(t, groupLimit(3, 2), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		rnd := rand.New(rand.NewPCG(5, 7))
		holds := groupHolds(e, g, 5)
		all := make([]*scheduler.Coroutine, spawners)
		keys, gone := make([]int, spawners), make([]bool, spawners)
		for i := range all {
			keys[i] = -1
			all[i] = e.Spawn(co, func(co *scheduler.Coroutine) error {
				key, err := g.Spawn(co, func(co *scheduler.Coroutine) (int, error) { return i, co.Yield() })
				if err != nil {
					cotest.IsCancelled(t, err, errStop)
					gone[i] = true
					return nil
				}
				keys[i] = key
				return nil
			})
		}
		cotest.Yields(co, 1)
		assert.Equal(t, spawners, g.Stats().SpawnersWaiting)
		groupEnd(holds)
		cancelled := make([]bool, spawners)
		left := func() (n int) { return g.Stats().SpawnersWaiting }
		for left() > 0 {
			// Those who are woken are the first ones, and they may be cancelled, too.
			for range 2 {
				i := rnd.IntN(spawners)
				if all[i].Suspended() && !cancelled[i] {
					require.NoError(t, all[i].Cancel(errStop))
					cancelled[i] = true
				}
			}
			for i, s := range all {
				if !cancelled[i] && s.Suspended() && s.Queued() && rnd.IntN(4) == 0 {
					require.NoError(t, s.Cancel(errStop))
					cancelled[i] = true
					break
				}
			}
			cotest.Yields(co, 1)
		}
		groupUntil(t, co, g.IsFinished)
		next, leavers := 5, 0
		for i := range all {
			if cancelled[i] {
				leavers++
				assert.True(t, gone[i])
				assert.Equal(t, -1, keys[i])
				continue
			}
			assert.Equal(t, next, keys[i])
			next++
		}
		assert.Equal(t, next, g.Count())
		assert.Greater(t, leavers, spawners/20)
		for key, v := range g.Results().All() {
			if key >= 5 {
				assert.Equal(t, key, keys[v])
			}
		}
	})
}

// All kinds of ends at once, from everywhere; nobody is left waiting.
func TestGroup_GEN06_AStormOfEverything(t *testing.T) {
	groupBoth(t, groupLimit(4, 3), func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine, g groupInts) {
		rnd := rand.New(rand.NewPCG(1, 2))
		added, ended := 0, 0
		var work groupFn[int]
		spawn := func(co *scheduler.Coroutine) {
			var opts []scheduler.WaitOption
			if rnd.IntN(3) == 0 {
				opts = append(opts, scheduler.Timeout(ms))
			}
			var err error
			if rnd.IntN(2) == 0 {
				_, err = g.Spawn(co, work, opts...)
			} else if _, err = g.TrySpawn(work); err == scope.ErrQueueFull {
				_ = co.Yield()
			}
			if err == nil {
				added++
			}
		}
		work = func(co *scheduler.Coroutine) (int, error) {
			defer func() { ended++ }()
			switch rnd.IntN(6) {
			case 0:
				return 0, errBoom
			case 1:
				panic("storm")
			case 2:
				return 1, co.Cancel(errStop)
			case 3:
				if added < 2000 {
					if _, err := g.TrySpawn(work); err == nil {
						added++
					}
				}
			case 4:
				return 2, co.Delay(ms)
			}
			return 3, co.Yield()
		}
		var spawners []*scheduler.Coroutine
		for range 40 {
			spawners = append(spawners, e.Spawn(co, func(co *scheduler.Coroutine) error {
				for range 30 {
					if co.Err() != nil {
						return nil
					}
					spawn(co)
				}
				return nil
			}))
		}
		for i := 0; i < len(spawners); {
			if spawners[i].Completed() {
				i++
				continue
			}
			if rnd.IntN(10) == 0 {
				require.NoError(t, spawners[rnd.IntN(len(spawners))].Cancel(errStop))
			}
			st := g.Stats()
			require.LessOrEqual(t, st.Running, 4)
			require.LessOrEqual(t, st.Queued, 3)
			require.Equal(t, st.Queued+st.Running+st.Succeeded+st.Failed, g.Count())
			require.NoError(t, co.Delay(ms))
		}
		require.NoError(t, g.Close())
		require.NoError(t, g.AwaitCompletion(co))
		st := g.Stats()
		assert.Equal(t, added, ended)
		assert.Equal(t, added, st.Succeeded+st.Failed)
		assert.Zero(t, st.Queued+st.Running+st.SpawnersWaiting)
		assert.Greater(t, added, 50)
		g.SuppressErrors()
	})
}

// Groups that come and go leave nothing behind in the scope that they were made in.
func TestGroup_TG25_ManyGroupsOneAfterTheOther(t *testing.T) {
	groupMain(t, func(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
		for i := range 1000 {
			g := groupOf(t, co, groupLimit(1, 1))
			groupMust(t, co, g, groupGives(i))
			switch i % 3 {
			case 0:
				require.NoError(t, g.Close())
			case 1:
				require.NoError(t, g.Cancel(nil))
			case 2:
				cotest.Yields(co, 1)
				require.NoError(t, g.Dispose())
			}
			require.NoError(t, g.AwaitCompletion(co))
		}
		cotest.Yields(co, 5)
		for range co.Scope().Children() {
			require.Fail(t, "a scope of a group is left")
		}
		e.Counts(1, 0, 1)
	})
}
