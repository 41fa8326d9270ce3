package scheduler_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// bounded are the waits that take options, on something that never happens.
func bounded(e *env) map[string]func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	return map[string]func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error{
		"Await": func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
			result, err := co.Await(e.gate(), opts...)
			assert.Nil(e.t, result)
			return err
		},
		"AwaitFirst": func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
			fired, result, err := co.AwaitFirst([]event.Event{e.gate(), e.timer(hour)}, opts...)
			assert.Equal(e.t, -1, fired)
			assert.Nil(e.t, result)
			return err
		},
		"Park": func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
			l := &line{}
			defer func() { assert.Len(e.t, l.left, 1) }()
			return park(co, l, opts...)
		},
	}
}

func TestToken_CANC23_FiresDuringAWait(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for name, wait := range bounded(e) {
				g, o := e.gate(), e.outcome()
				e.after(ms, func() { g.open("value", nil) })
				isTokens(t, wait(co, scheduler.Token(g)), nil)
				e.after(ms, func() { g.open(nil, errBoom) })
				isTokens(t, wait(co, scheduler.Token(g), scheduler.Timeout(hour)), errBoom)
				e.after(ms, func() { o.complete(nil, errBoom) })
				isTokens(t, wait(co, scheduler.Token(o)), errBoom)
				isTokens(t, wait(co, scheduler.Token(e.timer(ms))), nil)
				failing := e.spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
				isTokens(t, wait(co, scheduler.Token(failing)), errBoom)
				tr := e.trigger()
				e.after(ms, tr.Fire)
				isTokens(t, wait(co, scheduler.Token(tr)), nil)
				assert.False(t, tr.Started())
				tr.Dispose()

				cancelled := e.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(hour) })
				require.NoError(t, co.Yield())
				e.after(ms, func() { require.NoError(t, cancelled.Cancel(errStop)) })
				err := wait(co, scheduler.Token(cancelled))
				var c *event.CancelledError
				require.ErrorAs(t, err, &c)
				assert.True(t, c.Token, name)
				assert.ErrorIs(t, err, errStop)
				assert.NoError(t, co.Err(), "only the operation was cancelled")
				assert.False(t, co.CancellationRequested())
				assert.Equal(t, g.starts, g.stops)
				assert.Zero(t, g.Callbacks())
			}
			return nil
		})
	})
}

func TestToken_CANC23_TheAwaitedOperationGoesOn(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			child := e.spawn(co, func(co *scheduler.Coroutine) error { co.SetResult(3); return park(co, &line{}) })
			_, err := co.Await(child, scheduler.Token(e.timer(ms)))
			isTokens(t, err, nil)
			assert.False(t, child.CancellationRequested())
			_, err = co.Await(child, scheduler.Timeout(ms))
			isTimeout(t, err)
			require.NoError(t, child.Unpark())
			result, err := co.Await(child)
			assert.NoError(t, err)
			assert.Equal(t, 3, result)
			return nil
		})
	})
}

func TestToken_CANC24_OneThatIsDoneEndsAWaitAtOnce(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		left := 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			done, failed := e.outcome(), e.outcome()
			done.complete(1, nil)
			failed.complete(nil, errBoom)
			closed := e.gate()
			closed.MarkClosed()
			ended := e.spawn(co, returns(nil))
			require.NoError(t, co.Yield())
			left = 0
			for name, wait := range bounded(e) {
				isTokens(t, wait(co, scheduler.Token(done)), nil)
				isTokens(t, wait(co, scheduler.Timeout(hour), scheduler.Token(failed)), errBoom)
				isTokens(t, wait(co, scheduler.Token(ended)), nil)
				err := wait(co, scheduler.Token(closed))
				assert.ErrorIs(t, err, event.ErrClosed, name)
				assert.ErrorIs(t, err, context.Canceled, name)
				assert.Zero(t, left, "%s parked", name)
				assert.Zero(t, e.w.Live(), "%s left something started", name)
			}
			return nil
		}, withSwitch(&scheduler.SwitchHandlers{Leave: func(*scheduler.Coroutine) { left++ }}))
	})
}

func TestToken_CANC25_WhatNeedsNoWaitCompletes(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			fired, o := e.outcome(), e.outcome()
			fired.complete(nil, errBoom)
			o.complete("value", nil)
			result, err := co.Await(o, scheduler.Token(fired))
			assert.NoError(t, err)
			assert.Equal(t, "value", result)
			index, result, err := co.AwaitFirst([]event.Event{e.gate(), o}, scheduler.Token(fired))
			assert.NoError(t, err)
			assert.Equal(t, 1, index)
			assert.Equal(t, "value", result)
			return nil
		})
	})
}

func TestToken_CANC26_ACancellationWhileItWaitsWithOne(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for name := range bounded(e) {
			e.mustRun(func(co *scheduler.Coroutine) error {
				g := e.gate()
				var got error
				child := e.spawn(co, func(co *scheduler.Coroutine) error {
					got = bounded(e)[name](co, scheduler.Token(g), scheduler.Timeout(hour))
					return got
				})
				require.NoError(t, co.Yield())
				require.NoError(t, child.Cancel(errStop))
				g.open(nil, errBoom) // too late
				require.NoError(t, co.Yield())
				isCancelled(t, got, errStop)
				assert.NotErrorIs(t, got, errBoom)
				assert.Equal(t, 1, g.stops)
				assert.Zero(t, g.Callbacks())
				assert.Zero(t, e.w.Live())
				return nil
			})
		}
	})
}

// The limit and the token after the event: the first one counts, and the others stay silent.
func TestToken_EVT12_TheFirstOneCounts(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			resumed := 0
			g, token := e.gate(), e.gate()
			child := e.spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g, scheduler.Token(token), scheduler.Timeout(hour))
				resumed++
				assert.NoError(t, err)
				assert.Equal(t, "value", result)
				_, err = co.Await(g, scheduler.Token(token), scheduler.Timeout(hour))
				resumed++
				isTokens(t, err, errBoom)
				return nil
			})
			require.NoError(t, co.Yield())
			g.open("value", nil)
			g.open("second", errOther)
			token.open(nil, errBoom)
			require.NoError(t, co.Yield())
			assert.Equal(t, 1, resumed)
			token.open(nil, errBoom)
			g.open("late", nil)
			require.NoError(t, co.Yield())
			assert.Equal(t, 2, resumed)
			assert.True(t, child.Completed())
			assert.Zero(t, e.s.Stats().Ready)
			return nil
		})
	})
}

func TestWait_EVT13_AFailureAndACancellationAreBothTold(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for _, cancelFirst := range []bool{true, false} {
			e.mustRun(func(co *scheduler.Coroutine) error {
				g := e.gate()
				var got error
				child := e.spawn(co, func(co *scheduler.Coroutine) error { _, got = co.Await(g); return nil })
				require.NoError(t, co.Yield())
				if cancelFirst {
					require.NoError(t, child.Cancel(errStop))
					g.open(nil, errBoom)
				} else {
					g.open(nil, errBoom)
					require.NoError(t, child.Cancel(errStop))
				}
				require.NoError(t, co.Yield())
				assert.ErrorIs(t, got, errBoom)
				isCancelled(t, got, errStop)
				return nil
			})
		}
	})
}

func TestWait_GEN02_ACancellationBeforeItRunsWinsOverTheSuccess(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			waiter := e.spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g)
				assert.Nil(t, result)
				return err
			})
			yielder := e.spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
			require.NoError(t, co.Yield())
			g.open("value", nil)
			for _, c := range []*scheduler.Coroutine{yielder, waiter} {
				require.True(t, c.Queued())
				require.NoError(t, c.Cancel(errStop))
			}
			for _, c := range []*scheduler.Coroutine{yielder, waiter} {
				_, err := co.Await(c)
				isCancelled(t, err, errStop)
			}
			return nil
		})
	})
}

func TestWait_GEN02_ACancellationWinsOverTheEndOfADelay(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for {
				// Its delay begins after this one's, and both end in one turn most of the time.
				child := e.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(ms) })
				require.NoError(t, co.Delay(ms))
				if !child.Queued() {
					_, _ = co.Await(child)
					continue
				}
				require.NoError(t, child.Cancel(errStop))
				_, err := co.Await(child)
				isCancelled(t, err, errStop)
				return nil
			}
		})
	})
}

func TestWait_GEN02_ACancellationWinsOverEachOfSeveralEvents(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			gates := []event.Event{e.gate(), e.gate(), e.gate()}
			for _, ev := range gates {
				child := e.spawn(co, func(co *scheduler.Coroutine) error {
					fired, result, err := co.AwaitFirst(gates)
					assert.Equal(t, -1, fired)
					assert.Nil(t, result)
					return err
				})
				require.NoError(t, co.Yield())
				ev.(*gate).open("value", nil)
				require.NoError(t, child.Cancel(errStop))
				_, err := co.Await(child)
				isCancelled(t, err, errStop)
			}
			return nil
		})
	})
}
