package scheduler_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_EVT17_AwaitingAClosedEventSaysWhichOne(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		timer, trigger, other := e.Timer(time.Hour), e.Trigger(), e.Timer(ms)
		require.NoError(t, timer.Close())
		require.NoError(t, trigger.Close())
		e.MustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(timer)
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Contains(t, err.Error(), "timer of 1h0m0s")
			_, err = co.Await(trigger)
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Contains(t, err.Error(), "trigger")
			fired, _, err := co.AwaitFirst([]event.Event{other, timer})
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.Equal(t, 1, fired)
			assert.False(t, other.Started())
			_, err = co.Await(other, scheduler.Token(timer))
			isToken := err.(*event.CancelledError)
			assert.True(t, isToken.Token, "a closed token ends the wait")
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.False(t, other.Started())
			_, err = co.Await(other, scheduler.Token(other))
			require.NoError(t, err, "AWAIT-04: the target as its own token is none")
			return nil
		})
	})
}

func TestScheduler_EVT17_AnEventThatIsClosedWhileItIsAwaitedEndsTheWait(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, how := range []string{"await", "first", "token", "from its own callback"} {
				trigger, ended := e.Trigger(), 0
				closed := func(err error) {
					ended++
					assert.ErrorIs(t, err, event.ErrClosed, how)
					assert.Contains(t, err.Error(), "trigger")
				}
				for range 2 { // several wait for it
					e.Spawn(co, func(co *scheduler.Coroutine) error {
						switch how {
						case "first":
							fired, _, err := co.AwaitFirst([]event.Event{e.Gate(), trigger})
							assert.Equal(t, 1, fired)
							closed(err)
						case "token":
							_, err := co.Await(e.Gate(), scheduler.Token(trigger))
							assert.ErrorIs(t, err, context.Canceled)
							closed(err)
						case "await":
							_, err := co.Await(trigger)
							closed(err)
						default:
							_, err := co.Await(trigger)
							assert.NoError(t, err, "it happened")
							ended++
						}
						return nil
					})
				}
				if how == "from its own callback" {
					_, err := trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { assert.NoError(t, trigger.Close()) })
					require.NoError(t, err)
					_ = co.Yield()
					trigger.Fire()
				}
				require.NoError(t, co.Delay(ms))
				if how == "from its own callback" {
					require.NoError(t, co.Delay(5*ms))
				}
				require.NoError(t, trigger.Close())
				_ = co.Yield()
				assert.Equal(t, 2, ended, how)
				assert.Zero(t, e.W.Live())
			}
			return nil
		})
	})
}

func TestScheduler_EVT17_PollsAndSignalsClosedWhileAwaited(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		l := e.W.(reactortest.Real).Loop
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer func() { assert.NoError(t, r.Close()); assert.NoError(t, w.Close()) }()
		e.MustRun(func(co *scheduler.Coroutine) error {
			poll, err := l.NewPoll(int(r.Fd()), reactor.Readable)
			require.NoError(t, err)
			proxy, err := poll.NewProxy(reactor.Readable)
			require.NoError(t, err)
			sig, err := l.NewSignal(10)
			require.NoError(t, err)
			for _, ev := range []interface {
				event.Event
				Close() error
			}{proxy, poll, sig} {
				waits := e.Spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(ev)
					assert.ErrorIs(t, err, event.ErrClosed)
					return nil
				})
				require.NoError(t, co.Delay(ms))
				assert.True(t, waits.Suspended())
				require.NoError(t, ev.Close())
				_ = co.Yield()
				assert.True(t, waits.Completed(), "%T", ev)
			}
			return nil
		})
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_EVT17_AnEventThatIsOnlyDisposedStillHappens(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			timer := e.Timer(3 * ms)
			waits := e.Spawn(co, cotest.Waiter(timer))
			_ = co.Yield()
			timer.Dispose()
			_, err := co.Await(timer)
			assert.ErrorIs(t, err, event.ErrClosed, "this reference is gone")
			_, err = co.Await(waits)
			return err
		})
	})
}

func TestScheduler_EVT17_AnAwaitedEventIsNotCollected(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		l := e.W.(reactortest.Real).Loop
		e.MustRun(func(co *scheduler.Coroutine) error {
			var waits *scheduler.Coroutine
			timer := func() weak.Pointer[reactor.Timer] {
				timer, err := l.NewPeriodicTimer(time.Hour)
				require.NoError(t, err)
				waits = e.Spawn(co, cotest.Waiter(timer))
				return weak.Make(timer)
			}()
			for range 3 {
				require.NoError(t, co.Delay(ms))
				runtime.GC()
			}
			assert.NotNil(t, timer.Value())
			assert.Zero(t, l.Stats().Orphans)
			require.NoError(t, waits.Cancel(nil))
			for timer.Value() != nil { // nothing of the wait keeps it
				require.NoError(t, co.Delay(ms))
				runtime.GC()
			}
			return nil
		})
		assert.Zero(t, e.W.Live())
	})
}
