package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCoroutine_CORO01_BodiesStartAfterSpawnInTheOrderOfTheSpawns(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("a"))
			e.Spawn(co, e.Sayer("b"), scheduler.Named("b"))
			e.Spawn(co.Scope(), e.Sayer("c"), scheduler.Hidden())
			e.Say("spawned")
			assert.NoError(t, co.Yield())
			assert.Equal(t, []string{"spawned", "a", "b", "c"}, e.Said())
			e.After(ms, func() {
				e.Spawn(co, e.Sayer("d"))
				e.Spawn(co, e.Sayer("e"))
				e.Say("callback")
			})
			return co.Delay(5 * ms)
		})
		assert.Equal(t, []string{"callback", "d", "e"}, e.Said())
	})
}

func TestCoroutine_CORO02_YieldGoesToTheTail(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, name := range []string{"a", "b", "c"} {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					for i := range 4 {
						e.Say(fmt.Sprint(name, i))
						assert.NoError(t, co.Yield())
					}
					return nil
				})
			}
			return nil
		})
		assert.Equal(t, []string{"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"}, e.Said())
	})
}

func TestCoroutine_REACT04_DelayOfNothingIsAYield(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, e.Sayer("other"))
			assert.NoError(t, co.Delay(0))
			e.Say("after")
			assert.Zero(t, e.W.Live(), "no timer")
			return nil
		})
		assert.Equal(t, []string{"other", "after"}, e.Said())
	})
}

func TestCoroutine_CORO03_YieldWithNobodyReadyReturnsAtOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		left := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			turns := e.S.Stats().Turns
			for range 10 {
				assert.NoError(t, co.Yield())
				assert.NoError(t, co.Delay(0))
			}
			assert.Zero(t, left, "it was never suspended")
			assert.Equal(t, turns, e.S.Stats().Turns)
			return nil
		}, withSwitch(&scheduler.SwitchHandlers{Leave: func(*scheduler.Coroutine) { left++ }}))
		assert.Equal(t, 1, left)
	})
}

func TestCoroutine_CORO04_ChildJoinsTheSpawnersScopeBehindTheQueue(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			e.Spawn(sub, func(co *scheduler.Coroutine) error {
				child := e.Spawn(co, func(co *scheduler.Coroutine) error {
					assert.Same(t, sub, co.Scope())
					grandchild := e.Spawn(co, e.Sayer("grandchild"))
					assert.Same(t, sub, grandchild.Scope())
					e.Say("child")
					return nil
				})
				assert.Same(t, sub, child.Scope())
				e.Say("spawner")
				return nil
			})
			e.Spawn(co, e.Sayer("queued before"))
			return nil
		})
		assert.Equal(t, []string{"spawner", "queued before", "child", "grandchild"}, e.Said())
	})
}

func TestCoroutine_CORO05_RunWaitsForThoseThatRemain(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				if err := co.Delay(5 * ms); err != nil {
					return err
				}
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					defer e.Say("last")
					return co.Delay(2 * ms)
				})
				e.Say("second")
				return nil
			})
			e.Say("main")
			return nil
		})
		assert.Equal(t, []string{"main", "second", "last"}, e.Said())
	})
}

// It does not wait for the helpers: they are cancelled when the last active coroutine has ended.
func TestCoroutine_CORO05_RunDoesNotWaitForHiddenOnes(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				e.Say("helper")
				err := co.Delay(time.Hour)
				cotest.IsCancelled(t, err, scheduler.ErrRunOver)
				e.Say("cancelled")
				return err
			}, scheduler.Hidden())
			return co.Delay(ms)
		})
		assert.Equal(t, []string{"helper", "cancelled"}, e.Said())
	})
}

func TestCoroutine_CORO12_AThousandSleepers(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		done := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 1000 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					begin := e.W.Now()
					assert.NoError(t, co.Delay(ms))
					assert.GreaterOrEqual(t, e.W.Now().Sub(begin), ms)
					done++
					return nil
				})
			}
			assert.NoError(t, co.Yield())
			assert.Equal(t, 1001, e.S.Stats().Total)
			return nil
		})
		assert.Equal(t, 1000, done)
	})
}

// dig suspends at every tenth level of a deep stack, on the way down and up.
func dig(co *scheduler.Coroutine, depth int) (sum int, err error) {
	var room [16]int
	for i := range room {
		room[i] = depth
	}
	if depth%10 == 0 {
		if err := co.Yield(); err != nil {
			return 0, err
		}
	}
	if depth > 0 {
		if sum, err = dig(co, depth-1); err != nil {
			return 0, err
		}
	}
	if depth%100 == 0 {
		if err := co.Delay(ms / 2); err != nil {
			return 0, err
		}
	}
	return sum + room[depth%16], nil
}

func TestCoroutine_CORO12_DeepStacksSuspendAtAnyDepth(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		const depth = 2000
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 4 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					sum, err := dig(co, depth)
					assert.Equal(t, depth*(depth+1)/2, sum)
					return err
				})
			}
			return nil
		})
	})
}

func TestCoroutine_CORO12_ContextsAreUsedAgain(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 50 {
				for range 20 {
					e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
				}
				cotest.Yields(co, 3)
			}
			assert.LessOrEqual(t, e.S.Stats().Contexts, 50)
			assert.EqualValues(t, 1001, e.S.Stats().Spawned)
			return nil
		})
	})
}

func TestCoroutine_CORO32_MicrotaskThatFailsLeavesTheOthersInTheQueue(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			for _, task := range []struct {
				name string
				err  error
			}{{"first", nil}, {"second", errBoom}, {"third", nil}, {"fourth", errOther}, {"fifth", nil}} {
				require.NoError(t, e.S.Microtask(func() error { e.Say(task.name); return task.err }))
			}
			e.Say("queued")
			err := co.Yield()
			e.Say("main goes on")
			return err
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
		steps := slices.DeleteFunc(e.Said(), func(step string) bool { return step == "main goes on" })
		assert.Equal(t, []string{"queued", "first", "second", "third", "fourth", "fifth"}, steps)
	})
}

func TestCoroutine_CORO32_MicrotasksRunBeforeTheNextCoroutine(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				e.Say("child")
				require.NoError(t, e.S.Microtask(func() error { e.Say("micro of child"); return nil }))
				require.NoError(t, e.S.Microtask(func() error { e.Say("its second"); return nil }))
				return nil
			})
			e.Spawn(co, e.Sayer("second child"))
			require.NoError(t, e.S.Microtask(func() error { e.Say("micro"); return nil }))
			return co.Yield()
		})
		assert.Equal(t, []string{"micro", "child", "micro of child", "its second", "second child"}, e.Said())
		cotest.IsUsage(t, e.S.Microtask(func() error { return nil }), "Microtask")
	})
}

// Microtasks that never cease let the event loop turn.
func TestCoroutine_CORO32_EndlessMicrotasksDoNotStopTheLoop(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		stopped := false
		var again func() error
		again = func() error {
			if stopped {
				return nil
			}
			return e.S.Microtask(again)
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.S.Microtask(again))
			require.NoError(t, e.S.Post(func() { stopped = true }))
			return errors.Join(co.Yield(), co.Delay(ms))
		})
	})
}
