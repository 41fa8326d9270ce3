package scope_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// A storm: spawners, takers and cancellations at random. What was spawned is delivered once, in the right order, and nobody
// is left waiting.

func TestGroup_Storm(t *testing.T) {
	for seed := range uint64(200) {
		taskStorm(t, seed, func(co *groupCo, r *rand.Rand, s *stormedTasks) {
			limit := r.IntN(4)
			g, err := scope.NewGroup[int](co, scope.GroupConfig{Concurrency: limit, QueueLimit: r.IntN(4)})
			require.NoError(t, err)
			s.spawners(co, r, limit, g.Spawn, g.Close, func() { _ = g.Cancel(errTask) })
			readers := 0
			for range 2 {
				_, err := co.Spawn(func(co *groupCo) error {
					seen := map[int]bool{}
					for o, err := range g.Outcomes(co) {
						if err != nil {
							return err
						}
						assert.False(t, seen[o.Key])
						seen[o.Key] = true
					}
					assert.Len(t, seen, g.Count())
					readers++
					return nil
				})
				require.NoError(t, err)
			}
			futures := 0
			for range 5 {
				require.NoError(t, co.Delay(time.Duration(r.IntN(3))*time.Millisecond))
				all := g.All()
				_, err := co.Spawn(func(co *groupCo) error {
					_, _ = all.Await(co)
					futures++
					return nil
				})
				require.NoError(t, err)
			}
			for !g.IsClosed() {
				require.NoError(t, co.Delay(time.Millisecond))
			}
			require.NoError(t, g.AwaitCompletion(co))
			require.NoError(t, co.Delay(time.Millisecond))
			assert.Equal(t, 2, readers)
			assert.Equal(t, 5, futures)
			assert.Equal(t, s.added, g.Count())
			st := g.Stats()
			assert.Equal(t, g.Count(), st.Succeeded+st.Failed)
			assert.Zero(t, st.SpawnersWaiting)
			assert.IsIncreasing(t, append([]int{-2, -1}, s.started...))
		})
	}
}

func TestSet_Storm(t *testing.T) {
	for seed := range uint64(200) {
		taskStorm(t, seed, func(co *groupCo, r *rand.Rand, s *stormedTasks) {
			limit := r.IntN(4)
			set, err := scope.NewSet[int](co, scope.GroupConfig{Concurrency: limit, QueueLimit: r.IntN(4)})
			require.NoError(t, err)
			s.spawners(co, r, limit, set.Spawn, set.Close, func() { _ = set.Cancel(errTask) })
			got, bad := map[int]int{}, 0
			takers := 0
			for i := range 6 {
				if set.Count() == 0 {
					_ = co.Delay(time.Millisecond)
				}
				takers++
				c, err := co.Spawn(func(co *groupCo) error {
					defer func() { takers-- }()
					if i%2 == 0 {
						for o, err := range set.Outcomes(co) {
							if err != nil {
								return err
							}
							if o.Err == nil {
								got[o.Value]++
							} else {
								bad++
							}
							if r.IntN(5) == 0 {
								return nil
							}
						}
						return nil
					}
					for {
						next := set.JoinNext
						if r.IntN(3) == 0 {
							next = set.JoinAny
						}
						f, err := next()
						if err != nil {
							return nil
						}
						if r.IntN(8) == 0 && f.Dispose() == nil && f.Cancelled() {
							continue
						}
						v, err := f.Await(co)
						var several *event.CompositeError
						switch {
						case err == nil:
							got[v]++
						case errors.Is(err, event.ErrClosed), co.Err() != nil:
							return nil
						case errors.As(err, &several):
							bad += len(several.Errors)
						default:
							bad++
						}
					}
				})
				require.NoError(t, err)
				if i == 2 && r.IntN(2) == 0 {
					_, err := co.Spawn(func(co *groupCo) error {
						_ = co.Delay(time.Duration(r.IntN(6)) * time.Millisecond)
						return c.Cancel(errTask)
					})
					require.NoError(t, err)
				}
			}
			for !set.IsClosed() {
				require.NoError(t, co.Delay(time.Millisecond))
			}
			require.NoError(t, set.AwaitCompletion(co))
			require.NoError(t, co.Delay(time.Millisecond))
			assert.Zero(t, takers)
			rest, err := set.JoinAll().Await(co)
			var several *event.CompositeError
			if errors.As(err, &several) {
				bad += len(several.Errors)
			}
			for _, v := range rest.Values() {
				got[v]++
			}
			for v, n := range got {
				assert.Equal(t, 1, n, v)
			}
			assert.LessOrEqual(t, len(got)+bad, s.added)
			assert.Equal(t, scope.GroupStats{Closed: true}, set.Stats())
			assert.IsIncreasing(t, append([]int{-2, -1}, s.started...))
		})
	}
}

// stormedTasks is what became of the spawners of a storm.
type stormedTasks struct {
	t       *testing.T
	added   int
	started []int // in the order of the starts
}

func taskStorm(t *testing.T, seed uint64, main func(co *groupCo, r *rand.Rand, s *stormedTasks)) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		inGroup(t, func(co *groupCo) { main(co, rand.New(rand.NewPCG(seed, 1)), &stormedTasks{t: t}) })
	})
}

func (s *stormedTasks) spawners(co *groupCo, r *rand.Rand, limit int, spawn func(*groupCo, func(*groupCo) (int, error), ...scheduler.WaitOption) (int, error), closing func() error, cancel func()) {
	left := 4
	for range left {
		c, err := co.Spawn(func(co *groupCo) error {
			defer func() {
				if left--; left == 0 {
					_ = closing()
				}
			}()
			for range 10 {
				var key int
				ms, fails := r.IntN(3), r.IntN(4) == 0
				var opts []scheduler.WaitOption
				if r.IntN(4) == 0 {
					opts = append(opts, scheduler.Timeout(time.Millisecond))
				}
				key, err := spawn(co, func(co *groupCo) (int, error) {
					s.started = append(s.started, key)
					if ms > 0 {
						if err := co.Delay(time.Duration(ms) * time.Millisecond); err != nil {
							return 0, err
						}
					}
					if fails {
						return 0, errTask
					}
					return key, nil
				}, opts...)
				if err == nil {
					s.added++
				}
				if r.IntN(3) == 0 {
					_ = co.Delay(time.Millisecond)
				}
			}
			return nil
		})
		require.NoError(s.t, err)
		if r.IntN(4) == 0 {
			_, err := co.Spawn(func(co *groupCo) error {
				_ = co.Delay(time.Duration(r.IntN(8)) * time.Millisecond)
				if r.IntN(3) == 0 {
					cancel()
				}
				return c.Cancel(errTask)
			})
			require.NoError(s.t, err)
		}
	}
}
