package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCoroutine_Panics(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		t.Run("in a body", func(t *testing.T) {
			deferred := false
			err := e.Run(func(co *scheduler.Coroutine) error {
				child := e.Spawn(co, func(co *scheduler.Coroutine) error {
					defer func() { deferred = true }()
					panic(errBoom)
				})
				_, err := co.Await(child)
				var p *event.PanicError
				require.ErrorAs(t, err, &p)
				assert.Equal(t, errBoom, p.Value)
				assert.Contains(t, string(p.Stack), "rule_coro_panic_test.go")
				return nil
			})
			assert.True(t, deferred)
			assert.NoError(t, err, "it was awaited")
		})
		t.Run("in a body nobody awaits, after a wait", func(t *testing.T) {
			err := e.Run(func(co *scheduler.Coroutine) error {
				e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); panic("text") })
				return nil
			})
			var p *event.PanicError
			require.ErrorAs(t, err, &p)
			assert.Equal(t, "text", p.Value)
		})
		t.Run("in the main one", func(t *testing.T) {
			err := e.Run(func(*scheduler.Coroutine) error { panic(errBoom) })
			assert.ErrorIs(t, err, errBoom)
		})
		t.Run("of nil", func(t *testing.T) {
			err := e.Run(func(*scheduler.Coroutine) error { panic(nil) })
			var p *event.PanicError
			require.ErrorAs(t, err, &p)
		})
		for name, act := range map[string]func(co *scheduler.Coroutine) error{
			"callback":  func(co *scheduler.Coroutine) error { e.After(ms, func() { panic(errBoom) }); return nil },
			"posted":    func(co *scheduler.Coroutine) error { return e.S.Post(func() { panic(errBoom) }) },
			"microtask": func(co *scheduler.Coroutine) error { return e.S.Microtask(func() error { panic(errBoom) }) },
			"finally": func(co *scheduler.Coroutine) error {
				return e.Spawn(co, cotest.Fails(nil)).OnFinally(func(_, _ *scheduler.Coroutine) error { panic(errBoom) })
			},
			"handler": func(co *scheduler.Coroutine) error {
				sub, err := co.Scope().New()
				sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { panic(errBoom) })
				e.Spawn(sub, cotest.Fails(errOther))
				return err
			},
		} {
			t.Run("in a "+name, func(t *testing.T) {
				err := e.Run(func(co *scheduler.Coroutine) error {
					require.NoError(t, act(co))
					return co.Delay(3600 * 1000 * ms)
				})
				assert.ErrorIs(t, err, errBoom)
				var p *event.PanicError
				assert.ErrorAs(t, err, &p)
				if name == "handler" {
					assert.ErrorIs(t, err, errOther, "what it was to handle is not lost")
				}
			})
		}
		t.Run("in a switch handler", func(t *testing.T) {
			for _, h := range []*scheduler.SwitchHandlers{
				{Enter: func(*scheduler.Coroutine) { panic(errBoom) }},
				{Leave: func(*scheduler.Coroutine) { panic(errBoom) }},
				{Finish: func(*scheduler.Coroutine) { panic(errBoom) }},
			} {
				assert.ErrorIs(t, e.Run(func(co *scheduler.Coroutine) error { return co.Delay(ms) }, withSwitch(h)), errBoom)
			}
		})
	})
}

func TestCoroutine_SwitchHandlersSeeEverySwitch(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		tell := func(what string) func(*scheduler.Coroutine) {
			return func(co *scheduler.Coroutine) {
				e.Say(what + " " + co.Name())
				assert.Nil(t, e.S.Current())
				cotest.IsUsage(t, co.Yield(), "Yield")
			}
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error { e.Say("in b"); return co.Yield() }, scheduler.Named("b"))
			require.NoError(t, e.Spawn(co, cotest.Fails(nil), scheduler.Named("never")).Cancel(nil))
			require.NoError(t, co.Yield())
			e.Say("in a")
			return nil
		}, withSwitch(&scheduler.SwitchHandlers{Enter: tell("enter"), Leave: tell("leave"), Finish: tell("finish")}))
		assert.Equal(t, []string{
			"enter main", "leave main", "enter b", "in b", "leave b", "finish never",
			"enter main", "in a", "leave main", "finish main", "enter b", "leave b", "finish b",
		}, e.Said())
	})
}
