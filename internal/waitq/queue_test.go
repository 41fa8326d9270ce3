package waitq_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

func TestQueue_GEN04_ServesInTheOrderOfArrival(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, done := newTickets(0), []string{}
		takers(t, co, k, &done, "a", "b", "c")
		for range 3 {
			k.put()
		}
		assert.Equal(t, 3, k.queue.Reserved())
		assert.Zero(t, k.queue.Waiting())
		yields(t, co)
		assert.Equal(t, []string{"a", "b", "c"}, done)
		assert.Zero(t, k.queue.Reserved())
		assert.Zero(t, k.free)
		return nil
	})
}

func TestQueue_GEN04_RemovingOneKeepsTheOrderOfTheOthers(t *testing.T) {
	for _, leaves := range []string{"a", "b", "c", "d"} {
		simulate(t, func(co *scheduler.Coroutine) error {
			k, done := newTickets(0), []string{}
			all := takers(t, co, k, &done, "a", "b", "c", "d")
			all[leaves].Cancel(errors.New("gone"))
			rest := map[string][]string{"a": {"b", "c", "d"}, "b": {"a", "c", "d"}, "c": {"a", "b", "d"}, "d": {"a", "b", "c"}}[leaves]
			assert.Equal(t, rest, k.waiting(), "in the step of the cancellation")
			assert.Equal(t, []string{leaves}, k.departed)
			for range 3 {
				k.put()
			}
			yields(t, co)
			assert.Equal(t, leaves+": cancelled: gone", done[0])
			assert.Equal(t, rest, done[1:])
			return nil
		})
	}
}

func TestQueue_GEN01_AReservationIsNobodyElses(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, done := newTickets(0), []string{}
		takers(t, co, k, &done, "a")
		k.put()
		assert.False(t, k.tryTake())
		assert.Equal(t, [2]int{0, 1}, [2]int{k.queue.Waiting(), k.queue.Reserved()})
		assert.Empty(t, done, "a wake-up does not run the coroutine")
		yields(t, co)
		assert.Equal(t, []string{"a"}, done)
		return nil
	})
}

func TestQueue_GEN02_ACancellationWinsOverAWakeUp(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, done := newTickets(0), []string{}
		all := takers(t, co, k, &done, "a", "b")
		k.put()
		all["a"].Cancel(nil)
		assert.Equal(t, []string{"a"}, k.departed)
		assert.Equal(t, 1, k.queue.Reserved(), "passed on in the same step")
		assert.Zero(t, k.queue.Waiting())
		yields(t, co)
		assert.Equal(t, []string{"a: cancelled", "b"}, sorted(done))
		return nil
	})
}

func TestQueue_GEN05_WhatNobodyTakesIsFreeAgain(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, done := newTickets(0), []string{}
		all := takers(t, co, k, &done, "a", "b")
		k.put()
		k.put()
		all["a"].Cancel(nil)
		all["b"].Cancel(nil)
		assert.Equal(t, 2, k.free)
		assert.Zero(t, k.queue.Reserved())
		yields(t, co)
		assert.Len(t, done, 2)
		return nil
	})
}

func TestQueue_RejectWakesWithAnErrorAndLeavesReservationsAlone(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, done := newTickets(0), []string{}
		takers(t, co, k, &done, "a", "b", "c")
		k.put()
		k.queue.RejectAll(errClosed)
		assert.Zero(t, k.queue.Waiting())
		assert.Equal(t, 1, k.queue.Reserved())
		yields(t, co)
		assert.Equal(t, []string{"a", "b: closed", "c: closed"}, done)
		assert.Empty(t, k.departed, "who is turned away does not depart")
		return nil
	})
}

func TestQueue_ReleaseSetsNothingAside(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, done := newTickets(0), []string{}
		all := takers(t, co, k, &done, "a", "b")
		k.queue.Release(k.queue.First())
		k.queue.Release(k.queue.First())
		assert.Zero(t, k.queue.Waiting()+k.queue.Reserved())
		all["b"].Cancel(nil)
		assert.Empty(t, k.departed)
		yields(t, co)
		assert.Equal(t, []string{"a", "b: cancelled"}, sorted(done))
		return nil
	})
}

func TestQueue_ATimeoutAndATokenLeave(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k := newTickets(0)
		assert.ErrorIs(t, k.take(co, "a", scheduler.Timeout(time.Minute)), event.ErrTimeout)
		assert.Equal(t, []string{"a"}, k.departed)

		token, err := co.Spawn(func(co *scheduler.Coroutine) error { return co.Delay(time.Second) })
		require.NoError(t, err)
		var cancelled *event.CancelledError
		require.ErrorAs(t, k.take(co, "b", scheduler.Token(token)), &cancelled)
		assert.True(t, cancelled.Token)
		require.ErrorAs(t, k.take(co, "a token that has fired", scheduler.Token(token)), &cancelled)
		assert.Equal(t, []string{"a", "b", "a token that has fired"}, k.departed)
		assert.Zero(t, k.queue.Waiting())
		return nil
	})
}

func TestQueue_AWaitThatNeverBeganIsUndone(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k := newTickets(0)
		assert.ErrorIs(t, k.take(co, "a", scheduler.Timeout(-1)), event.ErrInvalidArgument)
		assert.Zero(t, k.queue.Waiting())
		return nil
	})
}

func TestQueue_AWaiterWithoutACoroutine(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k := newTickets(0)
		future := k.queue.Push(nil, "future")
		assert.Nil(t, future.Coroutine())
		assert.True(t, future.Waiting())
		assert.Equal(t, "tickets: take", future.Info())
		k.put()
		assert.True(t, future.Reserved())
		future.Take()
		assert.Zero(t, k.queue.Reserved())
		future.Take()
		future.Leave(nil)
		assert.Empty(t, k.departed, "it is gone already")
		future.Free()

		again := k.queue.Push(nil, "again")
		assert.Same(t, future, again, "waiters are used again")
		k.put()
		again.Leave(nil)
		assert.Equal(t, 1, k.free)
		again.Free()
		return nil
	})
}

func TestQueue_PushBefore_ComesBackToItsPlace(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k := newTickets(0)
		b := k.queue.Push(nil, "b")
		d := k.queue.Push(nil, "d")
		k.queue.PushBefore(b, nil, "a")
		c := k.queue.PushBefore(d, nil, "c")
		k.queue.PushBefore(nil, nil, "e")
		assert.Equal(t, []string{"a", "b", "c", "d", "e"}, k.waiting())
		assert.Equal(t, 5, k.queue.Waiting())
		b.Leave(nil)
		c.Leave(nil)
		assert.Equal(t, []string{"a", "d", "e"}, k.waiting())
		assert.Panics(t, func() { k.queue.PushBefore(b, nil, "x") }, "it is not in line")
		for w := k.queue.First(); w != nil; w = k.queue.First() {
			k.put()
			w.Take()
		}
		return nil
	})
}

func TestClosedAndCancelled_CHAN34_IsACancellationThatKnowsTheClosing(t *testing.T) {
	closed := &event.ClosedError{Call: "lock: acquire", What: "the lock"}
	reason := errors.New("enough")
	err := waitq.ClosedAndCancelled(&event.CancelledError{Reason: reason}, closed)
	assert.True(t, event.IsCancellation(err))
	assert.ErrorIs(t, err, event.ErrClosed)
	assert.ErrorIs(t, err, reason)

	token := &event.CancelledError{Token: true}
	assert.Same(t, token, waitq.ClosedAndCancelled(token, closed), "only the wait was cancelled")
	assert.Same(t, closed, waitq.ClosedAndCancelled(closed, closed))

	both := event.WithCause(closed, &event.CancelledError{Reason: reason})
	err = waitq.ClosedAndCancelled(both, closed)
	assert.True(t, event.IsCancellation(err), "closed first, cancelled then")
	assert.ErrorIs(t, err, event.ErrClosed)
	assert.ErrorIs(t, err, reason)

	failed := event.WithCause(errors.New("boom"), &event.CancelledError{Reason: reason})
	assert.Same(t, failed, waitq.ClosedAndCancelled(failed, closed), "a failure is not lost")
}

func TestQueue_MisuseByItsOwnerIsFatal(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k, other := newTickets(0), newTickets(0)
		w := k.queue.Push(nil, "w")
		assert.Panics(t, w.Free, "it stands in line")
		assert.Panics(t, func() { other.queue.Reserve(w) })
		k.queue.Reserve(w)
		assert.Panics(t, func() { k.queue.Reserve(w) })
		assert.Panics(t, func() { k.queue.Release(w) })
		w.Take()
		w.Free()
		assert.Panics(t, w.Free)
		return nil
	})
}

func TestQueue_WaitingAllocatesNothing(t *testing.T) {
	simulate(t, func(co *scheduler.Coroutine) error {
		k := newTickets(0)
		taken := 0
		taker, err := co.Spawn(func(co *scheduler.Coroutine) error {
			for {
				if err := k.take(co, "a"); err != nil {
					return err
				}
				taken++
			}
		})
		require.NoError(t, err)
		yields(t, co)
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			k.put()
			_ = co.Yield()
		}))
		assert.Equal(t, 101, taken)
		taker.Cancel(nil)
		return nil
	})
}
