package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

// counting is a world that counts what the scheduler asks of it.
type counting struct {
	reactortest.World
	made   []event.Deadline
	ticked func(block bool)
}

func (c *counting) NewDeadline(fn func()) event.Deadline {
	d := c.World.NewDeadline(fn)
	c.made = append(c.made, d)
	return d
}

func (c *counting) Tick(block bool) (int, error) {
	if c.ticked != nil {
		c.ticked(block)
	}
	return c.World.Tick(block)
}

// counted makes e's loop a counting one.
func counted(e *cotest.Env) *counting {
	c := &counting{World: e.W}
	e.W = c
	return c
}

func TestScheduler_REACT04_ADelayOfZeroTakesNoTimer(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		c := counted(e)
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, name := range []string{"a", "b"} {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					e.Say(name)
					defer e.Say(name + " again")
					return co.Delay(0)
				})
			}
			defer e.Say("main")
			return co.Delay(0)
		})
		assert.Equal(t, []string{"a", "b", "main", "a again", "b again"}, e.Said())
		assert.Empty(t, c.made)
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_REACT08_ATimeLimitThatIsNotPositiveIsRefused(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g, l := e.Gate(), &line{}
			done := newOutcome()
			done.complete(1, nil)
			for _, d := range []time.Duration{0, -1, -time.Hour} {
				_, await := co.Await(g, scheduler.Timeout(d))
				_, ready := co.Await(done, scheduler.Timeout(d))
				_, second := co.Await(g, scheduler.Timeout(time.Hour), scheduler.Timeout(d))
				_, _, first := co.AwaitFirst([]event.Event{g}, scheduler.Timeout(d))
				parked := park(co, l, scheduler.Timeout(d))
				block := co.WithTimeout(d, func(*scheduler.Coroutine) error { e.Say("block"); return nil })
				for _, err := range []error{await, ready, second, first, parked, block} {
					var invalid *event.InvalidArgumentError
					if assert.ErrorAs(t, err, &invalid) {
						assert.Equal(t, "timeout", invalid.Arg)
						assert.Equal(t, d, invalid.Got)
					}
					assert.ErrorIs(t, err, event.ErrInvalidArgument)
				}
			}
			var invalid *event.InvalidArgumentError
			require.ErrorAs(t, co.Delay(-1), &invalid)
			_, err := co.Await(g, scheduler.Token(nil))
			require.ErrorAs(t, err, &invalid)
			_, err = co.Await(nil)
			require.ErrorAs(t, err, &invalid)
			_, _, err = co.AwaitFirst(nil)
			require.ErrorAs(t, err, &invalid)
			_, _, err = co.AwaitFirst([]event.Event{g, nil})
			require.ErrorAs(t, err, &invalid)
			assert.Zero(t, g.Starts)
			assert.Zero(t, g.Callbacks())
			assert.Len(t, l.left, 3)
			return nil
		})
		assert.Empty(t, e.Said())
	})
}

func TestScheduler_REACT09_DelaysAndTimeLimitsAreNeverEarlyAndInOrder(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		delays := []time.Duration{5 * ms, ms, 3 * ms, time.Microsecond, 3 * ms, ms, 2 * ms}
		var order []int
		e.MustRun(func(co *scheduler.Coroutine) error {
			for i, d := range delays {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					from, sleeps := e.W.Now(), co.Delay
					if i%2 == 1 {
						sleeps = func(d time.Duration) error {
							_, err := co.Await(e.Gate(), scheduler.Timeout(d))
							cotest.IsTimeout(t, err)
							return nil
						}
					}
					require.NoError(t, sleeps(d))
					order = append(order, i)
					assert.GreaterOrEqual(t, e.W.Now().Sub(from), d)
					return nil
				})
			}
			return nil
		}, func(o *scheduler.Options) { o.Slice = time.Hour }) // all start in one turn
		assert.Equal(t, []int{1, 3, 5, 6, 2, 4, 0}, order, "by delay, then by the order of the starts")
	})
}

func TestScheduler_REACT20_TheLoopBlocksOnlyWhenNobodyIsReady(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		c := counted(e)
		waiting := 0 // coroutines that are not waiting for time
		c.ticked = func(block bool) {
			if block {
				assert.Zero(t, waiting, "it blocked while somebody was ready")
			}
		}
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 3 {
				waiting++
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					cotest.Yields(co, 50)
					waiting--
					defer func() { waiting++; cotest.Yields(co, 50); waiting-- }()
					return co.Delay(2 * ms)
				})
			}
			return nil
		}, withBudget(7))
	})
}

func TestScheduler_REACT20_TheLoopIsLookedAtOncePerBudget(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		c, resumed, most, ticks := counted(e), 0, 0, 0
		c.ticked = func(bool) { most, resumed, ticks = max(most, resumed), 0, ticks+1 }
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 30 {
				e.Spawn(co, func(co *scheduler.Coroutine) error { cotest.Yields(co, 20); return nil })
			}
			return nil
		}, withBudget(10), withSwitch(&scheduler.SwitchHandlers{Enter: func(*scheduler.Coroutine) { resumed++ }}))
		assert.LessOrEqual(t, most, 10)
		assert.GreaterOrEqual(t, ticks, 30*20/10)
	})
}

func TestScheduler_REACT20_OperationsThatDoNotSuspendCountForTheBudget(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		c, done, resumed, most := counted(e), newOutcome(), 0, 0
		done.complete(nil, nil)
		c.ticked = func(bool) { most, resumed = max(most, resumed), 0 }
		e.MustRun(func(co *scheduler.Coroutine) error {
			for i := range 30 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					for n := range 20 {
						for range (i + n) % 4 {
							_, _ = co.Await(done)
						}
						_ = co.Yield()
					}
					return nil
				})
			}
			return nil
		}, withBudget(10), func(o *scheduler.Options) {
			o.Slice = time.Hour
			o.Switch = &scheduler.SwitchHandlers{Enter: func(*scheduler.Coroutine) { resumed++ }}
		})
		assert.LessOrEqual(t, max(most, resumed), 10)
	})
}

// works holds the loop for d.
func works(d time.Duration) {
	for from := time.Now(); time.Since(from) < d; {
	}
}

func TestScheduler_REACT20_TheLoopIsLookedAtAboutEveryMillisecondOfWork(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		c, heavy, most := counted(e), 0, 0
		c.ticked = func(bool) { most, heavy = max(most, heavy), 0 }
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 3 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					for range 20 {
						works(2 * ms)
						heavy++
						_ = co.Yield()
					}
					return nil
				})
			}
			return nil
		}, withBudget(1<<20))
		assert.LessOrEqual(t, most, 3, "stretches of 2 ms between two looks")
	})
}

func TestScheduler_REACT20_WorkThatBecomesHeavyIsNoticed(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		c, heavy, most := counted(e), 0, 0
		c.ticked = func(bool) { most, heavy = max(most, heavy), 0 }
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 2 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					cotest.Yields(co, 1000) // light
					for range 70 {
						works(ms)
						heavy++
						_ = co.Yield()
					}
					return nil
				})
			}
			return nil
		}, withBudget(1<<20))
		assert.LessOrEqual(t, max(most, heavy), 20, "stretches of 1 ms between two looks")
	})
}

func TestScheduler_REACT20_ALoneCoroutineThatYieldsDoesNotStarveTheLoop(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		c, heavy, most := counted(e), 0, 0
		c.ticked = func(bool) { most, heavy = max(most, heavy), 0 }
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 30 {
				works(2 * ms)
				heavy++
				if err := co.Yield(); err != nil {
					return err
				}
			}
			return nil
		})
		assert.LessOrEqual(t, max(most, heavy), 8, "stretches of 2 ms between two looks")
	})
}

func TestScheduler_REACT20_WhoIsAlwaysReadyStarvesNobody(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		done := newOutcome()
		done.complete(nil, nil)
		bodies := map[string]func(co *scheduler.Coroutine){
			"yield":                       func(co *scheduler.Coroutine) { _ = co.Yield() },
			"await of what has completed": func(co *scheduler.Coroutine) { _, _ = co.Await(done) },
			"delay of zero":               func(co *scheduler.Coroutine) { _ = co.Delay(0) },
			"refused waits, protected": func(co *scheduler.Coroutine) {
				_ = co.Protect(func(context.Context) error { return co.Yield() })
			},
		}
		for name, step := range bodies {
			for _, alone := range []bool{true, false} {
				happened := false
				e.MustRun(func(co *scheduler.Coroutine) error {
					if !alone {
						e.Spawn(co, func(co *scheduler.Coroutine) error {
							for !happened {
								step(co)
							}
							return nil
						})
					}
					require.NoError(t, e.S.Post(func() { happened = true }))
					for !happened {
						step(co)
					}
					return nil
				})
				assert.True(t, happened, name)
			}
		}
	})
}

func TestScheduler_REACT20_TimersFireWhileOthersAreReady(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			slept := false
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer func() { slept = true }()
				return co.Delay(5 * ms)
			})
			for !slept {
				if err := co.Yield(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
