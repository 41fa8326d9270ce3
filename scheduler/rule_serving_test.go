package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// serveOne parks co until a helper, spawned with the option, has slept and woken it.
func serveOne(e *cotest.Env, co *scheduler.Coroutine, kind scheduler.SpawnOption) error {
	e.Spawn(co, func(self *scheduler.Coroutine) error {
		if err := self.Delay(5 * ms); err != nil {
			return err
		}
		return co.Unpark()
	}, kind)
	return park(co, &line{})
}

func TestServing_DEAD09_TimeThatAHelperWaitsForIsWaitedFor(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error { return serveOne(e, co, scheduler.Serving()) })
		err := e.Run(func(co *scheduler.Coroutine) error { return serveOne(e, co, scheduler.Hidden()) })
		var dead *scheduler.DeadlockError
		assert.ErrorAs(t, err, &dead, "nobody is expected to wait for a helper that is only hidden")
	})
}

func TestServing_GEN09_ItDoesNotKeepTheRunAlive(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(self *scheduler.Coroutine) error {
				cotest.IsCancelled(t, self.Delay(time.Hour), scheduler.ErrRunOver)
				e.Say("ended")
				return self.Err()
			}, scheduler.Serving())
			return co.Yield()
		})
		assert.Equal(t, []string{"ended"}, e.Said())
	})
}

func TestServing_GEN09_AScopeWhoseCoroutinesAreHelpers(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			root, err := co.Scheduler().NewRoot()
			require.NoError(t, err)
			root.SetServing()
			below, err := root.New()
			require.NoError(t, err)
			for _, sc := range []*scheduler.Scope{root, below} {
				helper := e.Spawn(sc, func(self *scheduler.Coroutine) error { return self.Delay(time.Hour) })
				require.NoError(t, helper.OnFinally(func(self, _ *scheduler.Coroutine) error {
					e.Say("finally")
					return self.Delay(5 * ms) // the run waits for these
				}))
				active, _, total := sc.Counts()
				assert.Equal(t, []int{0, 1}, []int{active, total})
			}
			return co.Yield()
		})
		assert.Equal(t, []string{"finally", "finally"}, e.Said())
	})
}

type valueKey string

func TestValuesOf_CTX02_FindsWhatTheOtherOneFinds(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Scope().Values().Set(valueKey("scope"), "around"))
			require.NoError(t, co.Values().Set(valueKey("own"), "co's"))
			root, err := co.Scheduler().NewRoot()
			require.NoError(t, err)
			require.NoError(t, root.Values().Set(valueKey("root"), "its scope's"))
			e.Spawn(root, func(self *scheduler.Coroutine) error {
				assert.Equal(t, "co's", self.Value(valueKey("own")))
				assert.Equal(t, "around", self.Value(valueKey("scope")))
				assert.Nil(t, self.Value(valueKey("root")))
				assert.Same(t, self, scheduler.FromContext(self), "it is itself all the same")
				self.Values().Replace(valueKey("own"), "itself")
				assert.Equal(t, "itself", self.Value(valueKey("own")))
				assert.Equal(t, "itself", context.WithoutCancel(self).Value(valueKey("own")))
				return nil
			}, scheduler.ValuesOf(co))
			e.Spawn(root, func(self *scheduler.Coroutine) error {
				assert.Equal(t, "its scope's", self.Value(valueKey("root")), "nobody's")
				return nil
			}, scheduler.ValuesOf(nil))
			return co.Yield()
		})
	})
}

func TestYieldTo_TheOtherGoesFirstAndTheCallerIsNext(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(self *scheduler.Coroutine) error { e.Say("before"); return nil })
			other := e.Spawn(co, func(self *scheduler.Coroutine) error {
				e.Say("other")
				e.Spawn(self, func(*scheduler.Coroutine) error { e.Say("its child"); return nil })
				err := self.Yield()
				e.Say("other again")
				return err
			})
			require.NoError(t, co.YieldTo(other))
			e.Say("caller")
			for range 3 {
				require.NoError(t, co.Yield())
			}
			assert.Equal(t, []string{"other", "caller", "before", "its child", "other again"}, e.Said())
			return nil
		})
	})
}

func TestYieldTo_CORO30_OnlyToWhomNobodyHasRun(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			first := e.Spawn(co, cotest.Fails(nil))
			e.Spawn(co, cotest.Fails(nil))
			cotest.IsUsage(t, co.YieldTo(first), "YieldTo", "right after Spawn")
			cotest.IsUsage(t, co.YieldTo(nil), "YieldTo")
			cotest.IsUsage(t, first.YieldTo(first), "YieldTo")
			require.NoError(t, co.Yield())
			cotest.IsUsage(t, co.YieldTo(first), "YieldTo")
			return nil
		})
	})
}

func TestYieldTo_GEN02_ACancellationMeanwhileIsReturned(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			other := e.Spawn(co, func(*scheduler.Coroutine) error { return co.Cancel(errStop) })
			err := co.YieldTo(other)
			cotest.IsCancelled(t, err, errStop)
			return err
		})
	})
}

func TestShield_CANC13_HoldsACancellationBackUntilItIsLowered(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var outer, inner scheduler.Shield
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				for range 3 { // they can be raised again
					outer.Raise(self)
					inner.Raise(self)
					assert.NoError(t, self.Yield())
					inner.Lower()
					inner.Lower()
					assert.NoError(t, self.Yield(), "the outer one is still up")
					outer.Lower()
				}
				cotest.IsCancelled(t, self.Yield(), errStop)
				outer.Raise(self)
				assert.NoError(t, self.Yield(), "also when it is cancelled already")
				outer.Lower()
				return self.Yield()
			})
			require.NoError(t, co.Yield())
			require.NoError(t, child.Cancel(errStop))
			_, err := co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			other := e.Spawn(co, func(self *scheduler.Coroutine) error { // and by another coroutine
				outer.Raise(self)
				defer outer.Lower()
				return self.Protect(func(context.Context) error { return errors.Join(self.Yield(), errBoom) })
			})
			_, err = co.Await(other)
			assert.ErrorIs(t, err, errBoom)
			return nil
		})
	})
}

func TestShield_RaisingItAgainAllocatesNothing(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var s scheduler.Shield
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				s.Raise(co)
				s.Lower()
			}))
			return nil
		})
	})
}

func TestClock_IsThatOfTheLastTurn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := co.Scheduler()
			before := s.Clock()
			require.NoError(t, co.Delay(10*ms))
			assert.GreaterOrEqual(t, s.Clock()-before, 10*ms)
			assert.LessOrEqual(t, s.Clock(), s.Reactor().Elapsed())
			return nil
		})
	})
}
