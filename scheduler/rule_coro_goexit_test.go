package scheduler_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

// exits runs a main that is expected to exit its goroutine, and returns whether Run returned.
func (e *env) exits(main func(co *scheduler.Coroutine) error, opts ...option) (returned bool) {
	foreign(func() {
		_ = e.run(main, opts...)
		returned = true
	})
	st := e.s.Stats()
	assert.Zero(e.t, st.Total)
	assert.Zero(e.t, st.Contexts)
	return returned
}

func TestCoroutine_Goexit_EndsTheRunAfterTheCleanUp(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for name, exit := range map[string]func(co *scheduler.Coroutine){
			"main": func(*scheduler.Coroutine) { runtime.Goexit() },
			"child": func(co *scheduler.Coroutine) {
				e.spawn(co, func(*scheduler.Coroutine) error { runtime.Goexit(); return nil })
			},
			"child after a wait": func(co *scheduler.Coroutine) {
				e.spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); runtime.Goexit(); return nil })
			},
			"callback":  func(*scheduler.Coroutine) { e.after(ms, runtime.Goexit) },
			"two":       func(*scheduler.Coroutine) { e.after(ms, runtime.Goexit); e.after(ms, runtime.Goexit) },
			"posted":    func(*scheduler.Coroutine) { _ = e.s.Post(runtime.Goexit) },
			"microtask": func(*scheduler.Coroutine) { _ = e.s.Microtask(func() error { runtime.Goexit(); return nil }) },
			"finally": func(co *scheduler.Coroutine) {
				_ = e.spawn(co, returns(nil)).OnFinally(func(_, _ *scheduler.Coroutine) error { runtime.Goexit(); return nil })
			},
			"handler": func(co *scheduler.Coroutine) {
				sub, err := co.Scope().New()
				require.NoError(t, err)
				sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { runtime.Goexit(); return nil })
				e.spawn(sub, returns(errBoom))
			},
			"settler": func(co *scheduler.Coroutine) {
				e.spawn(co, returns(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { runtime.Goexit() })))
			},
		} {
			t.Run(name, func(t *testing.T) {
				e.said()
				returned := e.exits(func(co *scheduler.Coroutine) error {
					child := e.spawn(co, func(co *scheduler.Coroutine) error {
						defer e.say("cleaned up")
						return co.Delay(3600 * 1000 * ms)
					})
					require.NoError(t, co.Yield())
					require.True(t, child.Suspended())
					exit(co)
					return nil
				})
				assert.False(t, returned, "Run's goroutine exits")
				assert.Equal(t, []string{"cleaned up"}, e.said())
			})
		}
		t.Run("everywhere", func(t *testing.T) {
			ended := 0
			assert.False(t, e.exits(func(co *scheduler.Coroutine) error {
				for i := range 20 {
					e.spawn(co, func(co *scheduler.Coroutine) error {
						defer func() { ended++ }()
						yields(co, 1+i%4)
						runtime.Goexit()
						return nil
					})
				}
				return nil
			}))
			assert.Equal(t, 20, ended)
		})
		t.Run("with a panic in a deferred function", func(t *testing.T) {
			e.exits(func(co *scheduler.Coroutine) error {
				e.spawn(co, func(*scheduler.Coroutine) error {
					defer func() { panic(errBoom) }()
					runtime.Goexit()
					return nil
				})
				e.spawn(co, e.sayer("next"))
				return nil
			})
			e.said()
		})
	})
}

// The callbacks of a lone coroutine run on its stack: when one of them exits, so does the coroutine, woken as it may be.
func TestCoroutine_CORO31_OneThatEndsWhileItIsInTheQueueNeverGoesOn(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		over := false // what was posted late is run when the loop is closed, on the goroutine of the test
		assert.False(t, e.exits(func(co *scheduler.Coroutine) error {
			l := &line{}
			e.after(ms, func() {
				require.NoError(t, co.Unpark())
				require.NoError(t, e.s.Post(func() {
					if !over {
						runtime.Goexit()
					}
				}))
				e.say("woken")
				runtime.Goexit()
			})
			_ = park(co, l)
			e.say("went on")
			return nil
		}))
		over = true
		assert.Equal(t, []string{"woken"}, e.said())
	})
}

func TestCoroutine_CORO31_CancelledWhileQueuedRunsOnceMoreOrNever(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			child := e.spawn(co, func(co *scheduler.Coroutine) error {
				err := park(co, l)
				e.say("once")
				return err
			})
			require.NoError(t, co.Yield())
			require.NoError(t, child.Unpark())
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Cancel(errOther))
			assert.Equal(t, 1, e.s.Stats().Ready)
			never := e.spawn(co, e.sayer("never"))
			require.NoError(t, never.Cancel(errStop))
			assert.Equal(t, 2, e.s.Stats().Ready)
			yields(co, 3)
			assert.True(t, child.Completed())
			assert.True(t, never.Completed())
			assert.Zero(t, e.s.Stats().Ready)
			isCancelled(t, child.Error(), errStop)
			return nil
		})
		assert.Equal(t, []string{"once"}, e.said())
	})
}
