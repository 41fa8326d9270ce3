package scheduler_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// exitsInOrder runs main where something calls Goexit, and checks that Run's goroutine ends by it, after everything else has ended.
func (e *env) exitsInOrder(main func(co *scheduler.Coroutine) error, opts ...option) {
	e.t.Helper()
	s, returned, done := e.prepare(opts...), false, make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			st := s.Stats()
			assert.Zero(e.t, st.Active)
			assert.Zero(e.t, st.Total)
			assert.Zero(e.t, st.Contexts)
		}()
		_ = s.Run(context.Background(), main)
		returned = true
	}()
	select {
	case <-done:
	case <-time.After(patience):
		require.FailNow(e.t, "the run hangs")
	}
	assert.False(e.t, returned, "Run's goroutine exits as well")
	assert.Zero(e.t, e.w.Live())
}

// cancelOthers leaves co, and what is hidden, alone.
func (e *env) cancelOthers(co *scheduler.Coroutine) {
	for _, other := range e.s.Coroutines() {
		if other != co && other.Name() != "hidden" {
			require.NoError(e.t, other.Cancel(nil))
		}
	}
}

func TestScheduler_SHUT_FailNowEndsTheRunInOrderWhereverItIsCalled(t *testing.T) {
	exit := func() { runtime.Goexit() } // what t.FailNow does
	places := map[string]func(e *env, co *scheduler.Coroutine) error{
		"main": func(*env, *scheduler.Coroutine) error { exit(); return nil },
		"main, protected": func(_ *env, co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error { exit(); return nil })
		},
		"child": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { exit(); return nil })
			return co.Delay(time.Hour)
		},
		"hidden child at the end": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { defer exit(); return co.Delay(time.Hour) }, scheduler.Hidden(), scheduler.Named("hidden"))
			_ = co.Yield()
			e.cancelOthers(co)
			return nil
		},
		"timer callback": func(e *env, co *scheduler.Coroutine) error {
			timer := e.timer(ms)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { exit() })
			require.NoError(e.t, err)
			_, err = co.Await(timer)
			return err
		},
		"callback of a run with one coroutine": func(e *env, co *scheduler.Coroutine) error { e.after(2*ms, exit); return co.Delay(time.Hour) },
		"post":                                 func(e *env, co *scheduler.Coroutine) error { _ = e.s.Post(exit); return co.Delay(time.Hour) },
		"microtask": func(e *env, co *scheduler.Coroutine) error {
			_ = e.s.Microtask(func() error { exit(); return nil })
			return co.Delay(time.Hour)
		},
		"subscriber of a coroutine": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			_, err := child.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { exit() })
			require.NoError(e.t, err)
			return co.Delay(time.Hour)
		},
		"settler": func(e *env, co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("child"), scheduler.SettledBy(settle(func(error) { exit() })))
			return co.Delay(time.Hour)
		},
		"error handler": func(e *env, co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { exit(); return nil })
			e.spawn(co, fails(errOther))
			return co.Delay(time.Hour)
		},
		"finally handler": func(e *env, co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			require.NoError(e.t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { exit(); return nil }))
			return co.Delay(time.Hour)
		},
		"starving hook": func(e *env, co *scheduler.Coroutine) error {
			var h *starving
			h = e.starving("hook", func() bool { h.help = no; exit(); return false })
			e.cancelOthers(co)
			return waiter(e.gate())(co)
		},
		"several": func(e *env, co *scheduler.Coroutine) error {
			for range 3 {
				e.spawn(co, func(co *scheduler.Coroutine) error { defer exit(); return co.Delay(time.Hour) })
			}
			yields(co, 2)
			exit()
			return nil
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				var waited error
				e.exitsInOrder(func(co *scheduler.Coroutine) error {
					e.spawn(co, func(co *scheduler.Coroutine) error {
						defer e.say("cleaned up")
						waited = co.Delay(time.Hour)
						return waited
					})
					_ = co.Yield()
					return place(e, co)
				})
				assert.ErrorIs(t, waited, context.Canceled)
				assert.Contains(t, e.said(), "cleaned up")
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
			each(t, func(t *testing.T, e *env) {
				once := true
				e.exitsInOrder(func(co *scheduler.Coroutine) error {
					e.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(ms) })
					return co.Delay(time.Hour)
				}, withSwitch(h(func(*scheduler.Coroutine) {
					if once {
						once = false
						runtime.Goexit()
					}
				})))
			})
		})
	}
}
