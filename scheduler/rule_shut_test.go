package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// fails is a body that fails at once.
func fails(err error) func(*scheduler.Coroutine) error {
	return func(*scheduler.Coroutine) error { return err }
}

func TestScheduler_SHUT01_AFailureCancelsTheOthersAndRunReturnsIt(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		var waiting error
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("deferred")
				defer func() {
					assert.NoError(t, co.Protect(func(context.Context) error {
						defer e.say("protected")
						return co.Delay(ms)
					}))
				}()
				waiting = co.Delay(time.Hour)
				return waiting
			})
			require.NoError(t, co.OnFinally(func(_, _ *scheduler.Coroutine) error { e.say("finally"); return nil }))
			e.spawn(co, func(co *scheduler.Coroutine) error {
				e.spawn(co, e.sayer("unstarted"))
				return errBoom
			})
			return co.Delay(time.Hour)
		})
		assert.ErrorIs(t, err, errBoom)
		isCancelled(t, waiting, errBoom)
		assert.ElementsMatch(t, []string{"deferred", "protected", "finally"}, e.said())
		var f *scheduler.FailureError
		require.ErrorAs(t, err, &f)
		assert.Equal(t, "coroutine 3", f.Coroutine)
	})
}

func TestScheduler_SHUT01_MainsOwnFailureIsReturnedAsItIs(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("unstarted"))
			return errBoom
		})
		assert.Same(t, errBoom, err)
		assert.Empty(t, e.said())
	})
}

func TestScheduler_SHUT01_APanicFailsTheRunWhereverItIs(t *testing.T) {
	places := map[string]func(e *env, co *scheduler.Coroutine) error{
		"main": func(*env, *scheduler.Coroutine) error { panic(errBoom) },
		"child": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"timer callback": func(e *env, co *scheduler.Coroutine) error {
			timer := e.timer(ms)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(e.t, err)
			_, err = co.Await(timer)
			return err
		},
		"deadline callback": func(e *env, co *scheduler.Coroutine) error {
			e.after(ms, func() { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"post": func(e *env, co *scheduler.Coroutine) error {
			_ = e.s.Post(func() { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"microtask": func(e *env, co *scheduler.Coroutine) error {
			_ = e.s.Microtask(func() error { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"subscriber of a coroutine": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(e.t, err)
			return co.Delay(time.Hour)
		},
		"settler": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("child"), scheduler.SettledBy(settle(func(error) { panic(errBoom) })))
			return co.Delay(time.Hour)
		},
		"error handler": func(e *env, co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { panic(errBoom) })
			e.spawn(co, fails(errOther))
			return co.Delay(time.Hour)
		},
		"finally handler": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			require.NoError(e.t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { panic(errBoom) }))
			return co.Delay(time.Hour)
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				var waited error
				err := e.run(func(co *scheduler.Coroutine) error {
					e.spawn(co, func(co *scheduler.Coroutine) error { waited = co.Delay(time.Hour); return waited })
					_ = co.Yield()
					return place(e, co)
				})
				assert.ErrorIs(t, err, errBoom)
				var p *event.PanicError
				require.ErrorAs(t, err, &p)
				assert.Contains(t, string(p.Stack), "rule_shut_test.go", "the stack is that of the panic")
				assert.ErrorIs(t, waited, context.Canceled, "the others were cancelled")
				if name == "error handler" {
					assert.ErrorIs(t, err, errOther, "SCOPE-20")
				}
			})
		})
	}
}

type settle func(err error)

func (s settle) Settle(_ *scheduler.Coroutine, err error) { s(err) }

func TestScheduler_SHUT01_APanicOfASwitchHandlerFailsTheRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for _, h := range []*scheduler.SwitchHandlers{
			{Enter: func(*scheduler.Coroutine) { panic(errBoom) }},
			{Leave: func(*scheduler.Coroutine) { panic(errBoom) }},
			{Finish: func(*scheduler.Coroutine) { panic(errBoom) }},
		} {
			err := e.run(func(co *scheduler.Coroutine) error { return co.Delay(ms) }, withSwitch(h))
			assert.ErrorIs(t, err, errBoom)
		}
	})
}

func TestScheduler_SHUT02_LaterFailuresLeadBackToTheFirst(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		errs := []error{errors.New("first"), errors.New("second"), errors.New("third")}
		err := e.run(func(co *scheduler.Coroutine) error {
			for i, err := range errs {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						_ = co.Delay(time.Duration(i+1) * ms)
						return err
					})
				}, scheduler.Named(fmt.Sprint("worker ", i)))
			}
			return nil
		})
		for _, one := range errs {
			assert.ErrorIs(t, err, one)
		}
		var latest *scheduler.FailureError
		require.ErrorAs(t, err, &latest)
		assert.Equal(t, `coroutine 4 "worker 2"`, latest.Coroutine, "the latest comes first")
	})
}

func TestScheduler_SHUT02_RequestedTwiceItIsOneShutdown(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var got error
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { got = co.Delay(time.Hour); return got })
			_ = co.Yield()
			require.NoError(t, e.s.Shutdown(errStop))
			require.NoError(t, e.s.Shutdown(errOther))
			return co.Delay(time.Hour)
		})
		isCancelled(t, err, errStop)
		isCancelled(t, got, errStop)
		assert.NotErrorIs(t, err, errOther)
		isUsage(t, e.s.Shutdown(errOther), "Scheduler.Shutdown", e.s.Name())
	})
}

func TestScheduler_SHUT02_AFailureAfterShutdownKeepsTheReason(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Shutdown(errStop))
			_ = co.Delay(ms)
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errStop)
	})
}

func TestScheduler_SHUT02_ShutdownFromAForeignGoroutineIsRefused(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			foreign(func() { isUsage(t, e.s.Shutdown(errStop), "Scheduler.Shutdown", "goroutine") })
			return co.Delay(ms)
		})
	})
}
