package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

func TestCoroutine_CORO01_BodiesStartAfterSpawnInTheOrderOfTheSpawns(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("a"))
			e.spawn(co, e.sayer("b"), scheduler.Named("b"))
			e.spawn(co.Scope(), e.sayer("c"), scheduler.Hidden())
			e.say("spawned")
			assert.NoError(t, co.Yield())
			assert.Equal(t, []string{"spawned", "a", "b", "c"}, e.said())
			e.after(ms, func() {
				e.spawn(co, e.sayer("d"))
				e.spawn(co, e.sayer("e"))
				e.say("callback")
			})
			return co.Delay(5 * ms)
		})
		assert.Equal(t, []string{"callback", "d", "e"}, e.said())
	})
}

func TestCoroutine_CORO02_YieldGoesToTheTail(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, name := range []string{"a", "b", "c"} {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					for i := range 4 {
						e.say(fmt.Sprint(name, i))
						assert.NoError(t, co.Yield())
					}
					return nil
				})
			}
			return nil
		})
		assert.Equal(t, []string{"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"}, e.said())
	})
}

func TestCoroutine_REACT04_DelayOfNothingIsAYield(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, e.sayer("other"))
			assert.NoError(t, co.Delay(0))
			e.say("after")
			assert.Zero(t, e.w.Live(), "no timer")
			return nil
		})
		assert.Equal(t, []string{"other", "after"}, e.said())
	})
}

func TestCoroutine_CORO03_YieldWithNobodyReadyReturnsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		left := 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			turns := e.s.Stats().Turns
			for range 10 {
				assert.NoError(t, co.Yield())
				assert.NoError(t, co.Delay(0))
			}
			assert.Zero(t, left, "it was never suspended")
			assert.Equal(t, turns, e.s.Stats().Turns)
			return nil
		}, withSwitch(&scheduler.SwitchHandlers{Leave: func(*scheduler.Coroutine) { left++ }}))
		assert.Equal(t, 1, left)
	})
}

func TestCoroutine_CORO04_ChildJoinsTheSpawnersScopeBehindTheQueue(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			e.spawn(sub, func(co *scheduler.Coroutine) error {
				child := e.spawn(co, func(co *scheduler.Coroutine) error {
					assert.Same(t, sub, co.Scope())
					grandchild := e.spawn(co, e.sayer("grandchild"))
					assert.Same(t, sub, grandchild.Scope())
					e.say("child")
					return nil
				})
				assert.Same(t, sub, child.Scope())
				e.say("spawner")
				return nil
			})
			e.spawn(co, e.sayer("queued before"))
			return nil
		})
		assert.Equal(t, []string{"spawner", "queued before", "child", "grandchild"}, e.said())
	})
}

func TestCoroutine_CORO05_RunWaitsForThoseThatRemain(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				if err := co.Delay(5 * ms); err != nil {
					return err
				}
				e.spawn(co, func(co *scheduler.Coroutine) error {
					defer e.say("last")
					return co.Delay(2 * ms)
				})
				e.say("second")
				return nil
			})
			e.say("main")
			return nil
		})
		assert.Equal(t, []string{"main", "second", "last"}, e.said())
	})
}

// It does not wait for the helpers: they are cancelled when the last active coroutine has ended.
func TestCoroutine_CORO05_RunDoesNotWaitForHiddenOnes(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				e.say("helper")
				err := co.Delay(time.Hour)
				isCancelled(t, err, scheduler.ErrRunOver)
				e.say("cancelled")
				return err
			}, scheduler.Hidden())
			return co.Delay(ms)
		})
		assert.Equal(t, []string{"helper", "cancelled"}, e.said())
	})
}

func TestCoroutine_CORO12_AThousandSleepers(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		done := 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			for range 1000 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					begin := e.w.Now()
					assert.NoError(t, co.Delay(ms))
					assert.GreaterOrEqual(t, e.w.Now().Sub(begin), ms)
					done++
					return nil
				})
			}
			assert.NoError(t, co.Yield())
			assert.Equal(t, 1001, e.s.Stats().Total)
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
	each(t, func(t *testing.T, e *env) {
		const depth = 2000
		e.mustRun(func(co *scheduler.Coroutine) error {
			for range 4 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
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
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for range 50 {
				for range 20 {
					e.spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
				}
				yields(co, 3)
			}
			assert.LessOrEqual(t, e.s.Stats().Contexts, 50)
			assert.EqualValues(t, 1001, e.s.Stats().Spawned)
			return nil
		})
	})
}

func TestCoroutine_CORO32_MicrotaskThatFailsLeavesTheOthersInTheQueue(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			for _, task := range []struct {
				name string
				err  error
			}{{"first", nil}, {"second", errBoom}, {"third", nil}, {"fourth", errOther}, {"fifth", nil}} {
				require.NoError(t, e.s.Microtask(func() error { e.say(task.name); return task.err }))
			}
			e.say("queued")
			err := co.Yield()
			e.say("main goes on")
			return err
		})
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
		steps := slices.DeleteFunc(e.said(), func(step string) bool { return step == "main goes on" })
		assert.Equal(t, []string{"queued", "first", "second", "third", "fourth", "fifth"}, steps)
	})
}

func TestCoroutine_CORO32_MicrotasksRunBeforeTheNextCoroutine(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				e.say("child")
				require.NoError(t, e.s.Microtask(func() error { e.say("micro of child"); return nil }))
				require.NoError(t, e.s.Microtask(func() error { e.say("its second"); return nil }))
				return nil
			})
			e.spawn(co, e.sayer("second child"))
			require.NoError(t, e.s.Microtask(func() error { e.say("micro"); return nil }))
			return co.Yield()
		})
		assert.Equal(t, []string{"micro", "child", "micro of child", "its second", "second child"}, e.said())
		isUsage(t, e.s.Microtask(func() error { return nil }), "Microtask")
	})
}

// Microtasks that never cease let the event loop turn.
func TestCoroutine_CORO32_EndlessMicrotasksDoNotStopTheLoop(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		stopped := false
		var again func() error
		again = func() error {
			if stopped {
				return nil
			}
			return e.s.Microtask(again)
		}
		e.mustRun(func(co *scheduler.Coroutine) error {
			require.NoError(t, e.s.Microtask(again))
			require.NoError(t, e.s.Post(func() { stopped = true }))
			return errors.Join(co.Yield(), co.Delay(ms))
		})
	})
}
