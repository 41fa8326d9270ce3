package cosync_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
)

// callers starts coroutines that call Do one after the other, each with its own outcome of the work, and logs what they get.
func callers(s *scene, o *cosync.Once, works ...body) {
	for i, work := range works {
		s.spawn(fmt.Sprint(i), func(co *coroutine) error {
			err := o.Do(co, func(co *coroutine) error {
				s.log = append(s.log, fmt.Sprint(i, " works"))
				if err := s.gate.pass(co); err != nil {
					return err
				}
				return work(co)
			})
			if err != nil {
				s.log = append(s.log, fmt.Sprint(i, ": ", short(err)))
			} else {
				s.log = append(s.log, fmt.Sprint(i, " goes on"))
			}
			return nil
		})
	}
	s.yield()
}

func fails(*coroutine) error { return errBoom }

func TestOnce_OneDoesTheWorkAndTheOthersWaitForIt(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var o cosync.Once
		s := &scene{t: t, co: co}
		assert.Equal(t, "once, not done", o.Info())
		callers(s, &o, nothing, fails, fails)
		assert.Equal(t, cosync.OnceStats{Worker: s.all[0], Waiting: 2}, o.Stats())
		assert.False(t, o.Done())
		s.gate.open()
		s.yield()
		s.yield()
		s.is("0 works", "0 goes on", "1 goes on", "2 goes on")
		assert.True(t, o.Done())
		require.NoError(t, o.Do(co, fails), "done is done")
		assert.Equal(t, cosync.OnceStats{Done: true}, o.Stats())
		assert.Equal(t, "once, done", o.Info())
	})
}

func TestOnce_AFailureIsTheCallersAndTheNextInLineTries(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var o cosync.Once
		s := &scene{t: t, co: co}
		callers(s, &o, fails, nothing, fails)
		s.gate.open()
		for range 4 {
			s.yield()
		}
		s.is("0 works", "0: boom", "1 works", "1 goes on", "2 goes on")
	})
}

func TestOnce_CANC03_ACancelledWorkerLeavesTheWorkToTheNext(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var o cosync.Once
		s := &scene{t: t, co: co}
		callers(s, &o, nothing, nothing)
		s.gate.opened = true // for the second one
		require.NoError(t, s.all[0].Cancel(nil))
		for range 4 {
			s.yield()
		}
		s.is("0 works", "0: cancelled", "1 works", "1 goes on")
	})
}

func TestOnce_APanicLeavesTheWorkUndone(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var o cosync.Once
		assert.PanicsWithValue(t, "boom", func() { _ = o.Do(co, func(*coroutine) error { panic("boom") }) })
		assert.Equal(t, cosync.OnceStats{}, o.Stats())
		require.NoError(t, o.Do(co, nothing))
	})
}

func TestOnce_WorkThatSucceedsIsDoneEvenIfItsCoroutineWasCancelled(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var o cosync.Once
		worker, err := co.Spawn(func(co *coroutine) error {
			return o.Do(co, func(co *coroutine) error { return errors.Join(co.Cancel(nil)) })
		})
		require.NoError(t, err)
		_, _ = co.Await(worker)
		assert.True(t, o.Done())
	})
}

func TestOnce_DoWithinDoIsRefusedInsteadOfADeadlock(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *coroutine) {
		var o cosync.Once
		err := o.Do(co, func(co *coroutine) error { return o.Do(co, nothing) })
		assert.ErrorIs(t, err, event.ErrUsage)
		assert.ErrorContains(t, err, `coroutine 1 "main" is doing the work already`)
		assert.ErrorIs(t, o.Do(co, nil), event.ErrInvalidArgument)
		assert.False(t, o.Done())
	})
}
