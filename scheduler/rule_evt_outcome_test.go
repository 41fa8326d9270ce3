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

func TestScheduler_EVT07_ALateSubscriberGetsTheStoredOutcomeAtOnce(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			good := e.Spawn(co, func(co *scheduler.Coroutine) error { co.SetResult(7); return nil })
			bad := e.Spawn(co, cotest.Fails(errBoom), scheduler.SettledBy(settle(func(error) {})))
			cotest.Yields(co, 2)
			for range 3 { // again and again, and nobody is subscribed by it
				calls := 0
				for ended, want := range map[*scheduler.Coroutine]any{good: 7, bad: nil} {
					_, err := ended.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
						calls++
						assert.Equal(t, want, result)
						assert.Equal(t, ended.Error(), err)
					})
					require.NoError(t, err)
					assert.Zero(t, ended.AsEvent().Callbacks())
				}
				assert.Equal(t, 2, calls)
				result, err := co.Await(good)
				assert.Equal(t, 7, result)
				require.NoError(t, err)
				_, err = co.Await(bad)
				assert.Same(t, errBoom, err)
			}
			return nil
		})
	})
}

func TestScheduler_EVT19_TheReplayCallsSynchronouslyAndAnAwaitDoesNotSuspend(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			done := newOutcome()
			done.complete(7, errBoom)
			for _, ev := range []event.Event{done, e.Spawn(co, cotest.Fails(errBoom), scheduler.SettledBy(settle(func(error) {})))} {
				_ = co.Yield()
				e.Spawn(co, e.Sayer("other"))
				_, err := ev.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, _ any, err error) {
					assert.Same(t, errBoom, err)
					e.Say("replayed")
				})
				require.NoError(t, err)
				e.Say("subscribed")
				_, err = co.Await(ev, scheduler.Token(done))
				assert.Same(t, errBoom, err, "AWAIT-03")
				fired, _, err := co.AwaitFirst([]event.Event{e.Gate(), ev, done})
				assert.Same(t, errBoom, err)
				assert.Equal(t, 1, fired)
				e.Say("awaited")
				_ = co.Yield()
				assert.Equal(t, []string{"replayed", "subscribed", "awaited", "other"}, e.Said())
			}
			_, err := co.Await(e.Gate(), scheduler.Token(done))
			cotest.IsTokens(t, err, errBoom) // CANC-24
			return nil
		})
	})
}

func TestScheduler_EVT13_ARealErrorAndACancellationForOneWakeAreBothKept(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		for name, order := range map[string]func(co *scheduler.Coroutine){
			"cancelled first": func(co *scheduler.Coroutine) { assert.NoError(t, co.Cancel(errStop)); g.Open(1, errBoom) },
			"error first":     func(co *scheduler.Coroutine) { g.Open(1, errBoom); assert.NoError(t, co.Cancel(errStop)) },
		} {
			for _, first := range []bool{false, true} {
				var result any
				var got error
				e.MustRun(func(co *scheduler.Coroutine) error {
					parked := e.Spawn(co, func(co *scheduler.Coroutine) error {
						if first {
							var fired int
							fired, result, got = co.AwaitFirst([]event.Event{e.Gate(), g})
							assert.Equal(t, -1, fired)
						} else {
							result, got = co.Await(g)
						}
						return nil
					})
					_ = co.Yield()
					order(parked)
					return nil
				})
				assert.ErrorIs(t, got, errBoom, name)
				assert.ErrorIs(t, got, context.Canceled, name)
				assert.ErrorIs(t, got, errStop, name)
				assert.Nil(t, result, name)
			}
		}
	})
}

func TestScheduler_EVT13_GEN02_ACancellationWinsOverASuccessNotYetSeen(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			parked := e.Spawn(co, func(co *scheduler.Coroutine) error {
				fired, result, err := co.AwaitFirst([]event.Event{g})
				assert.Equal(t, -1, fired)
				assert.Nil(t, result)
				assert.Equal(t, &event.CancelledError{Reason: errStop}, err)
				return err
			})
			_ = co.Yield()
			g.Open(5, nil)
			return parked.Cancel(errStop)
		})
	})
}

func TestScheduler_EVT18_TheHookMayReplaceOrSwallowWhatACoroutineAwaits(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			swallow := true
			g.SetNotifyHook(func(_ *event.Base, result any, err error) (any, bool, error) { return "replaced", !swallow, errBoom })
			waits := e.Spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g)
				assert.Equal(t, "replaced", result)
				assert.Same(t, errBoom, err)
				return nil
			})
			_ = co.Yield()
			g.Open(1, nil)
			assert.False(t, waits.Queued())
			swallow = false
			g.Open(1, nil)
			return nil
		})
	})
}

func TestScheduler_AWAIT04_TheTargetAsItsOwnTokenIsNone(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			before := e.Spawn(co, cotest.Waiter(g))
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				result, err := co.Await(g, scheduler.Token(g))
				assert.Equal(t, 7, result)
				return err
			})
			_ = co.Yield()
			assert.Equal(t, 2, g.Callbacks())
			require.NoError(t, before.Cancel(nil)) // what is subscribed last takes its place
			_ = co.Yield()
			g.Open(7, nil)
			return nil
		})
	})
}
