package scope_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

func TestScope_EVT07_EVT19_AFinishedOneReplays(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			states := map[string]func() *scope.Scope{
				"empty":    func() *scope.Scope { return scope.New(co) },
				"disposed": func() *scope.Scope { s := scope.New(co); require.NoError(t, s.Dispose()); return s },
				"made in a closed one": func() *scope.Scope {
					s := scope.New(co)
					require.NoError(t, s.Close())
					return scope.New(s)
				},
				"used": func() *scope.Scope {
					s := scope.New(co)
					e.Spawn(s, cotest.Fails(nil))
					require.NoError(t, co.Yield())
					return s
				},
				"zombies only": func() *scope.Scope {
					s := scope.New(co)
					e.Spawn(s, cotest.Sleeper(ms))
					require.NoError(t, co.Yield())
					require.NoError(t, s.Cancel(errStop))
					return s
				},
			}
			for name, build := range states {
				s := build()
				calls := 0
				_, err := s.AsEvent().Subscribe(func(b *event.Base, _ *event.Callback, result any, err error) {
					calls++
					assert.Same(t, s.AsEvent(), b)
					assert.Nil(t, result)
					assert.NoError(t, err, "never the failure of a coroutine, nor its cancellation")
				})
				require.NoError(t, err)
				assert.Equal(t, 1, calls, name+": synchronously")
				result, err := co.Await(s)
				assert.Nil(t, result)
				assert.NoError(t, err, name)
				fired, _, err := co.AwaitFirst([]event.Event{e.Gate(), s})
				assert.NoError(t, err, name)
				assert.Equal(t, 1, fired)
			}
			return nil
		})
	})
}

func TestScope_EVT07_OneThatIsBusyDoesNot(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, g := scope.New(co), e.Gate()
			calls := 0
			e.Spawn(scope.New(s), cotest.Waiter(g))
			cb, err := s.AsEvent().Subscribe(func(*event.Base, *event.Callback, any, error) { calls++ })
			require.NoError(t, err)
			require.NoError(t, co.Yield())
			assert.Zero(t, calls)
			g.Open(nil, nil)
			require.NoError(t, co.Yield())
			assert.Equal(t, 1, calls)
			e.Spawn(s, cotest.Waiter(g)) // it is for the time being
			require.NoError(t, co.Yield())
			_, err = co.Await(s, scheduler.Timeout(ms))
			cotest.IsTimeout(t, err)
			require.NoError(t, s.Cancel(nil))
			assert.Equal(t, 2, calls, "the last became a zombie: at once")
			g.Open(nil, nil)
			require.NoError(t, co.Yield())
			assert.Equal(t, 2, calls)
			assert.True(t, s.AsEvent().DelCallback(cb))
			return nil
		})
	})
}

func TestScope_EVT11_WithOthersInAwaitFirst(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			slow, quick := scope.New(co), scope.New(co)
			e.Spawn(slow, cotest.Sleeper(20*ms))
			e.Spawn(scope.New(quick), cotest.Sleeper(5*ms))
			timer, err := e.W.NewTimer(10 * ms)
			require.NoError(t, err)
			fired, result, err := co.AwaitFirst([]event.Event{slow, timer, quick})
			require.NoError(t, err)
			assert.Equal(t, 2, fired)
			assert.Nil(t, result)
			assert.Zero(t, slow.AsEvent().Callbacks(), "the others are let go")
			assert.Zero(t, quick.AsEvent().Callbacks())

			fired, _, err = co.AwaitFirst([]event.Event{slow, timer})
			require.NoError(t, err)
			assert.Equal(t, 1, fired)
			c := e.Spawn(co, cotest.Fails(errBoom))
			fired, _, err = co.AwaitFirst([]event.Event{slow, c})
			assert.Equal(t, errBoom, err)
			assert.Equal(t, 1, fired)
			_, err = co.Await(slow)
			require.NoError(t, err)
			assert.Equal(t, 20*ms, co.Scheduler().Reactor().Elapsed())
			return timer.Close()
		})
	})
}

func TestScope_AWAIT_InTheCombinators(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			at := func() int { return int(co.Scheduler().Reactor().Elapsed() / ms) }
			build := func(life int) *scope.Scope {
				s := scope.New(co)
				e.Spawn(s, cotest.Sleeper(ms))
				e.Spawn(scope.New(s), func(co *scheduler.Coroutine) error {
					for range life {
						if err := co.Delay(ms); err != nil {
							return err
						}
					}
					return nil
				})
				return s
			}
			a, b, finished := build(10), build(20), scope.New(co)
			timer, err := e.W.NewTimer(15 * ms)
			require.NoError(t, err)
			require.NoError(t, timer.Start())
			result, err := future.AwaitAnyOrFail(co, future.Events(b, a, timer))
			require.NoError(t, err)
			assert.Nil(t, result)
			assert.Equal(t, 10, at())
			values, errs, err := future.AwaitAll(co, future.Events(a, b, timer, finished))
			require.NoError(t, err)
			assert.Equal(t, 20, at())
			assert.Equal(t, 4, values.Len())
			assert.Zero(t, errs.Len())

			a, b = build(5), build(10)
			values2, err := future.AwaitAllOrFail(co, future.EventMap(map[string]event.Event{"a": a, "b": b}))
			require.NoError(t, err)
			assert.Equal(t, 30, at())
			assert.Equal(t, 2, values2.Len())

			a, b = build(5), build(10)
			_, ok, _, err := future.AwaitFirstSuccess(co, future.Events(b, a))
			require.NoError(t, err)
			assert.True(t, ok)
			assert.Equal(t, 35, at())
			some, _, err := future.AwaitAnyOf(co, 1, future.Events(b, a))
			require.NoError(t, err)
			assert.GreaterOrEqual(t, some.Len(), 1)
			assert.Equal(t, 35, at())
			some, err = future.AwaitAnyOfOrFail(co, 2, future.Events(b, a))
			require.NoError(t, err)
			assert.Equal(t, 2, some.Len())
			assert.Equal(t, 40, at())

			f := future.FromEvent(co, build(5))
			_, err = f.Await(co)
			require.NoError(t, err)
			assert.Equal(t, 45, at())
			return timer.Close()
		})
	})
}

func TestScope_CANC23_AsAToken(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s, never := scope.New(co), e.Gate()
			c := e.Spawn(s, cotest.Sleeper(5*ms))
			token := scheduler.Token(s)
			_, err := co.Await(never, token)
			cotest.IsTokens(t, err, nil)
			assert.True(t, c.Completed())
			_, err = co.Await(never, token)
			cotest.IsTokens(t, err, nil) // CANC-24
			e.Spawn(s, cotest.Sleeper(5*ms))
			other := scope.New(co)
			e.Spawn(other, cotest.Sleeper(2*ms))
			require.NoError(t, other.AwaitCompletion(co, token))
			e.Spawn(other, cotest.Sleeper(20*ms))
			cotest.IsTokens(t, other.AwaitCompletion(co, token), nil)
			assert.Equal(t, 10*ms, co.Scheduler().Reactor().Elapsed())
			e.Spawn(s, cotest.Sleeper(5*ms))
			_, err = co.Await(s, token) // AWAIT-04
			require.NoError(t, err)
			assert.Equal(t, 15*ms, co.Scheduler().Reactor().Elapsed())
			_, _, err = future.AwaitAll(co, future.Events(never), token)
			cotest.IsTokens(t, err, nil)
			return other.Dispose()
		})
	})
}

// SCOPE-12, whatever the wait is called: a coroutine that waits for a scope that it belongs to is refused at once.
func TestScope_SCOPE12_TheSelfWaitIsRefusedInEveryWait(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		waits := map[string]func(co *scheduler.Coroutine, s *scope.Scope) error{
			"Await": func(co *scheduler.Coroutine, s *scope.Scope) error { _, err := co.Await(s); return err },
			"AwaitFirst": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, err := co.AwaitFirst([]event.Event{e.Gate(), s})
				return err
			},
			"Token": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, err := co.Await(e.Gate(), scheduler.Token(s))
				return err
			},
			"AwaitAll": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, err := future.AwaitAll(co, future.Events(e.Gate(), s))
				return err
			},
			"AwaitAllOrFail": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, err := future.AwaitAllOrFail(co, future.Events(e.Gate(), s))
				return err
			},
			"AwaitAnyOrFail": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, err := future.AwaitAnyOrFail(co, future.Events(e.Gate(), s))
				return err
			},
			"AwaitFirstSuccess": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, _, err := future.AwaitFirstSuccess(co, future.Events(e.Gate(), s))
				return err
			},
			"AwaitAnyOf": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, err := future.AwaitAnyOf(co, 1, future.Events(e.Gate(), s))
				return err
			},
			"AwaitAnyOfOrFail": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, err := future.AwaitAnyOfOrFail(co, 1, future.Events(e.Gate(), s))
				return err
			},
			"a map of events": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, err := future.AwaitAll(co, future.EventMap(map[string]event.Event{"s": s}))
				return err
			},
			"a sequence of events": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, err := future.AwaitAll(co, future.EventSeq(slices.Values([]event.Event{e.Gate(), s})))
				return err
			},
			"a combinator's token": func(co *scheduler.Coroutine, s *scope.Scope) error {
				_, _, err := future.AwaitAll(co, future.Events(e.Gate()), scheduler.Token(s))
				return err
			},
			"AwaitCompletion":        func(co *scheduler.Coroutine, s *scope.Scope) error { return s.AwaitCompletion(co) },
			"AwaitAfterCancellation": func(co *scheduler.Coroutine, s *scope.Scope) error { return s.AwaitAfterCancellation(co, nil) },
			"another scope's token": func(co *scheduler.Coroutine, s *scope.Scope) error {
				other := scope.New(scope.Main(co))
				e.Spawn(other, cotest.Fails(nil))
				return other.AwaitCompletion(co, scheduler.Token(s))
			},
		}
		for name, wait := range waits {
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				below := scope.New(s)
				for who, in := range map[string]*scope.Scope{"own": s, "below": below} {
					c := e.Spawn(in, func(co *scheduler.Coroutine) error {
						cotest.IsUsage(t, wait(co, s), "itself")
						assert.NoError(t, co.Err())
						return nil
					})
					_, err := co.Await(c)
					require.NoError(t, err, name+", "+who)
				}
				// A zombie, too: it waits for nobody but itself.
				z := e.Spawn(s, func(co *scheduler.Coroutine) error {
					_ = co.Delay(ms)
					cotest.IsUsage(t, wait(co, s), "itself")
					return nil
				})
				require.NoError(t, co.Yield())
				require.NoError(t, s.DisposeSafely())
				_, err := co.Await(z)
				require.NoError(t, err)
				cotest.IsUsage(t, wait(co, scope.Main(co)), "itself")
				return nil
			})
		}
	})
}

func TestScope_EVT16_Info(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			assert.Equal(t, "scope: 0 active", s.Info())
			assert.Equal(t, s.Info(), s.AsEvent().Info())
			e.Spawn(s, cotest.Sleeper(ms))
			e.Spawn(s, cotest.Sleeper(ms))
			assert.Equal(t, "scope: 2 active", s.Info())
			w := e.Spawn(co, func(co *scheduler.Coroutine) error { return s.AwaitCompletion(co) })
			require.NoError(t, co.Yield())
			assert.Contains(t, w.WaitsFor(), "scope: 2 active")
			require.NoError(t, s.DisposeSafely())
			assert.Equal(t, "scope: 0 active, 2 zombies, closed", s.Info())
			w2 := e.Spawn(co, func(co *scheduler.Coroutine) error { return s.AwaitAfterCancellation(co, nil) })
			require.NoError(t, co.Yield())
			assert.Contains(t, w2.WaitsFor(), "2 zombies")
			require.NoError(t, s.Dispose())
			assert.Equal(t, "scope: 0 active, 2 zombies, cancelled", s.Info())
			_, err := co.Await(w2)
			return err
		})
		var nobody *scope.Scope
		assert.Nil(t, nobody.AsEvent())
		assert.Zero(t, nobody.Flags())
		assert.NotEmpty(t, nobody.Info())
	})
}

// A coroutine that waits for the scope in several ways, and is told once (EVT-12).
func TestScope_EVT12_OnceHoweverManyTell(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			a, b, g := scope.New(co), scope.New(co), e.Gate()
			e.Spawn(a, cotest.Waiter(g))
			e.Spawn(b, cotest.Waiter(g))
			w := e.Spawn(co, func(co *scheduler.Coroutine) error {
				fired, _, err := co.AwaitFirst([]event.Event{a, b, a})
				require.NoError(t, err)
				assert.Contains(t, []int{0, 1}, fired)
				e.Say("woken")
				return nil
			})
			require.NoError(t, co.Yield())
			g.Open(nil, nil)
			_, err := co.Await(w)
			require.NoError(t, err)
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"woken"}, e.Said())
			return nil
		})
	})
}
