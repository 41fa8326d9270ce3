package future

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestFuture_EVT07_ALateSubscriberGetsTheOutcome(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[string](co)
		type outcome struct {
			result any
			err    error
		}
		var got []outcome
		subscribe := func(f *Future[string]) {
			_, err := f.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
				got = append(got, outcome{result, err})
			})
			require.NoError(t, err)
		}
		subscribe(f)
		assert.Empty(t, got)
		require.NoError(t, c.Complete("v"))
		assert.Equal(t, []outcome{{"v", nil}}, got)
		subscribe(f)
		subscribe(Completed(co, "w"))
		subscribe(Failed[string](co, errTest))
		assert.Equal(t, []outcome{{"v", nil}, {"v", nil}, {"w", nil}, {nil, errTest}}, got)
	})
}

func TestFuture_EVT19_Replay(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		c, f := New[int](co)
		var got any
		cb := event.NewCallback(func(_ *event.Base, _ *event.Callback, result any, _ error) { got = result }, nil)
		assert.ErrorIs(t, f.AsEvent().Replay(cb), event.ErrUsage)
		require.NoError(t, c.Complete(4))
		require.NoError(t, f.AsEvent().Replay(cb))
		assert.Equal(t, 4, got)
		cb.Release()
	})
}

func TestFuture_EVT13_AnErrorAndThenACancelBeforeTheAwaiterRuns(t *testing.T) {
	waits := map[string]func(co *scheduler.Coroutine, f *Future[int]) error{
		"await":    func(co *scheduler.Coroutine, f *Future[int]) error { _, err := f.Await(co); return err },
		"combined": func(co *scheduler.Coroutine, f *Future[int]) error { _, err := AwaitAllOrFail(co, Of(f)); return err },
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
				c, f := New[int](co)
				var got error
				a := spawn(t, co, func(co *scheduler.Coroutine) { got = wait(co, f) })
				settle(t, co)
				require.NoError(t, c.Fail(errTest))
				require.NoError(t, a.Cancel(errOther))
				settle(t, co)
				assert.ErrorIs(t, got, errTest)
				assert.ErrorIs(t, got, context.Canceled)
			})
		})
	}
}

func TestFuture_GEN02_ACancelWinsOverAWakeUpWithAValue(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		for range 2 { // the first awaiter, and one behind it
			c, f := New[int](co)
			var got [2]error
			var who [2]*scheduler.Coroutine
			for i := range who {
				who[i] = spawn(t, co, func(co *scheduler.Coroutine) { _, got[i] = f.Await(co) })
			}
			settle(t, co)
			require.NoError(t, c.Complete(1))
			who[0].Cancel(errTest)
			who[1].Cancel(errTest)
			settle(t, co)
			assert.ErrorIs(t, got[0], errTest)
			assert.ErrorIs(t, got[1], errTest)
		}
	})
}

func TestFuture_EVT15_AnEventBackedOneIsDisposedBeforeItFires(t *testing.T) {
	ends := map[string]func(f *Future[any]){
		"dispose": func(f *Future[any]) { f.Dispose() },
		"cancel":  func(f *Future[any]) { f.Cancel(nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
				idle := w.reactor.Live()
				tm := w.timer(t, ms)
				f := FromEvent(co, tm)
				assert.True(t, tm.Started())
				end(f)
				assert.False(t, tm.Started())
				assert.Zero(t, tm.AsEvent().Callbacks())
				assert.Equal(t, idle, w.reactor.Live())
				require.NoError(t, tm.AsEvent().Start()) // its firing is somebody else's
				_, err := co.Await(tm)
				require.NoError(t, err)
				assert.True(t, f.Cancelled())
			})
		})
	}
}

func TestFuture_EVT15_AnEventBackedOneFires(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		tm := w.timer(t, ms)
		f := FromEvent(co, tm)
		_, err := f.Await(co)
		require.NoError(t, err)
		assert.False(t, tm.Started())
		assert.Zero(t, tm.AsEvent().Callbacks())

		v, err := FromEvent(co, Completed(co, 4)).Await(co)
		require.NoError(t, err)
		assert.Equal(t, 4, v)
		_, err = FromEvent(co, tm).Await(co)
		assert.ErrorIs(t, err, event.ErrClosed, "EVT-17")
	})
}

func TestFuture_EVT15_AnEventBackedOneEndsWithItsScope(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		idle := w.reactor.Live()
		require.NoError(t, w.run(func(co *scheduler.Coroutine) {
			s, err := co.Scope().New()
			require.NoError(t, err)
			tm := w.timer(t, 1e6*ms)
			f := FromEvent(s, tm)
			require.NoError(t, s.Cancel(errTest))
			assert.True(t, f.Cancelled())
			assert.False(t, tm.Started())
			assert.ErrorIs(t, f.Err(), errTest)

			_, remote := NewRemote[int](co)
			FromEvent(co, remote)
			FromEvent(co, w.timer(t, 1e6*ms))
			assert.Equal(t, idle+2, w.reactor.Live())
		}))
		assert.Equal(t, idle, w.reactor.Live(), "the run is over")
	})
}

func TestFuture_FUT13_AsATokenItIsUsed(t *testing.T) {
	inBoth(t, func(t *testing.T, w *world) {
		require.NoError(t, w.run(func(co *scheduler.Coroutine) {
			// the operation completes without waiting
			_, err := Completed(co, 1).Await(co, scheduler.Token(Completed(co, 1)))
			assert.NoError(t, err)
			// it returns early
			_, pending := New[int](co)
			_, err = pending.Await(co, scheduler.Token(Completed(co, 1)), scheduler.Timeout(-1))
			assert.Error(t, err)
			// it waits
			_, err = pending.Await(co, scheduler.Token(later(co, ms, 1, nil)))
			assert.ErrorIs(t, err, context.Canceled)
		}))
		assert.Zero(t, w.logged(neverUsed), w.log.String())
	})
}

func TestFuture_CANC23_AFailedTokensErrorIsTheCause(t *testing.T) {
	both(t, func(t *testing.T, w *world, co *scheduler.Coroutine) {
		_, pending := New[int](co)
		_, err := pending.Await(co, scheduler.Token(later(co, ms, 1, errTest)))
		var cancelled *event.CancelledError
		require.ErrorAs(t, err, &cancelled)
		assert.True(t, cancelled.Token)
		assert.ErrorIs(t, err, errTest)
		assert.False(t, pending.Completed(), "the awaited one goes on")
		assert.Equal(t, 0, listeners(pending))

		_, err = pending.Await(co, scheduler.Token(Failed[int](co, errTest)))
		assert.ErrorIs(t, err, errTest, "CANC-24: no parking")
	})
}
