package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// suspending are the calls that may suspend, by the name that their errors give them.
var suspending = map[string]func(e *cotest.Env, co *scheduler.Coroutine) error{
	"Yield":   func(_ *cotest.Env, co *scheduler.Coroutine) error { return co.Yield() },
	"Delay":   func(_ *cotest.Env, co *scheduler.Coroutine) error { return co.Delay(ms) },
	"Delay 0": func(_ *cotest.Env, co *scheduler.Coroutine) error { return co.Delay(0) },
	"Await": func(e *cotest.Env, co *scheduler.Coroutine) error {
		_, err := co.Await(e.Gate())
		return err
	},
	"Await of what is done": func(e *cotest.Env, co *scheduler.Coroutine) error {
		o := newOutcome()
		o.complete(1, nil)
		_, err := co.Await(o)
		return err
	},
	"AwaitFirst": func(e *cotest.Env, co *scheduler.Coroutine) error {
		_, _, err := co.AwaitFirst([]event.Event{e.Gate()})
		return err
	},
	"Park": func(_ *cotest.Env, co *scheduler.Coroutine) error { return park(co, &line{}) },
	"WithTimeout": func(e *cotest.Env, co *scheduler.Coroutine) error {
		return co.WithTimeout(ms, func(*scheduler.Coroutine) error { e.T.Error("it ran"); return nil })
	},
	"WithDeadline": func(e *cotest.Env, co *scheduler.Coroutine) error {
		return co.WithDeadline(time.Now().Add(hour), func(*scheduler.Coroutine) error { e.T.Error("it ran"); return nil })
	},
	"WithCancel": func(e *cotest.Env, co *scheduler.Coroutine) error {
		return co.WithCancel(func(*scheduler.Coroutine, func(error)) error { e.T.Error("it ran"); return nil })
	},
}

// misuses is suspending, and what is for the coroutine itself without being a suspension point.
func misuses() map[string]func(e *cotest.Env, co *scheduler.Coroutine) error {
	all := map[string]func(e *cotest.Env, co *scheduler.Coroutine) error{
		"Protect": func(e *cotest.Env, co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error { e.T.Error("it ran"); return nil })
		},
		"Park alone": func(_ *cotest.Env, co *scheduler.Coroutine) error { return co.Park("test: Park", &line{}) },
	}
	for name, call := range suspending {
		all[name] = call
	}
	return all
}

// refusedAll checks that every suspending call of co is a UsageError with the words.
func refusedAll(e *cotest.Env, co *scheduler.Coroutine, words ...string) {
	for name, call := range misuses() {
		err := call(e, co)
		if !assert.ErrorIs(e.T, err, event.ErrUsage, name) {
			continue
		}
		word, _, _ := strings.Cut(name, " ")
		cotest.IsUsage(e.T, err, append(words, word)...)
	}
}

func TestCoroutine_CORO29_CallbacksCannotSuspend(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			check := func(where string) func() {
				return func() {
					e.Say(where)
					for name, call := range misuses() {
						err := call(e, co)
						cotest.IsUsage(t, err, "callback")
						assert.ErrorIs(t, err, event.ErrUsage, "%s in %s", name, where)
					}
				}
			}
			e.After(ms, check("deadline"))
			require.NoError(t, e.S.Post(check("posted")))
			require.NoError(t, e.S.Microtask(func() error { check("microtask")(); return nil }))
			g := e.Gate()
			_, err := g.Subscribe(func(*event.Base, *event.Callback, any, error) { check("event")() })
			require.NoError(t, err)
			e.After(2*ms, func() { g.Open(nil, nil) })
			sub, err := co.Scope().New()
			require.NoError(t, err)
			sub.OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { check("handler")(); return nil })
			e.Spawn(sub, cotest.Fails(errBoom))
			e.Spawn(co, cotest.Fails(nil), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) { check("settler")() })))
			return co.Delay(5 * ms)
		})
		assert.ElementsMatch(t, []string{"deadline", "posted", "microtask", "event", "handler", "settler"}, e.Said())
	})
}

func TestCoroutine_CORO29_OnlyParkedOnesCanBeWoken(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			refused := func(who *scheduler.Coroutine) {
				t.Helper()
				before := e.S.Stats().Ready
				cotest.IsUsage(t, who.Unpark(), "Unpark")
				cotest.IsUsage(t, who.UnparkWith(errBoom), "Unpark")
				assert.Equal(t, before, e.S.Stats().Ready)
			}
			refused(co)
			assert.Error(t, (*scheduler.Coroutine)(nil).Unpark())
			l := &line{}
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				require.NoError(t, self.Yield())
				require.NoError(t, self.Delay(ms))
				_, err := self.Await(e.Gate(), scheduler.Timeout(ms))
				cotest.IsTimeout(t, err)
				e.Say("parks")
				return park(self, l)
			})
			refused(child) // queued
			require.NoError(t, co.Yield())
			refused(child) // in Yield
			require.NoError(t, co.Yield())
			refused(child) // in Delay
			for e.Steps() == 0 {
				require.NoError(t, co.Delay(ms))
				if e.Steps() == 0 {
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
		assert.Equal(t, []string{"parks"}, e.Said())
	})
}

func TestCoroutine_CORO30_WrongCoroutines(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var main *scheduler.Coroutine
		e.MustRun(func(co *scheduler.Coroutine) error {
			main = co
			refusedAll(e, nil, "nil")
			refusedAll(e, &scheduler.Coroutine{}, "not made")
			ended := e.Spawn(co, cotest.Fails(nil), scheduler.Named("alpha"))
			refusedAll(e, ended, "another body", "alpha") // not begun
			require.NoError(t, co.Yield())
			refusedAll(e, ended, "alpha")
			suspended := e.Spawn(co, func(self *scheduler.Coroutine) error {
				refusedAll(e, main, "another body", main.Name())
				return self.Delay(ms)
			}, scheduler.Named("beta"))
			require.NoError(t, co.Yield())
			refusedAll(e, suspended, "another body", "beta")
			assert.True(t, suspended.Suspended())
			assert.Zero(t, e.S.Stats().Ready)
			return nil
		}, cotest.WithName("one"))
		refusedAll(e, main, "one", "not running")
		cotest.IsUsage(t, main.Cancel(nil), "Cancel", "not running")
	})
}

func TestCoroutine_AwaitRefusesWhatIsNoEvent(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(nil)
			assert.ErrorIs(t, err, event.ErrInvalidArgument)
			_, err = co.Await(co)
			cotest.IsUsage(t, err, "itself")
			for _, evs := range [][]event.Event{nil, {}, {e.Gate(), nil}} {
				fired, _, err := co.AwaitFirst(evs)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				assert.Equal(t, -1, fired)
			}
			_, err = co.Await(&event.Reference{})
			cotest.IsUsage(t, err, "Await")
			assert.ErrorIs(t, co.Delay(-1), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithTimeout(0, func(*scheduler.Coroutine) error { return nil }), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithTimeout(ms, nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithDeadline(e.W.Now(), nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithCancel(nil), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.Protect(nil), event.ErrInvalidArgument)
			return nil
		})
	})
}

func TestCoroutine_REACT08_TimeoutsMustBePositive(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			o := newOutcome()
			o.complete(1, nil)
			for _, opt := range []scheduler.WaitOption{scheduler.Timeout(0), scheduler.Timeout(-ms), scheduler.Token(nil), {}} {
				_, err := co.Await(e.Gate(), opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				_, err = co.Await(o, opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument, "also when it needs no wait")
				_, _, err = co.AwaitFirst([]event.Event{e.Gate()}, scheduler.Timeout(ms), opt)
				assert.ErrorIs(t, err, event.ErrInvalidArgument)
				l := &line{}
				assert.ErrorIs(t, park(co, l, opt), event.ErrInvalidArgument)
				assert.Len(t, l.left, 1)
			}
			return nil
		})
	})
}
