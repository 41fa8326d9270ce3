package scheduler_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// cancelled spawns a coroutine, lets it begin, and cancels it while it waits; after is what it does then.
func cancelled(e *cotest.Env, co *scheduler.Coroutine, reason error, after func(co *scheduler.Coroutine, err error) error) *scheduler.Coroutine {
	child := e.Spawn(co, func(co *scheduler.Coroutine) error { return after(co, park(co, &line{})) })
	for !child.Suspended() {
		require.NoError(e.T, co.Yield())
	}
	require.NoError(e.T, child.Cancel(reason))
	return child
}

func TestCancel_CANC00_EverySuspensionPointReturnsTheSameUntilTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var done <-chan struct{}
			child := cancelled(e, co, errStop, func(co *scheduler.Coroutine, first error) error {
				cotest.IsCancelled(t, first, errStop)
				done = co.Done()
				for range 3 {
					for name, call := range suspending {
						assert.Same(t, first, call(e, co), name)
						assert.Same(t, first, co.Err())
						assert.Same(t, first, co.Enter("test"))
						assert.True(t, closed(co.Done()))
					}
				}
				assert.NoError(t, co.Cancel(errOther))
				assert.Same(t, first, co.Yield(), "the first reason stays")
				assert.Same(t, first, co.Delay(-1), "it comes before everything else")
				_, err := co.Await(nil)
				assert.Same(t, first, err)
				return first
			})
			require.NoError(t, co.Yield())
			cotest.IsCancelled(t, child.Err(), errStop)
			assert.True(t, closed(done))
			assert.True(t, closed(child.Done()))
			return nil
		})
	})
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// What never suspends does not look at the cancellation.
func TestCancel_CANC00_WhatDoesNotSuspendWorks(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			other := e.Spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
			cancelled(e, co, errStop, func(co *scheduler.Coroutine, err error) error {
				e.Spawn(co, e.Sayer("spawned"))
				assert.NoError(t, other.Unpark())
				assert.NoError(t, e.S.Check("test"))
				assert.NoError(t, e.S.Microtask(func() error { return nil }))
				assert.NoError(t, co.OnFinally(finallyFails(nil)))
				assert.NoError(t, co.Values().Set("key", 1))
				return err
			})
			return nil
		})
		assert.Equal(t, []string{"spawned"}, e.Said())
	})
}

func TestCancel_CANC00_AfterSixteenRefusalsTheNextOneYields(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, call := range suspending {
			e.Said()
			e.MustRun(func(co *scheduler.Coroutine) error {
				ticks := 0
				child := cancelled(e, co, errStop, func(co *scheduler.Coroutine, err error) error {
					before := ticks
					for i := range 17 * 3 {
						assert.Equal(t, before+i/17, ticks, "%s, refusal %d", name, i+1)
						assert.Same(t, err, call(e, co))
					}
					assert.Equal(t, before+3, ticks)
					return err
				})
				for !child.Completed() {
					ticks++
					require.NoError(t, co.Yield())
				}
				return nil
			})
		}
	})
}

func TestCancel_CANC00_ACarelessLoopFreezesNobody(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			over := false
			cancelled(e, co, errStop, func(co *scheduler.Coroutine, err error) error {
				for !over {
					_, _ = co.Await(e.Gate())
				}
				return err
			})
			require.NoError(t, e.S.Post(func() { require.NoError(t, co.Unpark()) }))
			require.NoError(t, park(co, &line{}), "the event loop turns, too")
			over = true
			return nil
		})
	})
}

// A wait in between, in a protected section, begins the count anew.
func TestCancel_CANC00_ProtectWorksInACancelledCoroutine(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, co.Values().Set("key", "value"))
			child := cancelled(e, co, errStop, func(co *scheduler.Coroutine, first error) error {
				require.NoError(t, co.Values().Set("own", 1))
				for range 3 {
					err := co.Protect(func(ctx context.Context) error {
						assert.NoError(t, ctx.Err())
						assert.False(t, closed(ctx.Done()))
						_, limited := ctx.Deadline()
						assert.False(t, limited)
						assert.Equal(t, 1, ctx.Value("own"))
						derived, cancel := context.WithCancel(ctx)
						assert.NoError(t, derived.Err())
						cancel()
						assert.NoError(t, co.Yield())
						assert.NoError(t, co.Delay(ms))
						_, err := co.Await(e.Gate(), scheduler.Timeout(ms))
						cotest.IsTimeout(t, err)
						child := e.Spawn(co, cotest.Fails(nil))
						_, err = co.Await(child)
						assert.NoError(t, err)
						return errBoom
					})
					assert.Equal(t, errBoom, err, "its own error alone: the cancellation was known")
					assert.Same(t, first, co.Yield())
					assert.Same(t, first, co.Err())
				}
				return first
			})
			_, err := co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
	})
}

func TestCancel_CANC01_AnEndedCoroutineStaysAsItIs(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			ok := e.Spawn(co, func(co *scheduler.Coroutine) error { co.SetResult(5); return nil })
			failed := e.Spawn(co, cotest.Fails(errBoom), scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) {})))
			require.NoError(t, co.Yield())
			for range 2 {
				require.NoError(t, ok.Cancel(errStop))
				require.NoError(t, failed.Cancel(errStop))
				result, err := co.Await(ok)
				assert.NoError(t, err)
				assert.Equal(t, 5, result)
				_, err = co.Await(failed)
				assert.True(t, err == errBoom, "the very same")
				assert.Equal(t, traits{started: true, completed: true}, traitsOf(ok))
				assert.Equal(t, traits{started: true, completed: true}, traitsOf(failed))
			}
			return nil
		})
	})
}

func TestCancel_CANC02_BeforeTheStart(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, e.Sayer("never"))
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
				e.Say("told")
				return nil
			})
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Cancel(errOther))
			assert.Equal(t, traits{queued: true, requested: true}, traitsOf(child))
			assert.NoError(t, child.Error())
			require.NoError(t, co.Yield())
			assert.False(t, child.Running() || child.Suspended() || child.Queued() || child.CancellationRequested())
			assert.True(t, child.Cancelled())
			cotest.IsCancelled(t, child.Error(), errStop)
			return nil
		})
		assert.Equal(t, []string{"told"}, e.Said())
	})
}

// waits are the ways to wait in which a cancellation meets a coroutine.
func waits(e *cotest.Env) map[string]func(co *scheduler.Coroutine) error {
	return map[string]func(co *scheduler.Coroutine) error{
		"Delay": func(co *scheduler.Coroutine) error { return co.Delay(hour) },
		"Park":  func(co *scheduler.Coroutine) error { return park(co, &line{}) },
		"Park with bounds": func(co *scheduler.Coroutine) error {
			return park(co, &line{}, scheduler.Timeout(hour), scheduler.Token(e.Gate()))
		},
		"Await": func(co *scheduler.Coroutine) error {
			result, err := co.Await(e.Gate())
			assert.Nil(e.T, result)
			return err
		},
		"Await of a timer": func(co *scheduler.Coroutine) error {
			_, err := co.Await(e.Timer(hour))
			return err
		},
		"Await of a trigger": func(co *scheduler.Coroutine) error {
			_, err := co.Await(e.Trigger())
			return err
		},
		"Await with bounds": func(co *scheduler.Coroutine) error {
			_, err := co.Await(e.Gate(), scheduler.Timeout(hour), scheduler.Token(e.Timer(hour)))
			return err
		},
		"AwaitFirst": func(co *scheduler.Coroutine) error {
			fired, result, err := co.AwaitFirst([]event.Event{e.Gate(), e.Timer(hour), e.Gate(), e.Trigger()})
			assert.Equal(e.T, -1, fired)
			assert.Nil(e.T, result)
			return err
		},
		"WithTimeout": func(co *scheduler.Coroutine) error {
			return co.WithTimeout(hour, func(co *scheduler.Coroutine) error { return co.Delay(2 * hour) })
		},
		"WithCancel": func(co *scheduler.Coroutine) error {
			return co.WithCancel(func(co *scheduler.Coroutine, _ func(error)) error { return park(co, &line{}) })
		},
		"Yield": func(co *scheduler.Coroutine) error { return co.Yield() },
	}
}

func TestCancel_CANC03_AParkedOne(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, wait := range waits(e) {
			for _, reason := range []error{errStop, nil} {
				e.MustRun(func(co *scheduler.Coroutine) error {
					var got error
					child := e.Spawn(co, func(co *scheduler.Coroutine) error { got = wait(co); return got })
					require.NoError(t, co.Yield())
					require.True(t, child.Suspended(), name)
					require.NoError(t, child.Cancel(reason))
					assert.Equal(t, traits{started: true, suspended: true, queued: true, requested: true}, traitsOf(child), name) // CANC-04
					require.NoError(t, co.Yield())
					cotest.IsCancelled(t, got, reason)
					assert.NotEmpty(t, got.Error())
					assert.Equal(t, traits{started: true, completed: true, cancelled: true}, traitsOf(child), name)
					assert.Zero(t, e.W.Live(), "%s left something started", name)
					return nil
				})
			}
		}
	})
}

func TestCancel_CANC04_RequestedAtOnceCancelledAtTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := cancelled(e, co, errStop, func(co *scheduler.Coroutine, err error) error {
				_ = co.Protect(func(context.Context) error { return co.Delay(ms) })
				return err
			})
			for !child.Completed() {
				assert.True(t, child.CancellationRequested())
				assert.False(t, child.Cancelled())
				require.NoError(t, co.Delay(ms))
			}
			assert.True(t, child.Cancelled())
			assert.False(t, child.CancellationRequested())
			return nil
		})
	})
}

func TestCancel_CANC05_OneThatIgnoresItReturnsItsValue(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := cancelled(e, co, errStop, func(co *scheduler.Coroutine, err error) error {
				cotest.IsCancelled(t, err, errStop)
				co.SetResult("value")
				return nil
			})
			result, err := co.Await(child)
			assert.NoError(t, err)
			assert.Equal(t, "value", result)
			assert.True(t, child.Cancelled())
			return nil
		})
	})
}
