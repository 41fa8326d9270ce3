package scope_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func finally(e *cotest.Env, s *scope.Scope, step string, err error) {
	e.T.Helper()
	require.NoError(e.T, s.OnFinally(func(self *scheduler.Coroutine, got *scope.Scope) error {
		assert.NotNil(e.T, self)
		assert.True(e.T, got.Same(s))
		assert.True(e.T, got.IsClosed())
		e.Say(step)
		return err
	}))
}

func TestScope_SCOPE22_OnceInOrderWhenClosedAndDrained(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		ends := map[string]func(s *scope.Scope) error{
			"cancel":         func(s *scope.Scope) error { return s.Cancel(errStop) },
			"cancel, hard":   func(s *scope.Scope) error { return s.AsNotSafely().Cancel(errStop) },
			"dispose":        (*scope.Scope).Dispose,
			"dispose safely": (*scope.Scope).DisposeSafely,
			"close":          (*scope.Scope).Close,
			"limit":          func(s *scope.Scope) error { return s.DisposeAfterTimeout(2 * ms) },
		}
		for name, end := range ends {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				below := scope.New(s)
				finally(e, s, "first", nil)
				finally(e, s, "second", nil)
				finally(e, below, "below", nil)
				body := func(co *scheduler.Coroutine) error {
					_ = co.Delay(4 * ms)
					e.Say("coroutine")
					return nil
				}
				quick := e.Spawn(s, cotest.Fails(nil))
				_, err := co.Await(quick)
				require.NoError(t, err)
				cotest.Yields(co, 2)
				assert.Empty(t, e.Said(), "natural completion is no end")
				e.Spawn(below, body)
				require.NoError(t, co.Yield())
				require.NoError(t, end(s))
				require.NoError(t, end(s))
				assert.Empty(t, e.Said(), name)
				for !s.Scope().Drained() {
					require.NoError(t, co.Delay(ms))
				}
				cotest.Yields(co, 2)
				assert.Equal(t, []string{"coroutine", "below", "first", "second"}, e.Said(), name)
				return nil
			})
			assert.Empty(t, e.Said(), name)
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			finally(e, s, "s", nil)
			finally(e, scope.Main(co), "main", nil)
			return nil
		})
		assert.Equal(t, []string{"s", "main"}, e.Said(), "the end of the run")
	})
}

func TestScope_SCOPE22_OnAnEndedScopeAtOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			require.NoError(t, s.Dispose())
			var selves []*scheduler.Coroutine
			h := func(self *scheduler.Coroutine, got *scope.Scope) error {
				assert.True(t, got.Same(s))
				selves = append(selves, self)
				return errBoom
			}
			assert.Equal(t, errBoom, s.OnFinally(h))
			assert.Equal(t, []*scheduler.Coroutine{co}, selves)
			e.After(ms, func() { assert.Equal(t, errBoom, s.OnFinally(h)) })
			require.NoError(t, co.Delay(2*ms))
			assert.Equal(t, []*scheduler.Coroutine{co, nil}, selves, "in a callback there is none")
			err := s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { panic("no") })
			var p *event.PanicError
			assert.ErrorAs(t, err, &p)
			assert.NoError(t, s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error { return self.Yield() }))

			// One that was disposed and is not drained: later.
			s = scope.New(co)
			e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.DisposeSafely())
			finally(e, s, "later", nil)
			assert.Empty(t, e.Said())
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"later"}, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE22_HandlersRunInTheScopeAround(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			parent := scope.New(co)
			s := scope.New(parent)
			key := "key"
			require.NoError(t, parent.Values().Set(key, 1))
			require.NoError(t, s.Values().Set(key, 2))
			require.NoError(t, s.OnFinally(func(self *scheduler.Coroutine, _ *scope.Scope) error {
				assert.Equal(t, 1, self.Value(key))
				assert.NoError(t, self.Delay(ms))
				child, err := self.Spawn(e.Sayer("child"))
				require.NoError(t, err)
				_, err = self.Await(child)
				e.Say("after " + self.Name())
				return err
			}))
			require.NoError(t, s.Close())
			require.NoError(t, parent.Dispose(), "the end of the scope around does not stop them")
			assert.False(t, parent.IsFinished())
			require.NoError(t, parent.AwaitAfterCancellation(co, nil))
			assert.Equal(t, []string{"child", "after finally of a scope"}, e.Said())
			return nil
		})
	})
}

func TestScope_SCOPE23_FailuresOfHandlers(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		third := errors.New("third")
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			var got error
			require.NoError(t, s.OnError(func(h *scope.Scope, c *scheduler.Coroutine, err error) error {
				assert.True(t, h.Same(s))
				got = err
				return nil
			}))
			finally(e, s, "1", errBoom)
			finally(e, s, "2", nil)
			require.NoError(t, s.OnFinally(func(*scheduler.Coroutine, *scope.Scope) error { panic(errOther) }))
			finally(e, s, "4", third)
			require.NoError(t, s.Close())
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"1", "2", "4"}, e.Said(), "each is called")
			var all *event.CompositeError
			require.ErrorAs(t, got, &all)
			list := all.Unwrap()
			if assert.Len(t, list, 3) {
				assert.Equal(t, errBoom, list[0])
				assert.ErrorIs(t, list[1], errOther)
				assert.Equal(t, third, list[2])
			}

			s = scope.New(co)
			require.NoError(t, s.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error { got = err; return nil }))
			finally(e, s, "alone", errBoom)
			require.NoError(t, s.Cancel(nil))
			cotest.Yields(co, 2)
			assert.Equal(t, errBoom, got)
			e.Said()

			// The one around, when the scope has none.
			parent := scope.New(co)
			handlers(e, parent, "parent", nil, nil)
			s = scope.New(parent)
			finally(e, s, "", errBoom)
			require.NoError(t, s.Cancel(nil))
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"", "parent.OnChildError: boom"}, e.Said())

			// A cancellation is no failure.
			s = scope.New(co)
			finally(e, s, "", &event.CancelledError{})
			return s.Close()
		})
		e.Said()
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			finally(e, s, "", errBoom)
			finally(e, s, "", errOther)
			require.NoError(t, s.Close())
			return co.Delay(hour)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
	})
}

func TestScope_SCOPE22_HandlersMayDoAnything(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			parent := scope.New(co)
			s := scope.New(parent)
			require.NoError(t, s.OnFinally(func(self *scheduler.Coroutine, got *scope.Scope) error {
				assert.NoError(t, got.Cancel(nil))
				assert.NoError(t, got.Dispose())
				assert.NoError(t, got.DisposeSafely())
				assert.NoError(t, got.DisposeAfterTimeout(ms))
				assert.NoError(t, got.Close())
				assert.NoError(t, got.AwaitCompletion(self))
				assert.NoError(t, got.AwaitAfterCancellation(self, nil))
				assert.NoError(t, got.OnFinally(func(in *scheduler.Coroutine, _ *scope.Scope) error {
					assert.Same(t, self, in)
					e.Say("nested")
					return nil
				}))
				_, err := got.Spawn(cotest.Fails(nil))
				cotest.IsUsage(t, err)
				cotest.IsUsage(t, scope.Of(self).AwaitCompletion(self), "itself")
				assert.NoError(t, parent.Dispose())
				return scope.Main(self).Cancel(errStop)
			}))
			require.NoError(t, s.Close())
			cotest.Yields(co, 3)
			return nil
		})
		assert.Equal(t, []string{"nested"}, e.Said())
	})
}
