package scheduler_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCoroutine_Goexit_EndsTheRunAfterTheCleanUp(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, exit := range map[string]func(co *scheduler.Coroutine){
			"main": func(*scheduler.Coroutine) { runtime.Goexit() },
			"child": func(co *scheduler.Coroutine) {
				e.Spawn(co, func(*scheduler.Coroutine) error { runtime.Goexit(); return nil })
			},
			"child after a wait": func(co *scheduler.Coroutine) {
				e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); runtime.Goexit(); return nil })
			},
			"callback":  func(*scheduler.Coroutine) { e.After(ms, runtime.Goexit) },
			"two":       func(*scheduler.Coroutine) { e.After(ms, runtime.Goexit); e.After(ms, runtime.Goexit) },
			"posted":    func(*scheduler.Coroutine) { _ = e.S.Post(runtime.Goexit) },
			"microtask": func(*scheduler.Coroutine) { _ = e.S.Microtask(func() error { runtime.Goexit(); return nil }) },
			"finally": func(co *scheduler.Coroutine) {
				_ = e.Spawn(co, cotest.Fails(nil)).OnFinally(func(_, _ *scheduler.Coroutine) error { runtime.Goexit(); return nil })
			},
			"handler": func(co *scheduler.Coroutine) {
				sub, err := co.Scope().New()
				require.NoError(t, err)
				sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { runtime.Goexit(); return nil })
				e.Spawn(sub, cotest.Fails(errBoom))
			},
			"settler": func(co *scheduler.Coroutine) {
				e.Spawn(co, cotest.Fails(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { runtime.Goexit() })))
			},
		} {
			t.Run(name, func(t *testing.T) {
				e.Said()
				e.Exits(func(co *scheduler.Coroutine) error {
					child := e.Spawn(co, func(co *scheduler.Coroutine) error {
						defer e.Say("cleaned up")
						return co.Delay(3600 * 1000 * ms)
					})
					require.NoError(t, co.Yield())
					require.True(t, child.Suspended())
					exit(co)
					return nil
				})
				assert.Equal(t, []string{"cleaned up"}, e.Said())
			})
		}
		t.Run("everywhere", func(t *testing.T) {
			ended := 0
			e.Exits(func(co *scheduler.Coroutine) error {
				for i := range 20 {
					e.Spawn(co, func(co *scheduler.Coroutine) error {
						defer func() { ended++ }()
						cotest.Yields(co, 1+i%4)
						runtime.Goexit()
						return nil
					})
				}
				return nil
			})
			assert.Equal(t, 20, ended)
		})
		t.Run("with a panic in a deferred function", func(t *testing.T) {
			cotest.Foreign(func() {
				_ = e.Run(func(co *scheduler.Coroutine) error {
					e.Spawn(co, func(*scheduler.Coroutine) error {
						defer func() { panic(errBoom) }()
						runtime.Goexit()
						return nil
					})
					e.Spawn(co, e.Sayer("next"))
					return nil
				})
			})
			e.Counts(0, 0, 0)
			assert.Zero(t, e.S.Stats().Contexts)
			e.Said()
		})
	})
}

// The callbacks of a lone coroutine run on its stack: when one of them exits, so does the coroutine, woken as it may be.
func TestCoroutine_CORO31_OneThatEndsWhileItIsInTheQueueNeverGoesOn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		over := false // what was posted late is run when the loop is closed, on the goroutine of the test
		e.Exits(func(co *scheduler.Coroutine) error {
			l := &line{}
			e.After(ms, func() {
				require.NoError(t, co.Unpark())
				require.NoError(t, e.S.Post(func() {
					if !over {
						runtime.Goexit()
					}
				}))
				e.Say("woken")
				runtime.Goexit()
			})
			_ = park(co, l)
			e.Say("went on")
			return nil
		})
		over = true
		assert.Equal(t, []string{"woken"}, e.Said())
	})
}

func TestCoroutine_CORO31_CancelledWhileQueuedRunsOnceMoreOrNever(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.Spawn(co, func(co *scheduler.Coroutine) error {
				err := park(co, l)
				e.Say("once")
				return err
			})
			require.NoError(t, co.Yield())
			require.NoError(t, child.Unpark())
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Cancel(errOther))
			assert.Equal(t, 1, e.S.Stats().Ready)
			never := e.Spawn(co, e.Sayer("never"))
			require.NoError(t, never.Cancel(errStop))
			assert.Equal(t, 2, e.S.Stats().Ready)
			cotest.Yields(co, 3)
			assert.True(t, child.Completed())
			assert.True(t, never.Completed())
			assert.Zero(t, e.S.Stats().Ready)
			cotest.IsCancelled(t, child.Error(), errStop)
			return nil
		})
		assert.Equal(t, []string{"once"}, e.Said())
	})
}
