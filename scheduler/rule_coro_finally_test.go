package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

type finally = func(self, ended *scheduler.Coroutine) error

// finallyFails is a finally handler that does.
func finallyFails(err error) finally {
	return func(_, _ *scheduler.Coroutine) error { return err }
}

func TestCoroutine_CORO17_FinallyHandlersRunOnceAfterEveryEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, end := range map[string]struct {
			body   func(co *scheduler.Coroutine) error
			cancel bool
			start  bool
		}{
			"value":     {body: cotest.Fails(nil), start: true},
			"error":     {body: cotest.Fails(errBoom), start: true},
			"panic":     {body: func(*scheduler.Coroutine) error { panic(errBoom) }, start: true},
			"cancelled": {body: func(co *scheduler.Coroutine) error { return co.Delay(3600 * 1000 * ms) }, cancel: true, start: true},
			"unstarted": {body: cotest.Fails(nil), cancel: true},
		} {
			t.Run(name, func(t *testing.T) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { return nil })
					child := e.Spawn(co, end.body)
					for i := range 3 {
						require.NoError(t, child.OnFinally(func(self, ended *scheduler.Coroutine) error {
							assert.Same(t, child, ended)
							assert.NotSame(t, child, self)
							assert.Same(t, self, e.S.Current())
							assert.True(t, ended.Completed())
							assert.Equal(t, end.cancel, ended.Cancelled())
							e.Say(fmt.Sprint("handler ", i))
							return nil
						}))
					}
					if end.start {
						require.NoError(t, co.Yield())
					}
					if end.cancel {
						assert.Empty(t, e.Said(), "not before the end")
						require.NoError(t, child.Cancel(errStop))
					}
					cotest.Yields(co, 4)
					assert.Equal(t, []string{"handler 0", "handler 1", "handler 2"}, e.Said())
					return nil
				})
				assert.Empty(t, e.Said(), "once")
			})
		}
	})
}

// scopeFailures runs a coroutine with finally handlers and returns what its scope's handler got.
func scopeFailures(e *cotest.Env, body error, handlers ...error) (got []error) {
	e.MustRun(func(co *scheduler.Coroutine) error {
		var child *scheduler.Coroutine
		co.Scope().OnError(func(_ *scheduler.Scope, failed *scheduler.Coroutine, err error) error {
			assert.Same(e.T, child, failed)
			got = append(got, err)
			return nil
		})
		child = e.Spawn(co, cotest.Fails(body))
		for _, err := range handlers {
			require.NoError(e.T, child.OnFinally(finallyFails(err)))
		}
		return nil
	})
	return got
}

func TestCoroutine_CORO19_OneFailureOfAHandlerIsGivenAsItIs(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		assert.Equal(t, []error{errBoom}, scopeFailures(e, nil, nil, errBoom, nil))
		got := scopeFailures(e, nil, errBoom, nil, errOther)
		require.Len(t, got, 1)
		var all *event.CompositeError
		require.ErrorAs(t, got[0], &all)
		assert.Equal(t, []error{errBoom, errOther}, all.Errors, "in order")
		assert.Empty(t, scopeFailures(e, nil, &event.CancelledError{}), "CANC-19")
	})
}

func TestCoroutine_CORO20_OnFinallyOfAnEndedOneRunsAtOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, cotest.Fails(nil))
			require.NoError(t, co.Yield())
			err := child.OnFinally(func(self, ended *scheduler.Coroutine) error {
				assert.Same(t, co, self)
				assert.Same(t, child, ended)
				e.Say("ran")
				return errBoom
			})
			assert.Equal(t, []string{"ran"}, e.Said())
			assert.Equal(t, errBoom, err)
			err = child.OnFinally(func(_, _ *scheduler.Coroutine) error { panic(errOther) })
			assert.ErrorIs(t, err, errOther)
			require.NoError(t, child.OnFinally(func(self, _ *scheduler.Coroutine) error { return self.Delay(ms) }))
			assert.Error(t, child.OnFinally(nil))
			assert.Error(t, co.OnFinally(nil))
			cotest.IsUsage(t, (*scheduler.Coroutine)(nil).OnFinally(finallyFails(nil)), "OnFinally")
			cotest.Foreign(func() { cotest.IsUsage(t, child.OnFinally(finallyFails(nil)), "OnFinally", "goroutine") })

			own := e.Spawn(co, func(self *scheduler.Coroutine) error {
				return self.OnFinally(func(_, _ *scheduler.Coroutine) error { e.Say("of its own"); return nil })
			})
			require.NoError(t, own.OnFinally(func(_, ended *scheduler.Coroutine) error {
				return ended.OnFinally(func(_, _ *scheduler.Coroutine) error { e.Say("late"); return nil })
			}))
			return nil
		})
		assert.Equal(t, []string{"late", "of its own"}, e.Said())
	})
}

func TestCoroutine_CORO21_TheBodysErrorFirstThenTheHandlers(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		got := scopeFailures(e, errStop, errBoom, errOther)
		require.Len(t, got, 2)
		assert.Equal(t, errStop, got[0])
		var all *event.CompositeError
		require.ErrorAs(t, got[1], &all)
		assert.Equal(t, []error{errBoom, errOther}, all.Errors)
	})
}

func TestCoroutine_CORO22_FinallyHandlersSuspendAndSpawnInACancelledScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			child := e.Spawn(sub, func(co *scheduler.Coroutine) error { return co.Delay(3600 * 1000 * ms) })
			require.NoError(t, child.OnFinally(func(self, _ *scheduler.Coroutine) error {
				assert.NotSame(t, sub, self.Scope())
				assert.Same(t, sub, self.Scope().Parent())
				require.NoError(t, self.Delay(ms))
				helper := e.Spawn(self, func(co *scheduler.Coroutine) error { e.Say("helper"); return co.Delay(ms) })
				_, err := self.Await(helper)
				e.Say("cleaned up")
				return err
			}))
			require.NoError(t, co.Yield())
			require.NoError(t, sub.Cancel(errStop))
			require.NoError(t, sub.Cancel(errOther), "again")
			return nil
		})
		assert.Equal(t, []string{"helper", "cleaned up"}, e.Said())
	})
}

// Handlers of what a failing run cancels have the grace, and go on while they behave.
func TestCoroutine_CORO22_FinallyHandlersInAShutdown(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		body := func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(3600 * 1000 * ms) })
			require.NoError(t, child.OnFinally(func(self, _ *scheduler.Coroutine) error {
				defer e.Say("unwound or done")
				if err := self.Delay(20 * ms); err != nil {
					return err
				}
				e.Say("cleaned up")
				return nil
			}))
			require.NoError(t, co.Yield())
			return errBoom
		}
		err := e.Run(body)
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"cleaned up", "unwound or done"}, e.Said())

		err = e.Run(body, cotest.WithGrace(ms))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		assert.ErrorAs(t, err, &late)
		assert.Equal(t, []string{"unwound or done"}, e.Said(), "under CANC-18")
	})
}

func TestCoroutine_CORO23_AHandlersFailureFailsTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			return e.Spawn(co, cotest.Fails(nil)).OnFinally(finallyFails(errBoom))
		})
		assert.ErrorIs(t, err, errBoom)

		err = e.Run(func(co *scheduler.Coroutine) error {
			return e.Spawn(co, cotest.Fails(errOther)).OnFinally(finallyFails(errBoom))
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther, "chained")

		// The body's failure went to its awaiter, and still is the cause.
		err = e.Run(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, cotest.Fails(errOther))
			require.NoError(t, child.OnFinally(finallyFails(errBoom)))
			_, err := co.Await(child)
			assert.ErrorIs(t, err, errOther)
			return nil
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
	})
}

func TestCoroutine_CORO24_FinallyHandlersRunBeforeTheAwaiters(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { cotest.Yields(co, 2); return nil })
			for _, name := range []string{"awaiter 1", "awaiter 2"} {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(child)
					e.Say(name)
					return err
				})
			}
			require.NoError(t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { e.Say("finally"); return nil }))
			cotest.Yields(co, 2)
			e.Spawn(co, e.Sayer("ready before"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { e.Say("notified") })
			require.NoError(t, err)
			return nil
		})
		assert.Equal(t, []string{"notified", "finally", "ready before", "awaiter 1", "awaiter 2"}, e.Said())
	})
}
