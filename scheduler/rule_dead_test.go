package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
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

// waiter is a body that awaits ev and returns what that answers. Reports name it, which inlining would change.
//
//go:noinline
func waiter(ev event.Event, opts ...scheduler.WaitOption) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		_, err := co.Await(ev, opts...)
		return err
	}
}

func TestScheduler_DEAD01_EveryParkedCoroutineIsCancelledAndTheRunSaysHowMany(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var got []error
		wait := func(co *scheduler.Coroutine) error {
			err := waiter(g)(co)
			got = append(got, err)
			return err
		}
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, wait)
			e.spawn(co, wait)
			return wait(co)
		})
		d := isDeadlock(t, err, 3)
		assert.Same(t, d, err, "nothing failed before it")
		require.Len(t, got, 3)
		for _, err := range got {
			isCancelled(t, err, d)
			assert.Contains(t, err.Error(), "deadlock")
		}
		assert.Equal(t, g.starts, g.stops)
	})
}

func TestScheduler_DEAD01_WhoEndedWellBeforeDoesNotCount(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, waiter(g))
			return nil
		})
		isDeadlock(t, err, 1)
	})
}

func TestScheduler_DEAD01_HiddenCoroutinesAreNotJudged(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var hidden error
		helper := func(co *scheduler.Coroutine) error { _, hidden = co.Await(g); return hidden }
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, helper, scheduler.Hidden(), scheduler.Named("helper"))
			return waiter(g)(co)
		})
		d := isDeadlock(t, err, 1)
		assert.NotContains(t, d.Report, "helper")
		assert.ErrorIs(t, hidden, context.Canceled, "the end of the run cancels it")

		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, helper, scheduler.Hidden())
			return co.Yield()
		})
		assert.ErrorIs(t, hidden, scheduler.ErrRunOver, "alone it is no deadlock (GEN-09)")
	})
}

func TestScheduler_DEAD02_WhoIgnoresTheVerdictFinishesAndTheRunStillFails(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var first, second, third error
		var co1 *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			co1 = co
			_, first = co.Await(g)
			_, second = co.Await(g)
			third = co.Delay(time.Hour)
			e.say("went on")
			return nil
		})
		d := isDeadlock(t, err, 1)
		isCancelled(t, first, d)
		assert.Equal(t, first, second)
		assert.Equal(t, first, third)
		assert.Equal(t, []string{"went on"}, e.said())
		assert.NoError(t, co1.Error(), "CANC-05")
		assert.True(t, co1.Cancelled())
	})
}

func TestScheduler_DEAD02_ProtectedWaitsFailOnceAndWorkAgainLater(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		var stuck, later error
		err := e.run(func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				_, stuck = co.Await(g)
				later = co.Delay(2 * ms)
				return nil
			})
		})
		d := isDeadlock(t, err, 1)
		isCancelled(t, stuck, d)
		assert.NoError(t, later, "CANC-18: protected waits begun after the verdict work")
	})
}

func TestScheduler_DEAD02_WhoGetsStuckAgainIsUnwoundAndNamed(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("unwound")
				return co.Protect(func(context.Context) error {
					for {
						_, _ = co.Await(g)
						e.say("again")
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
		assert.Equal(t, []string{"again", "unwound"}, e.said())
	})
}

func TestScheduler_DEAD03_TwoThatAwaitEachOther(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var a, b *scheduler.Coroutine
		err := e.run(func(co *scheduler.Coroutine) error {
			a = e.spawn(co, func(co *scheduler.Coroutine) error { return waiter(b)(co) })
			b = e.spawn(co, func(co *scheduler.Coroutine) error { return waiter(a)(co) })
			return nil
		})
		isDeadlock(t, err, 2)
	})
}

func TestScheduler_DEAD03_OneAloneInAQueueOfSomebodyElse(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var l line
		err := e.run(func(co *scheduler.Coroutine) error { return park(co, &l) })
		d := isDeadlock(t, err, 1)
		assert.Contains(t, d.Report, "line")
		assert.Len(t, l.left, 1, "it left the queue")
	})
}

func TestScheduler_DEAD08_AnEarlierFailureIsTheCause(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { return errBoom })
			return co.Protect(func(context.Context) error { return waiter(e.gate())(co) })
		})
		isDeadlock(t, err, 1)
		assert.ErrorIs(t, err, errBoom)
		assert.Less(t, strings.Index(err.Error(), "deadlock"), strings.Index(err.Error(), "boom"), "the later one first")
	})
}

func TestScheduler_DEAD10_TenThousandAreToldWithABoundedReport(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		const many = 10_000
		cancelled := 0
		err := e.run(func(co *scheduler.Coroutine) error {
			g := e.gate()
			for range many {
				e.spawn(co, func(co *scheduler.Coroutine) error {
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
