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

// bounded are the waits that take options, on something that never happens.
func bounded(e *cotest.Env) map[string]func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	return map[string]func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error{
		"Await": func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
			result, err := co.Await(e.Gate(), opts...)
			assert.Nil(e.T, result)
			return err
		},
		"AwaitFirst": func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
			fired, result, err := co.AwaitFirst([]event.Event{e.Gate(), e.Timer(hour)}, opts...)
			assert.Equal(e.T, -1, fired)
			assert.Nil(e.T, result)
			return err
		},
		"Park": func(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
			l := &line{}
			defer func() { assert.Len(e.T, l.left, 1) }()
			return park(co, l, opts...)
		},
	}
}

func TestToken_CANC23_FiresDuringAWait(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, wait := range bounded(e) {
				g, o := e.Gate(), newOutcome()
				e.After(ms, func() { g.Open("value", nil) })
				cotest.IsTokens(t, wait(co, scheduler.Token(g)), nil)
				e.After(ms, func() { g.Open(nil, errBoom) })
				cotest.IsTokens(t, wait(co, scheduler.Token(g), scheduler.Timeout(hour)), errBoom)
				e.After(ms, func() { o.complete(nil, errBoom) })
				cotest.IsTokens(t, wait(co, scheduler.Token(o)), errBoom)
				cotest.IsTokens(t, wait(co, scheduler.Token(e.Timer(ms))), nil)
				failing := e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
				cotest.IsTokens(t, wait(co, scheduler.Token(failing)), errBoom)
				tr := e.Trigger()
				e.After(ms, tr.Fire)
				cotest.IsTokens(t, wait(co, scheduler.Token(tr)), nil)
				assert.False(t, tr.Started())
				tr.Dispose()

				cancelled := e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(hour) })
				require.NoError(t, co.Yield())
				e.After(ms, func() { require.NoError(t, cancelled.Cancel(errStop)) })
				err := wait(co, scheduler.Token(cancelled))
				var c *event.CancelledError
				require.ErrorAs(t, err, &c)
				assert.True(t, c.Token, name)
				assert.ErrorIs(t, err, errStop)
				assert.NoError(t, co.Err(), "only the operation was cancelled")
				assert.False(t, co.CancellationRequested())
				assert.Equal(t, g.Starts, g.Stops)
				assert.Zero(t, g.Callbacks())
			}
			return nil
		})
	})
}

func TestToken_CANC23_TheAwaitedOperationGoesOn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { co.SetResult(3); return park(co, &line{}) })
			_, err := co.Await(child, scheduler.Token(e.Timer(ms)))
			cotest.IsTokens(t, err, nil)
			assert.False(t, child.CancellationRequested())
			_, err = co.Await(child, scheduler.Timeout(ms))
			cotest.IsTimeout(t, err)
			require.NoError(t, child.Unpark())
			result, err := co.Await(child)
			assert.NoError(t, err)
			assert.Equal(t, 3, result)
			return nil
		})
	})
}

func TestToken_CANC24_OneThatIsDoneEndsAWaitAtOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		left := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			done, failed := newOutcome(), newOutcome()
			done.complete(1, nil)
			failed.complete(nil, errBoom)
			closed := e.Gate()
			closed.MarkClosed()
			ended := e.Spawn(co, cotest.Fails(nil))
			require.NoError(t, co.Yield())
			left = 0
			for name, wait := range bounded(e) {
				cotest.IsTokens(t, wait(co, scheduler.Token(done)), nil)
				cotest.IsTokens(t, wait(co, scheduler.Timeout(hour), scheduler.Token(failed)), errBoom)
				cotest.IsTokens(t, wait(co, scheduler.Token(ended)), nil)
				err := wait(co, scheduler.Token(closed))
				assert.ErrorIs(t, err, event.ErrClosed, name)
				assert.ErrorIs(t, err, context.Canceled, name)
				assert.Zero(t, left, "%s parked", name)
				assert.Zero(t, e.W.Live(), "%s left something started", name)
			}
			return nil
		}, withSwitch(&scheduler.SwitchHandlers{Leave: func(*scheduler.Coroutine) { left++ }}))
	})
}

func TestToken_CANC25_WhatNeedsNoWaitCompletes(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			fired, o := newOutcome(), newOutcome()
			fired.complete(nil, errBoom)
			o.complete("value", nil)
			result, err := co.Await(o, scheduler.Token(fired))
			assert.NoError(t, err)
			assert.Equal(t, "value", result)
			index, result, err := co.AwaitFirst([]event.Event{e.Gate(), o}, scheduler.Token(fired))
			assert.NoError(t, err)
			assert.Equal(t, 1, index)
			assert.Equal(t, "value", result)
			return nil
		})
	})
}

func TestToken_CANC26_ACancellationWhileItWaitsWithOne(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name := range bounded(e) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				g := e.Gate()
				var got error
				child := e.Spawn(co, func(co *scheduler.Coroutine) error {
					got = bounded(e)[name](co, scheduler.Token(g), scheduler.Timeout(hour))
					return got
				})
				require.NoError(t, co.Yield())
				require.NoError(t, child.Cancel(errStop))
				g.Open(nil, errBoom) // too late
				require.NoError(t, co.Yield())
				cotest.IsCancelled(t, got, errStop)
				assert.NotErrorIs(t, got, errBoom)
				assert.Equal(t, 1, g.Stops)
				assert.Zero(t, g.Callbacks())
				assert.Zero(t, e.W.Live())
				return nil
			})
		}
	})
}

// The limit and the token after the event: the first one counts, and the others stay silent.
func TestToken_EVT12_TheFirstOneCounts(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			resumed := 0
			g, token := e.Gate(), e.Gate()
			child := e.Spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g, scheduler.Token(token), scheduler.Timeout(hour))
				resumed++
				assert.NoError(t, err)
				assert.Equal(t, "value", result)
				_, err = co.Await(g, scheduler.Token(token), scheduler.Timeout(hour))
				resumed++
				cotest.IsTokens(t, err, errBoom)
				return nil
			})
			require.NoError(t, co.Yield())
			g.Open("value", nil)
			g.Open("second", errOther)
			token.Open(nil, errBoom)
			require.NoError(t, co.Yield())
			assert.Equal(t, 1, resumed)
			token.Open(nil, errBoom)
			g.Open("late", nil)
			require.NoError(t, co.Yield())
			assert.Equal(t, 2, resumed)
			assert.True(t, child.Completed())
			assert.Zero(t, e.S.Stats().Ready)
			return nil
		})
	})
}

func TestWait_EVT13_AFailureAndACancellationAreBothTold(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, cancelFirst := range []bool{true, false} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				g := e.Gate()
				var got error
				child := e.Spawn(co, func(co *scheduler.Coroutine) error { _, got = co.Await(g); return nil })
				require.NoError(t, co.Yield())
				if cancelFirst {
					require.NoError(t, child.Cancel(errStop))
					g.Open(nil, errBoom)
				} else {
					g.Open(nil, errBoom)
					require.NoError(t, child.Cancel(errStop))
				}
				require.NoError(t, co.Yield())
				assert.ErrorIs(t, got, errBoom)
				cotest.IsCancelled(t, got, errStop)
				return nil
			})
		}
	})
}

func TestWait_GEN02_ACancellationBeforeItRunsWinsOverTheSuccess(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			waiter := e.Spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g)
				assert.Nil(t, result)
				return err
			})
			yielder := e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() })
			require.NoError(t, co.Yield())
			g.Open("value", nil)
			for _, c := range []*scheduler.Coroutine{yielder, waiter} {
				require.True(t, c.Queued())
				require.NoError(t, c.Cancel(errStop))
			}
			for _, c := range []*scheduler.Coroutine{yielder, waiter} {
				_, err := co.Await(c)
				cotest.IsCancelled(t, err, errStop)
			}
			return nil
		})
	})
}

func TestWait_GEN02_ACancellationWinsOverTheEndOfADelay(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for {
				// Its delay begins after this one's, and both end in one turn most of the time.
				child := e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(ms) })
				require.NoError(t, co.Delay(ms))
				if !child.Queued() {
					_, _ = co.Await(child)
					continue
				}
				require.NoError(t, child.Cancel(errStop))
				_, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
				return nil
			}
		})
	})
}

func TestWait_GEN02_ACancellationWinsOverEachOfSeveralEvents(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			gates := []event.Event{e.Gate(), e.Gate(), e.Gate()}
			for _, ev := range gates {
				child := e.Spawn(co, func(co *scheduler.Coroutine) error {
					fired, result, err := co.AwaitFirst(gates)
					assert.Equal(t, -1, fired)
					assert.Nil(t, result)
					return err
				})
				require.NoError(t, co.Yield())
				ev.(*cotest.Gate).Open("value", nil)
				require.NoError(t, child.Cancel(errStop))
				_, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
			}
			return nil
		})
	})
}
