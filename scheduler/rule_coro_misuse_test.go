package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// suspending are the calls that may suspend, by the name that their errors give them.
var suspending = map[string]func(e *env, co *scheduler.Coroutine) error{
	"Yield":   func(_ *env, co *scheduler.Coroutine) error { return co.Yield() },
	"Delay":   func(_ *env, co *scheduler.Coroutine) error { return co.Delay(ms) },
	"Delay 0": func(_ *env, co *scheduler.Coroutine) error { return co.Delay(0) },
	"Await": func(e *env, co *scheduler.Coroutine) error {
		_, err := co.Await(e.gate())
		return err
	},
	"Await of what is done": func(e *env, co *scheduler.Coroutine) error {
		o := e.outcome()
		o.complete(1, nil)
		_, err := co.Await(o)
		return err
	},
	"AwaitFirst": func(e *env, co *scheduler.Coroutine) error {
		_, _, err := co.AwaitFirst([]event.Event{e.gate()})
		return err
	},
	"Park": func(_ *env, co *scheduler.Coroutine) error { return park(co, &line{}) },
	"WithTimeout": func(e *env, co *scheduler.Coroutine) error {
		return co.WithTimeout(ms, func(*scheduler.Coroutine) error { e.t.Error("it ran"); return nil })
	},
	"WithDeadline": func(e *env, co *scheduler.Coroutine) error {
		return co.WithDeadline(time.Now().Add(hour), func(*scheduler.Coroutine) error { e.t.Error("it ran"); return nil })
	},
	"WithCancel": func(e *env, co *scheduler.Coroutine) error {
		return co.WithCancel(func(*scheduler.Coroutine, func(error)) error { e.t.Error("it ran"); return nil })
	},
}

// misuses is suspending, and what is for the coroutine itself without being a suspension point.
func misuses() map[string]func(e *env, co *scheduler.Coroutine) error {
	all := map[string]func(e *env, co *scheduler.Coroutine) error{
		"Protect": func(e *env, co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error { e.t.Error("it ran"); return nil })
		},
		"Park alone": func(_ *env, co *scheduler.Coroutine) error { return co.Park("test: Park", &line{}) },
	}
	for name, call := range suspending {
		all[name] = call
	}
	return all
}

// refusedAll checks that every suspending call of co is a UsageError with the words.
func (e *env) refusedAll(co *scheduler.Coroutine, words ...string) {
	for name, call := range misuses() {
		err := call(e, co)
		if !assert.ErrorIs(e.t, err, event.ErrUsage, name) {
			continue
		}
		word, _, _ := strings.Cut(name, " ")
		isUsage(e.t, err, append(words, word)...)
	}
}

func TestCoroutine_CORO29_CallbacksCannotSuspend(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			check := func(where string) func() {
				return func() {
					e.say(where)
					for name, call := range misuses() {
						err := call(e, co)
						isUsage(t, err, "callback")
						assert.ErrorIs(t, err, event.ErrUsage, "%s in %s", name, where)
					}
				}
			}
			e.after(ms, check("deadline"))
			require.NoError(t, e.s.Post(check("posted")))
			require.NoError(t, e.s.Microtask(func() error { check("microtask")(); return nil }))
			g := e.gate()
			_, err := g.Subscribe(func(*event.Base, *event.Callback, any, error) { check("event")() })
			require.NoError(t, err)
			e.after(2*ms, func() { g.open(nil, nil) })
			sub, err := co.Scope().New()
			require.NoError(t, err)
			sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { check("handler")(); return nil })
			e.spawn(sub, returns(errBoom))
			e.spawn(co, returns(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { check("settler")() })))
			return co.Delay(5 * ms)
		})
		assert.ElementsMatch(t, []string{"deadline", "posted", "microtask", "event", "handler", "settler"}, e.said())
	})
}

func TestCoroutine_CORO29_OnlyParkedOnesCanBeWoken(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			refused := func(who *scheduler.Coroutine) {
				t.Helper()
				before := e.s.Stats().Ready
				isUsage(t, who.Unpark(), "Unpark")
				isUsage(t, who.UnparkWith(errBoom), "Unpark")
				assert.Equal(t, before, e.s.Stats().Ready)
			}
			refused(co)
			assert.Error(t, (*scheduler.Coroutine)(nil).Unpark())
			l := &line{}
			child := e.spawn(co, func(self *scheduler.Coroutine) error {
				require.NoError(t, self.Yield())
				require.NoError(t, self.Delay(ms))
				_, err := self.Await(e.gate(), scheduler.Timeout(ms))
				isTimeout(t, err)
				e.say("parks")
				return park(self, l)
			})
			refused(child) // queued
			require.NoError(t, co.Yield())
			refused(child) // in Yield
			require.NoError(t, co.Yield())
			refused(child) // in Delay
			for len(e.steps) == 0 {
				require.NoError(t, co.Delay(ms))
				if len(e.steps) == 0 {
					refused(child) // in Delay or Await
				}
			}
			require.NoError(t, child.Unpark())
			refused(child) // woken
			require.NoError(t, co.Yield())
			require.True(t, child.Completed())
			refused(child)
			assert.Empty(t, l.left)
			return nil
		})
		assert.Equal(t, []string{"parks"}, e.said())
	})
}

func TestCoroutine_CORO30_WrongCoroutines(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var main *scheduler.Coroutine
		e.mustRun(func(co *scheduler.Coroutine) error {
			main = co
			e.refusedAll(nil, "nil")
			e.refusedAll(&scheduler.Coroutine{}, "not made")
			ended := e.spawn(co, returns(nil), scheduler.Named("alpha"))
			e.refusedAll(ended, "another body", "alpha") // not begun
			require.NoError(t, co.Yield())
			e.refusedAll(ended, "alpha")
			suspended := e.spawn(co, func(self *scheduler.Coroutine) error {
				e.refusedAll(main, "another body", main.Name())
				return self.Delay(ms)
			}, scheduler.Named("beta"))
			require.NoError(t, co.Yield())
			e.refusedAll(suspended, "another body", "beta")
			assert.True(t, suspended.Suspended())
			assert.Zero(t, e.s.Stats().Ready)
			return nil
		}, withName("one"))
		e.refusedAll(main, "one", "not running")
		isUsage(t, main.Cancel(nil), "Cancel", "not running")
	})
}

func TestCoroutine_AwaitRefusesWhatIsNoEvent(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(nil)
			assert.ErrorIs(t, err, event.ErrInvalidArgument)
			_, err = co.Await(co)
			isUsage(t, err, "itself")
			for _, evs := range [][]event.Event{nil, {}, {e.gate(), nil}} {
				fired, _, err := co.AwaitFirst(evs)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				assert.Equal(t, -1, fired)
			}
			_, err = co.Await(&event.Reference{})
			isUsage(t, err, "Await")
			assert.ErrorIs(t, co.Delay(-1), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithTimeout(0, func(*scheduler.Coroutine) error { return nil }), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithTimeout(ms, nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithDeadline(e.w.Now(), nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithCancel(nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.Protect(nil), event.ErrInvalidArgument)
			return nil
		})
	})
}

func TestCoroutine_REACT08_TimeoutsMustBePositive(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			o := e.outcome()
			o.complete(1, nil)
			for _, opt := range []scheduler.WaitOption{scheduler.Timeout(0), scheduler.Timeout(-ms), scheduler.Token(nil), {}} {
				_, err := co.Await(e.gate(), opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				_, err = co.Await(o, opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument, "also when it needs no wait")
				_, _, err = co.AwaitFirst([]event.Event{e.gate()}, scheduler.Timeout(ms), opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				l := &line{}
				assert.ErrorIs(t, park(co, l, opt), event.ErrInvalidArgument)
				assert.Len(t, l.left, 1)
			}
			return nil
		})
	})
}
