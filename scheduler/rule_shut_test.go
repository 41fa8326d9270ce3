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
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SHUT01_AFailureCancelsTheOthersAndRunReturnsIt(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		var waiting error
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer e.Say("deferred")
				defer func() {
					assert.NoError(t, co.Protect(func(context.Context) error {
						defer e.Say("protected")
						return co.Delay(ms)
					}))
				}()
				waiting = co.Delay(time.Hour)
				return waiting
			})
			require.NoError(t, co.OnFinally(func(_, _ *scheduler.Coroutine) error { e.Say("finally"); return nil }))
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				e.Spawn(co, e.Sayer("unstarted"))
				return errBoom
			})
			return co.Delay(time.Hour)
		})
		assert.ErrorIs(t, err, errBoom)
		cotest.IsCancelled(t, waiting, errBoom)
		assert.ElementsMatch(t, []string{"deferred", "protected", "finally"}, e.Said())
		var f *scheduler.FailureError
		require.ErrorAs(t, err, &f)
		assert.Equal(t, "coroutine 3", f.Coroutine)
	})
}

func TestScheduler_SHUT01_MainsOwnFailureIsReturnedAsItIs(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("unstarted"))
			return errBoom
		})
		assert.Same(t, errBoom, err)
		assert.Empty(t, e.Said())
	})
}

func TestScheduler_SHUT01_APanicFailsTheRunWhereverItIs(t *testing.T) {
	places := map[string]func(e *cotest.Env, co *scheduler.Coroutine) error{
		"main": func(*cotest.Env, *scheduler.Coroutine) error { panic(errBoom) },
		"child": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.Spawn(co, func(*scheduler.Coroutine) error { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"timer callback": func(e *cotest.Env, co *scheduler.Coroutine) error {
			timer := e.Timer(ms)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(e.T, err)
			_, err = co.Await(timer)
			return err
		},
		"deadline callback": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.After(ms, func() { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"post": func(e *cotest.Env, co *scheduler.Coroutine) error {
			_ = e.S.Post(func() { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"microtask": func(e *cotest.Env, co *scheduler.Coroutine) error {
			_ = e.S.Microtask(func() error { panic(errBoom) })
			return co.Delay(time.Hour)
		},
		"subscriber of a coroutine": func(e *cotest.Env, co *scheduler.Coroutine) error {
			child := e.Spawn(co, e.Sayer("child"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { panic(errBoom) })
			require.NoError(e.T, err)
			return co.Delay(time.Hour)
		},
		"settler": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("child"), scheduler.SettledBy(settle(func(error) { panic(errBoom) })))
			return co.Delay(time.Hour)
		},
		"error handler": func(e *cotest.Env, co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { panic(errBoom) })
			e.Spawn(co, cotest.Fails(errOther))
			return co.Delay(time.Hour)
		},
		"finally handler": func(e *cotest.Env, co *scheduler.Coroutine) error {
			child := e.Spawn(co, e.Sayer("child"))
			require.NoError(e.T, child.OnFinally(func(_, _ *scheduler.Coroutine) error { panic(errBoom) }))
			return co.Delay(time.Hour)
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				var waited error
				err := e.Run(func(co *scheduler.Coroutine) error {
					e.Spawn(co, func(co *scheduler.Coroutine) error { waited = co.Delay(time.Hour); return waited })
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
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, h := range []*scheduler.SwitchHandlers{
			{Enter: func(*scheduler.Coroutine) { panic(errBoom) }},
			{Leave: func(*scheduler.Coroutine) { panic(errBoom) }},
			{Finish: func(*scheduler.Coroutine) { panic(errBoom) }},
		} {
			err := e.Run(func(co *scheduler.Coroutine) error { return co.Delay(ms) }, withSwitch(h))
			assert.ErrorIs(t, err, errBoom)
		}
	})
}

func TestScheduler_SHUT02_LaterFailuresLeadBackToTheFirst(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		errs := []error{errors.New("first"), errors.New("second"), errors.New("third")}
		err := e.Run(func(co *scheduler.Coroutine) error {
			for i, err := range errs {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
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
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var got error
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error { got = co.Delay(time.Hour); return got })
			_ = co.Yield()
			require.NoError(t, e.S.Shutdown(errStop))
			require.NoError(t, e.S.Shutdown(errOther))
			return co.Delay(time.Hour)
		})
		cotest.IsCancelled(t, err, errStop)
		cotest.IsCancelled(t, got, errStop)
		assert.NotErrorIs(t, err, errOther)
		cotest.IsUsage(t, e.S.Shutdown(errOther), "Scheduler.Shutdown", e.S.Name())
	})
}

func TestScheduler_SHUT02_AFailureAfterShutdownKeepsTheReason(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.S.Shutdown(errStop))
			_ = co.Delay(ms)
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errStop)
	})
}

func TestScheduler_SHUT02_ShutdownFromAForeignGoroutineIsRefused(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			cotest.Foreign(func() { cotest.IsUsage(t, e.S.Shutdown(errStop), "Scheduler.Shutdown", "goroutine") })
			return co.Delay(ms)
		})
	})
}
