package scheduler_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// traits is what a coroutine tells about itself.
type traits struct {
	started, queued, suspended, running, completed, cancelled, requested bool
}

func traitsOf(co *scheduler.Coroutine) traits {
	return traits{co.Started(), co.Queued(), co.Suspended(), co.Running(), co.Completed(), co.Cancelled(), co.CancellationRequested()}
}

func TestCoroutine_CORO06_BeforeTheStart(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
			assert.Equal(t, traits{queued: true}, traitsOf(child))
			assert.Nil(t, child.Result())
			assert.NoError(t, child.Error())
			assert.NoError(t, child.Err())
			assert.Nil(t, child.Stack())
			assert.Empty(t, child.SuspendLocation())
			assert.Empty(t, child.WaitsFor())
			assert.NotEmpty(t, child.SpawnLocation())
			assert.Contains(t, child.Info(), "queued")
			return nil
		})
	})
}

func TestCoroutine_CORO07_StatesOnTheWayToEveryEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			for name, end := range map[string]struct {
				err    error
				cancel bool
			}{"value": {}, "error": {err: errBoom}, "cancel": {cancel: true}} {
				child := e.Spawn(co, func(co *scheduler.Coroutine) error {
					co.SetResult("value")
					if err := co.Yield(); err != nil {
						return err
					}
					if err := park(co, l); err != nil {
						return err
					}
					return end.err
				}, scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) {})))
				require.NoError(t, co.Yield())
				assert.Equal(t, traits{started: true, suspended: true, queued: true}, traitsOf(child), "yielded")
				require.NoError(t, co.Yield())
				assert.Equal(t, traits{started: true, suspended: true}, traitsOf(child), "parked")
				assert.Contains(t, child.Info(), "suspended")
				assert.Equal(t, "line", child.WaitsFor())
				if end.cancel {
					require.NoError(t, child.Cancel(errStop))
				} else {
					require.NoError(t, child.Unpark())
				}
				assert.Equal(t, traits{started: true, suspended: true, queued: true, requested: end.cancel}, traitsOf(child), "woken")
				require.NoError(t, co.Yield())
				assert.Equal(t, traits{started: true, completed: true, cancelled: end.cancel}, traitsOf(child), name)
				assert.Contains(t, child.Info(), "completed")
			}
			return nil
		})
	})
}

// settler is a Settler made of a function.
type settler func(co *scheduler.Coroutine, err error)

func (s settler) Settle(co *scheduler.Coroutine, err error) { s(co, err) }

func TestCoroutine_CORO08_RunningOnlyInsideItsOwnBody(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var main, child *scheduler.Coroutine
		var told []bool
		e.MustRun(func(co *scheduler.Coroutine) error {
			main = co
			assert.True(t, co.Running())
			child = e.Spawn(co, func(self *scheduler.Coroutine) error {
				assert.True(t, self.Running())
				assert.False(t, main.Running())
				assert.Same(t, self, e.S.Current())
				return nil
			})
			require.NoError(t, child.OnFinally(func(_, _ *scheduler.Coroutine) error {
				assert.False(t, child.Running())
				assert.False(t, main.Running())
				return nil
			}))
			assert.False(t, child.Running())
			require.NoError(t, e.S.Microtask(func() error {
				assert.False(t, main.Running())
				assert.Nil(t, e.S.Current())
				return nil
			}))
			require.NoError(t, co.Yield())
			e.After(ms, func() { told = append(told, main.Running(), child.Running(), e.S.Current() != nil) })
			require.NoError(t, co.Delay(3*ms))
			assert.True(t, co.Running())
			return nil
		})
		assert.Equal(t, []bool{false, false, false}, told)
		assert.False(t, main.Running())
	})
}

func TestCoroutine_CORO09_ResultAndErrorBeforeTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				self.SetResult(7)
				assert.Nil(t, self.Result())
				assert.NoError(t, self.Error())
				return self.Yield()
			})
			failing := e.Spawn(co, func(self *scheduler.Coroutine) error {
				self.SetResult(7)
				_ = self.Yield()
				return errBoom
			}, scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) {})))
			require.NoError(t, co.Yield())
			for _, c := range []*scheduler.Coroutine{child, failing} {
				require.True(t, c.Suspended())
				assert.Nil(t, c.Result())
				assert.NoError(t, c.Error())
			}
			require.NoError(t, co.Yield())
			assert.Equal(t, 7, child.Result())
			assert.NoError(t, child.Error())
			assert.Nil(t, failing.Result(), "a failure has no result")
			assert.Equal(t, errBoom, failing.Error())
			return nil
		})
	})
}

func TestCoroutine_CORO10_CancelledAndRequested(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				err := self.Protect(func(context.Context) error { return park(self, l) })
				assert.True(t, self.CancellationRequested())
				assert.False(t, self.Cancelled())
				return err
			})
			require.NoError(t, co.Yield())
			assert.Equal(t, traits{started: true, suspended: true}, traitsOf(child))
			require.NoError(t, child.Cancel(errStop))
			assert.Equal(t, traits{started: true, suspended: true, requested: true}, traitsOf(child), "deferred")
			require.NoError(t, child.Unpark())
			require.NoError(t, co.Yield())
			assert.Equal(t, traits{started: true, completed: true, cancelled: true}, traitsOf(child))

			other := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
			require.NoError(t, co.Yield())
			require.NoError(t, other.Cancel(errStop))
			assert.Equal(t, traits{started: true, completed: true}, traitsOf(other), "it had ended")
			return nil
		})
	})
}

func waitsHere(co *scheduler.Coroutine, l *line) error { return park(co, l) }

func TestCoroutine_CORO11_IdsAndLocations(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var child *scheduler.Coroutine
		ids := map[uint64]bool{}
		names := map[string]bool{}
		e.MustRun(func(co *scheduler.Coroutine) error {
			assert.EqualValues(t, 1, co.ID())
			for range 100 {
				c := e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
				ids[c.ID()], names[c.Name()] = true, true
			}
			assert.Equal(t, "zed", e.Spawn(co, func(*scheduler.Coroutine) error { return nil }, scheduler.Named("zed")).Name())
			l := &line{}
			child = e.Spawn(co, func(self *scheduler.Coroutine) error {
				assert.Nil(t, self.Stack(), "it runs")
				assert.Empty(t, self.SuspendLocation())
				err := waitsHere(self, l)
				assert.Nil(t, self.Stack())
				return err
			})
			assert.Nil(t, child.Stack(), "not started")
			require.NoError(t, co.Yield())
			stack := child.Stack()
			require.GreaterOrEqual(t, len(stack), 3)
			assert.Contains(t, stack[0].Function, "scheduler_test.park")
			assert.Contains(t, stack[1].Function, "scheduler_test.waitsHere")
			assert.Contains(t, child.SuspendLocation(), "rule_helpers_test.go:")
			assert.Contains(t, child.SpawnLocation(), "rule_coro_state_test.go:")
			assert.True(t, child.Suspended(), "looking changes nothing")
			assert.Equal(t, "line", child.WaitsFor())
			cotest.Foreign(func() { assert.Nil(t, child.Stack(), "another goroutine gets nothing") })
			e.After(ms, func() {
				assert.NotEmpty(t, child.Stack(), "from a callback")
				assert.NotEmpty(t, co.Stack(), "also of the one on whose stack it runs")
				assert.Contains(t, co.SuspendLocation(), "rule_coro_state_test.go:")
			})
			require.NoError(t, co.Delay(3*ms))
			require.NoError(t, child.Unpark())
			require.NoError(t, co.Yield())
			assert.Nil(t, child.Stack(), "ended")
			assert.Empty(t, child.SuspendLocation())
			assert.Contains(t, child.SpawnLocation(), "rule_coro_state_test.go:")
			return nil
		})
		assert.Len(t, ids, 100)
		assert.Len(t, names, 100)
	})
}

func TestCoroutine_CORO11_SpawnLines(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			_, _, line, _ := runtime.Caller(0)
			child, err := co.Spawn(func(*scheduler.Coroutine) error { return nil })
			require.NoError(t, err)
			other, err := co.Scope().Spawn(func(*scheduler.Coroutine) error { return nil }, scheduler.Named("x"))
			require.NoError(t, err)
			for i, c := range []*scheduler.Coroutine{child, other} {
				want := "rule_coro_state_test.go:" + strconv.Itoa(line+1+2*i)
				assert.True(t, strings.Contains(c.SpawnLocation(), want), "%s is not %s", c.SpawnLocation(), want)
			}
			return nil
		}, func(o *scheduler.Options) { o.SpawnLines = true })
	})
}

// Looking at the stacks of all in the midst of everything disturbs nobody.
func TestCoroutine_CORO11_StacksOfAllWhileTheyWork(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		done := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			for i := range 50 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					if _, err := dig(co, 10*i%100); err != nil {
						return err
					}
					done++
					return nil
				})
			}
			for range 20 {
				for _, c := range e.S.Coroutines() {
					if c.Suspended() {
						assert.NotEmpty(t, c.Stack())
					} else {
						assert.Empty(t, c.Stack())
					}
				}
				require.NoError(t, co.Yield())
			}
			return nil
		})
		assert.Equal(t, 50, done)
	})
}

func TestCoroutine_AwaitingACoroutineGivesItsOutcome(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(co *scheduler.Coroutine) error {
				co.SetResult("x")
				return co.Yield()
			})
			var ev event.Event = child
			assert.NotNil(t, ev.AsEvent())
			for range 3 {
				result, err := co.Await(child)
				assert.NoError(t, err)
				assert.Equal(t, "x", result)
			}
			return nil
		})
	})
}
