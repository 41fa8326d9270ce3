package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// failing makes the run fail when everybody has begun.
func failing(e *cotest.Env, bodies ...func(co *scheduler.Coroutine) error) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		for _, body := range bodies {
			e.Spawn(co, body)
		}
		cotest.Yields(co, 1)
		return errBoom
	}
}

func TestShutdown_CANC18_StageOneHonoursProtect(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(failing(e,
			func(co *scheduler.Coroutine) error {
				return co.Protect(func(context.Context) error {
					assert.NoError(t, co.Delay(5*ms))
					e.Say("running section")
					return nil
				})
			},
			func(co *scheduler.Coroutine) error {
				cotest.IsCancelled(t, co.Delay(hour), errBoom)
				return co.Protect(func(context.Context) error {
					assert.NoError(t, co.Delay(10*ms))
					e.Say("later section")
					return nil
				})
			}))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		assert.False(t, errors.As(err, &late))
		assert.Equal(t, []string{"running section", "later section"}, e.Said())
	})
}

func TestShutdown_CANC18_StageTwoUnwindsWhoeverSuspends(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		deferred := 0
		clean := func() { deferred++ }
		never := func(where string) { t.Error("went on after " + where) }
		err := e.Run(failing(e,
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
				defer func() { _, err := co.Spawn(cotest.Fails(nil)); cotest.IsUsage(t, err, "Spawn") }()
				return co.Protect(func(context.Context) error { return co.Delay(hour) })
			},
		), cotest.WithGrace(5*ms))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 5)
		assert.Equal(t, 5, deferred)
	})
}

func TestShutdown_CANC18_APanicOfTheCleanUpIsToldToo(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(failing(e, func(co *scheduler.Coroutine) error {
			defer func() { panic(errOther) }()
			return co.Protect(func(context.Context) error { return co.Delay(hour) })
		}), cotest.WithGrace(ms))
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
	})
}

// With no grace at all it is stage two at once, and whoever has not started never does.
func TestShutdown_CANC18_WithoutGrace(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer e.Say("unwound")
				_ = co.Delay(hour)
				e.Say("never")
				return nil
			})
			require.NoError(t, co.Yield())
			child := e.Spawn(co, e.Sayer("never"))
			require.NoError(t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { e.Say("finally"); return nil }))
			return errBoom
		}, cotest.WithGrace(-1))
		assert.ErrorIs(t, err, errBoom)
		assert.ElementsMatch(t, []string{"unwound", "finally"}, e.Said())
	})
}

// Whoever keeps running may return in peace: stage two meets it when it suspends.
func TestShutdown_CANC18_StageTwoWhileItRuns(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			defer e.Say("deferred")
			require.NoError(t, e.S.Shutdown(errStop))
			e.Say("still runs")
			_ = co.Yield()
			e.Say("never")
			return nil
		}, cotest.WithGrace(-1))
		cotest.IsCancelled(t, err, errStop)
		assert.Equal(t, []string{"still runs", "deferred"}, e.Said())
	})
}

func TestDeadlock_CANC18_TheVerdictReachesProtectedWaitsAndLaterOnesWork(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				l := &line{}
				err := park(co, l)
				var dead *scheduler.DeadlockError
				assert.ErrorAs(t, err, &dead)
				assert.ErrorIs(t, err, context.Canceled)
				assert.Len(t, l.left, 1)
				assert.NoError(t, co.Delay(ms), "a later one works")
				_, err = co.Await(e.Timer(ms))
				assert.NoError(t, err)
				e.Say("cleaned up")
				return nil
			})
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 1, dead.Waiting)
		assert.Equal(t, []string{"cleaned up"}, e.Said())
	})
}
