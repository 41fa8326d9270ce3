package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/scheduler"
)

// starter is a visible event that does something when it is started.
type starter struct {
	event.Base
	start         func() error
	starts, stops int
}

type starterKind struct {
	event.NopKind
	s *starter
}

func (k starterKind) StartEvent() error { k.s.starts++; return k.s.start() }
func (k starterKind) StopEvent()        { k.s.stops++ }
func (k starterKind) Info() string      { return "starter" }

func newStarter(e *cotest.Env, start func(s *starter) error) *starter {
	s := &starter{}
	s.start = func() error { return start(s) }
	s.Init(starterKind{s: s}, e.W.Count(), event.FlagPeriodic)
	return s
}

func TestScheduler_EVT11_AnEventThatHappensWhileItIsStarted(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			at := newStarter(e, func(s *starter) error { return s.Notify("at once", nil) })
			quiet := newStarter(e, func(*starter) error { return nil })
			for range 300 { // more than anybody's luck
				result, err := co.Await(at)
				require.NoError(t, err)
				assert.Equal(t, "at once", result)
			}
			for i, evs := range [][]event.Event{{at, quiet}, {quiet, at}, {quiet, at, quiet, at}} {
				fired, result, err := co.AwaitFirst(evs)
				require.NoError(t, err)
				assert.Equal(t, min(i, 1), fired)
				assert.Equal(t, "at once", result)
			}
			_, err := co.Await(quiet, scheduler.Token(at))
			cotest.IsTokens(t, err, nil)
			l := &line{}
			cotest.IsTokens(t, park(co, l, scheduler.Token(at)), nil)
			assert.Len(t, l.left, 1)
			assert.Equal(t, at.starts, at.stops)
			assert.Equal(t, quiet.starts, quiet.stops)
			assert.Zero(t, e.S.Stats().Ready)
			return nil
		})
		assert.Zero(t, e.W.Live())
	})
}

func TestScheduler_EVT11_AnEventThatCannotBeStarted(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			bad := newStarter(e, func(*starter) error { return errBoom })
			quiet := newStarter(e, func(*starter) error { return nil })
			_, err := co.Await(bad)
			assert.ErrorIs(t, err, errBoom)
			fired, _, err := co.AwaitFirst([]event.Event{quiet, bad}, scheduler.Timeout(time.Hour))
			assert.ErrorIs(t, err, errBoom)
			assert.Equal(t, -1, fired)
			_, err = co.Await(quiet, scheduler.Token(bad))
			assert.ErrorIs(t, err, errBoom)
			l := &line{}
			assert.ErrorIs(t, park(co, l, scheduler.Token(bad)), errBoom)
			assert.Len(t, l.left, 1)
			assert.Equal(t, quiet.starts, quiet.stops)
			assert.Zero(t, bad.Callbacks())
			assert.Zero(t, quiet.Callbacks())
			assert.Zero(t, e.W.Live())
			return co.Yield()
		})
	})
}

func TestScheduler_EVT11_ACancellationWhileTheEventIsStarted(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, happens := range []bool{false, true} {
			var got error
			e.MustRun(func(co *scheduler.Coroutine) error {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					ev := newStarter(e, func(s *starter) error {
						if happens {
							assert.NoError(t, s.Notify(nil, nil))
						}
						return co.Cancel(errStop)
					})
					_, got = co.Await(ev)
					assert.Equal(t, ev.starts, ev.stops)
					return nil
				})
				return nil
			})
			cotest.IsCancelled(t, got, errStop)
		}
	})
}

func TestScheduler_GEN06_SharedPeriodicTimersAreStartedAndStoppedInBalance(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		timer, err := e.W.(reactortest.Real).Loop.NewPeriodicTimer(ms)
		require.NoError(t, err)
		e.MustRun(func(co *scheduler.Coroutine) error {
			for i := range 5 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					for range i + 1 {
						if _, _, err := co.AwaitFirst([]event.Event{timer, timer}); err != nil {
							return err
						}
					}
					return nil
				})
			}
			_, err := co.Await(timer)
			return err
		})
		assert.False(t, timer.Started())
		assert.Zero(t, e.W.Live())
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_GEN06_ARearmInAnEarlierCallbackSurvives(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		timer, err := e.W.(reactortest.Real).Loop.NewRearmingTimer(ms)
		require.NoError(t, err)
		fired := 0
		cb, err := timer.OnFire(func() {
			if fired++; fired < 4 {
				assert.NoError(t, timer.Rearm(ms))
			}
		})
		require.NoError(t, err)
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 3 { // they come after the callback, and must not stop what it has started
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(timer, scheduler.Timeout(time.Hour))
					return err
				})
			}
			_, _, err := co.AwaitFirst([]event.Event{timer, timer})
			require.NoError(t, err)
			_ = co.Yield()
			assert.True(t, timer.Started(), "the callback's start is its own")
			for fired < 4 {
				if _, err := co.Await(timer); err != nil {
					return err
				}
			}
			return nil
		})
		assert.Equal(t, 4, fired)
		assert.False(t, timer.Started())
		assert.Zero(t, e.W.Live())
		assert.True(t, timer.DelCallback(cb))
		require.NoError(t, timer.Close())
	})
}
