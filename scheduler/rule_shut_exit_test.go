package scheduler_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// cancelOthers leaves co, and what is hidden, alone.
func cancelOthers(e *cotest.Env, co *scheduler.Coroutine) {
	for _, other := range e.S.Coroutines() {
		if other != co && other.Name() != "hidden" {
			require.NoError(e.T, other.Cancel(nil))
		}
	}
}

func TestScheduler_SHUT_FailNowEndsTheRunInOrderWhereverItIsCalled(t *testing.T) {
	exit := func() { runtime.Goexit() } // what t.FailNow does
	places := map[string]func(e *cotest.Env, co *scheduler.Coroutine) error{
		"main": func(*cotest.Env, *scheduler.Coroutine) error { exit(); return nil },
		"main, protected": func(_ *cotest.Env, co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error { exit(); return nil })
		},
		"child": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.Spawn(co, func(*scheduler.Coroutine) error { exit(); return nil })
			return co.Delay(time.Hour)
		},
		"hidden child at the end": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error { defer exit(); return co.Delay(time.Hour) }, scheduler.Hidden(), scheduler.Named("hidden"))
			_ = co.Yield()
			cancelOthers(e, co)
			return nil
		},
		"timer callback": func(e *cotest.Env, co *scheduler.Coroutine) error {
			timer := e.Timer(ms)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { exit() })
			require.NoError(e.T, err)
			_, err = co.Await(timer)
			return err
		},
		"callback of a run with one coroutine": func(e *cotest.Env, co *scheduler.Coroutine) error { e.After(2*ms, exit); return co.Delay(time.Hour) },
		"post":                                 func(e *cotest.Env, co *scheduler.Coroutine) error { _ = e.S.Post(exit); return co.Delay(time.Hour) },
		"microtask": func(e *cotest.Env, co *scheduler.Coroutine) error {
			_ = e.S.Microtask(func() error { exit(); return nil })
			return co.Delay(time.Hour)
		},
		"subscriber of a coroutine": func(e *cotest.Env, co *scheduler.Coroutine) error {
			child := e.Spawn(co, e.Sayer("child"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { exit() })
			require.NoError(e.T, err)
			return co.Delay(time.Hour)
		},
		"settler": func(e *cotest.Env, co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("child"), scheduler.SettledBy(settle(func(error) { exit() })))
			return co.Delay(time.Hour)
		},
		"error handler": func(e *cotest.Env, co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { exit(); return nil })
			e.Spawn(co, cotest.Fails(errOther))
			return co.Delay(time.Hour)
		},
		"finally handler": func(e *cotest.Env, co *scheduler.Coroutine) error {
			child := e.Spawn(co, e.Sayer("child"))
			require.NoError(e.T, child.OnFinally(func(_, _ *scheduler.Coroutine) error { exit(); return nil }))
			return co.Delay(time.Hour)
		},
		"starving hook": func(e *cotest.Env, co *scheduler.Coroutine) error {
			var h *starving
			h = newStarving(e, "hook", func() bool { h.help = no; exit(); return false })
			cancelOthers(e, co)
			return cotest.Waiter(e.Gate())(co)
		},
		"several": func(e *cotest.Env, co *scheduler.Coroutine) error {
			for range 3 {
				e.Spawn(co, func(co *scheduler.Coroutine) error { defer exit(); return co.Delay(time.Hour) })
			}
			cotest.Yields(co, 2)
			exit()
			return nil
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				var waited error
				e.Exits(func(co *scheduler.Coroutine) error {
					e.Spawn(co, func(co *scheduler.Coroutine) error {
						defer e.Say("cleaned up")
						waited = co.Delay(time.Hour)
						return waited
					})
					_ = co.Yield()
					return place(e, co)
				})
				assert.Zero(t, e.W.Live())
				assert.ErrorIs(t, waited, context.Canceled)
				assert.Contains(t, e.Said(), "cleaned up")
			})
		})
	}
}

func TestScheduler_SHUT_FailNowInASwitchHandlerEndsTheRunInOrder(t *testing.T) {
	for name, h := range map[string]func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers{
		"enter": func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers {
			return &scheduler.SwitchHandlers{Enter: fn}
		},
		"leave": func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers {
			return &scheduler.SwitchHandlers{Leave: fn}
		},
		"finish": func(fn func(*scheduler.Coroutine)) *scheduler.SwitchHandlers {
			return &scheduler.SwitchHandlers{Finish: fn}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				once := true
				e.Exits(func(co *scheduler.Coroutine) error {
					e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(ms) })
					return co.Delay(time.Hour)
				}, withSwitch(h(func(*scheduler.Coroutine) {
					if once {
						once = false
						runtime.Goexit()
					}
				})))
				assert.Zero(t, e.W.Live())
			})
		})
	}
}
