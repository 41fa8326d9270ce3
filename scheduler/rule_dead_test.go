package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// isDeadlock checks that err is the verdict on so many coroutines, with nothing before it, and returns it.
func isDeadlock(t *testing.T, err error, waiting int) *scheduler.DeadlockError {
	t.Helper()
	var d *scheduler.DeadlockError
	require.ErrorAs(t, err, &d)
	assert.Equal(t, waiting, d.Waiting)
	assert.Contains(t, d.Error(), "deadlock")
	return d
}

func TestScheduler_DEAD01_EveryParkedCoroutineIsCancelledAndTheRunSaysHowMany(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		var got []error
		wait := func(co *scheduler.Coroutine) error {
			err := cotest.Waiter(g)(co)
			got = append(got, err)
			return err
		}
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, wait)
			e.Spawn(co, wait)
			return wait(co)
		})
		d := isDeadlock(t, err, 3)
		assert.Same(t, d, err, "nothing failed before it")
		require.Len(t, got, 3)
		for _, err := range got {
			cotest.IsCancelled(t, err, d)
			assert.Contains(t, err.Error(), "deadlock")
		}
		assert.Equal(t, g.Starts, g.Stops)
	})
}

func TestScheduler_DEAD01_WhoEndedWellBeforeDoesNotCount(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, cotest.Waiter(g))
			return nil
		})
		isDeadlock(t, err, 1)
	})
}

func TestScheduler_DEAD01_HiddenCoroutinesAreNotJudged(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		var hidden error
		helper := func(co *scheduler.Coroutine) error { _, hidden = co.Await(g); return hidden }
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, helper, scheduler.Hidden(), scheduler.Named("helper"))
			return cotest.Waiter(g)(co)
		})
		d := isDeadlock(t, err, 1)
		assert.NotContains(t, d.Report, "helper")
		assert.ErrorIs(t, hidden, context.Canceled, "the end of the run cancels it")

		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, helper, scheduler.Hidden())
			return co.Yield()
		})
		assert.ErrorIs(t, hidden, scheduler.ErrRunOver, "alone it is no deadlock (GEN-09)")
	})
}

func TestScheduler_DEAD02_WhoIgnoresTheVerdictFinishesAndTheRunStillFails(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		var first, second, third error
		var co1 *scheduler.Coroutine
		err := e.Run(func(co *scheduler.Coroutine) error {
			co1 = co
			_, first = co.Await(g)
			_, second = co.Await(g)
			third = co.Delay(time.Hour)
			e.Say("went on")
			return nil
		})
		d := isDeadlock(t, err, 1)
		cotest.IsCancelled(t, first, d)
		assert.Equal(t, first, second)
		assert.Equal(t, first, third)
		assert.Equal(t, []string{"went on"}, e.Said())
		assert.NoError(t, co1.Error(), "CANC-05")
		assert.True(t, co1.Cancelled())
	})
}

func TestScheduler_DEAD02_ProtectedWaitsFailOnceAndWorkAgainLater(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		var stuck, later error
		err := e.Run(func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				_, stuck = co.Await(g)
				later = co.Delay(2 * ms)
				return nil
			})
		})
		d := isDeadlock(t, err, 1)
		cotest.IsCancelled(t, stuck, d)
		assert.NoError(t, later, "CANC-18: protected waits begun after the verdict work")
	})
}

func TestScheduler_DEAD02_WhoGetsStuckAgainIsUnwoundAndNamed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer e.Say("unwound")
				return co.Protect(func(context.Context) error {
					for {
						_, _ = co.Await(g)
						e.Say("again")
					}
				})
			}, scheduler.Named("stubborn"))
			return nil
		})
		isDeadlock(t, err, 1)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		require.Len(t, late.Coroutines, 1)
		assert.Contains(t, late.Coroutines[0], "stubborn")
		assert.Equal(t, []string{"again", "unwound"}, e.Said())
	})
}

func TestScheduler_DEAD03_TwoThatAwaitEachOther(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var a, b *scheduler.Coroutine
		err := e.Run(func(co *scheduler.Coroutine) error {
			a = e.Spawn(co, func(co *scheduler.Coroutine) error { return cotest.Waiter(b)(co) })
			b = e.Spawn(co, func(co *scheduler.Coroutine) error { return cotest.Waiter(a)(co) })
			return nil
		})
		isDeadlock(t, err, 2)
	})
}

func TestScheduler_DEAD03_OneAloneInAQueueOfSomebodyElse(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var l line
		err := e.Run(func(co *scheduler.Coroutine) error { return park(co, &l) })
		d := isDeadlock(t, err, 1)
		assert.Contains(t, d.Report, "line")
		assert.Len(t, l.left, 1, "it left the queue")
	})
}

func TestScheduler_DEAD08_AnEarlierFailureIsTheCause(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(*scheduler.Coroutine) error { return errBoom })
			return co.Protect(func(context.Context) error { return cotest.Waiter(e.Gate())(co) })
		})
		isDeadlock(t, err, 1)
		assert.ErrorIs(t, err, errBoom)
		assert.Less(t, strings.Index(err.Error(), "deadlock"), strings.Index(err.Error(), "boom"), "the later one first")
	})
}

func TestScheduler_DEAD10_TenThousandAreToldWithABoundedReport(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		const many = 10_000
		cancelled := 0
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			for range many {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(g)
					if errors.Is(err, context.Canceled) {
						cancelled++
					}
					return err
				})
			}
			return nil
		})
		d := isDeadlock(t, err, many)
		assert.Equal(t, many, cancelled)
		assert.Less(t, strings.Count(d.Report, "\n"), 200)
		assert.Contains(t, d.Report, "10000 coroutines")
		assert.Contains(t, d.Report, "and 9980 more")
	})
}
