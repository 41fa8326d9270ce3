package scheduler_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_DEAD04_HiddenTimersDoNotPreventIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		timer := e.Timer(time.Hour)
		timer.SetHidden(true)
		require.NoError(t, timer.Start())
		deadline := e.W.NewDeadline(func() {})
		deadline.SetHidden(true)
		require.NoError(t, deadline.Start(time.Hour))
		from := e.W.Now()
		isDeadlock(t, e.Run(cotest.Waiter(e.Gate())), 1)
		assert.Less(t, e.W.Now().Sub(from), time.Hour)
		assert.True(t, timer.Started(), "it is not the run's to stop")
		deadline.Stop()
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_DEAD04_VisibleEventsPreventIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			e.After(3*ms, func() { g.Open(nil, nil) })
			return cotest.Waiter(g)(co)
		})
		e.MustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(e.Gate(), scheduler.Timeout(3*ms))
			cotest.IsTimeout(t, err)
			var l line
			cotest.IsTimeout(t, park(co, &l, scheduler.Timeout(3*ms)))
			_, err = co.Await(e.Gate(), scheduler.Token(e.Timer(3*ms)))
			cotest.IsTokens(t, err, nil)
			return nil
		})
	})
}

func TestScheduler_DEAD04_WhatComesFromOutsidePreventsIt(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		l := e.W.(reactortest.Real).Loop
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer func() { assert.NoError(t, r.Close()) }()
		poll, err := l.NewPoll(int(r.Fd()), reactor.Readable)
		require.NoError(t, err)
		trigger := e.Trigger()
		sig, err := l.NewSignal(syscall.SIGUSR2)
		require.NoError(t, err)
		e.MustRun(func(co *scheduler.Coroutine) error {
			for i, ev := range []event.Event{poll, trigger, sig} {
				go func() { // each happens at any time, before the wait begins or while it lasts
					switch i {
					case 0:
						_ = w.Close()
					case 1:
						trigger.Fire()
					}
				}()
				if i == 2 { // it must not come before somebody watches
					e.After(2*ms, func() { assert.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGUSR2)) })
				}
				_, err := co.Await(ev)
				require.NoError(t, err)
			}
			return nil
		})
		require.NoError(t, errors.Join(poll.Close(), trigger.Close(), sig.Close()))
	})
}

func TestScheduler_DEAD05_WhatHasHappenedAlreadyIsLookedAtFirst(t *testing.T) {
	happen := map[string]func(e *cotest.Env, open func()){
		"a post": func(e *cotest.Env, open func()) { require.NoError(e.T, e.S.Post(open)) },
		"a microtask": func(e *cotest.Env, open func()) {
			require.NoError(e.T, e.S.Microtask(func() error { open(); return nil }))
		},
		"a hidden timer that is due": func(e *cotest.Env, open func()) {
			timer := e.Timer(0)
			timer.SetHidden(true)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { open() })
			require.NoError(e.T, err)
			require.NoError(e.T, timer.Start())
		},
		"a hidden trigger that fired": func(e *cotest.Env, open func()) {
			trigger := e.Trigger()
			trigger.SetHidden(true)
			_, err := trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { open() })
			require.NoError(e.T, err)
			require.NoError(e.T, trigger.Start())
			e.T.Cleanup(func() { assert.NoError(e.T, trigger.Close()) })
			trigger.Fire()
		},
		"a post that posts": func(e *cotest.Env, open func()) {
			require.NoError(e.T, e.S.Post(func() { assert.NoError(e.T, e.S.Post(open)) }))
		},
		"a post that spawns": func(e *cotest.Env, open func()) {
			require.NoError(e.T, e.S.Post(func() {
				e.Spawn(e.S.Main(), func(co *scheduler.Coroutine) error { open(); return nil })
			}))
		},
	}
	for name, arrange := range happen {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					g := e.Gate()
					arrange(e, func() { g.Open(nil, nil) })
					return cotest.Waiter(g)(co)
				})
			})
		})
	}
}

func TestScheduler_DEAD07_WhatStartedInThisTurnCounts(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(*scheduler.Coroutine) error {
				e.After(2*ms, func() { g.Open(nil, nil) })
				return nil
			})
			return cotest.Waiter(g)(co)
		})
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer g.Open(nil, nil)
				return co.Delay(2 * ms)
			})
			return cotest.Waiter(g)(co)
		})
	})
}

func TestScheduler_DEAD09_WhoIsWokenIsNeverReported(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			var l line
			g := e.Gate()
			parked := e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer g.Open(nil, nil)
				return park(co, &l)
			})
			require.NoError(t, co.Yield())
			require.NoError(t, parked.Unpark())
			if err := cotest.Waiter(g)(co); err != nil {
				return err
			}
			assert.Empty(t, l.left)
			return nil
		})
	})
}
