package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// failing makes the run fail when everybody has begun.
func (e *env) failing(bodies ...func(co *scheduler.Coroutine) error) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		for _, body := range bodies {
			e.spawn(co, body)
		}
		yields(co, 1)
		return errBoom
	}
}

func TestShutdown_CANC18_StageOneHonoursProtect(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(e.failing(
			func(co *scheduler.Coroutine) error {
				return co.Protect(func(context.Context) error {
					assert.NoError(t, co.Delay(5*ms))
					e.say("running section")
					return nil
				})
			},
			func(co *scheduler.Coroutine) error {
				isCancelled(t, co.Delay(hour), errBoom)
				return co.Protect(func(context.Context) error {
					assert.NoError(t, co.Delay(10*ms))
					e.say("later section")
					return nil
				})
			}))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		assert.False(t, errors.As(err, &late))
		assert.Equal(t, []string{"running section", "later section"}, e.said())
	})
}

func TestShutdown_CANC18_StageTwoUnwindsWhoeverSuspends(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		deferred := 0
		clean := func() { deferred++ }
		never := func(where string) { t.Error("went on after " + where) }
		err := e.run(e.failing(
			func(co *scheduler.Coroutine) error { // in a section
				defer clean()
				defer func() { assert.Nil(t, recover(), "there is nothing to recover") }()
				_ = co.Protect(func(context.Context) error {
					_ = co.Delay(hour)
					never("a protected wait")
					return nil
				})
				return nil
			},
			func(co *scheduler.Coroutine) error { // parked in a section in a block
				l := &line{}
				defer func() { clean(); assert.Len(t, l.left, 1) }()
				return co.WithTimeout(hour, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						_ = park(co, l)
						never("a parked one")
						return nil
					})
				})
			},
			func(co *scheduler.Coroutine) error { // one that does not care
				defer clean()
				for {
					_ = co.Protect(func(context.Context) error { return co.Delay(ms) })
				}
			},
			func(co *scheduler.Coroutine) error { // its clean-up tries to wait
				defer clean()
				defer func() { _ = co.Delay(ms); never("a wait in a deferred function") }()
				defer func() {
					_ = co.Protect(func(context.Context) error { _ = co.Delay(ms); never("a protected one"); return nil })
				}()
				return co.Protect(func(context.Context) error { return co.Delay(hour) })
			},
			func(co *scheduler.Coroutine) error { // its clean-up spawns
				defer clean()
				defer func() { _, err := co.Spawn(returns(nil)); isUsage(t, err, "Spawn") }()
				return co.Protect(func(context.Context) error { return co.Delay(hour) })
			},
		), withGrace(5*ms))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 5)
		assert.Equal(t, 5, deferred)
	})
}

func TestShutdown_CANC18_APanicOfTheCleanUpIsToldToo(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(e.failing(func(co *scheduler.Coroutine) error {
			defer func() { panic(errOther) }()
			return co.Protect(func(context.Context) error { return co.Delay(hour) })
		}), withGrace(ms))
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
	})
}

// With no grace at all it is stage two at once, and whoever has not started never does.
func TestShutdown_CANC18_WithoutGrace(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("unwound")
				_ = co.Delay(hour)
				e.say("never")
				return nil
			})
			require.NoError(t, co.Yield())
			child := e.spawn(co, e.sayer("never"))
			require.NoError(t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { e.say("finally"); return nil }))
			return errBoom
		}, withGrace(-1))
		assert.ErrorIs(t, err, errBoom)
		assert.ElementsMatch(t, []string{"unwound", "finally"}, e.said())
	})
}

// Whoever keeps running may return in peace: stage two meets it when it suspends.
func TestShutdown_CANC18_StageTwoWhileItRuns(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			defer e.say("deferred")
			require.NoError(t, e.s.Shutdown(errStop))
			e.say("still runs")
			_ = co.Yield()
			e.say("never")
			return nil
		}, withGrace(-1))
		isCancelled(t, err, errStop)
		assert.Equal(t, []string{"still runs", "deferred"}, e.said())
	})
}

func TestDeadlock_CANC18_TheVerdictReachesProtectedWaitsAndLaterOnesWork(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				l := &line{}
				err := park(co, l)
				var dead *scheduler.DeadlockError
				assert.ErrorAs(t, err, &dead)
				assert.ErrorIs(t, err, context.Canceled)
				assert.Len(t, l.left, 1)
				assert.NoError(t, co.Delay(ms), "a later one works")
				_, err = co.Await(e.timer(ms))
				assert.NoError(t, err)
				e.say("cleaned up")
				return nil
			})
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 1, dead.Waiting)
		assert.Equal(t, []string{"cleaned up"}, e.said())
	})
}
