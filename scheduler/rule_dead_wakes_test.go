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
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_DEAD04_HiddenTimersDoNotPreventIt(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		timer := e.timer(time.Hour)
		timer.SetHidden(true)
		require.NoError(t, timer.Start())
		deadline := e.w.NewDeadline(func() {})
		deadline.SetHidden(true)
		require.NoError(t, deadline.Start(time.Hour))
		from := e.w.Now()
		isDeadlock(t, e.run(waiter(e.gate())), 1)
		assert.Less(t, e.w.Now().Sub(from), time.Hour)
		assert.True(t, timer.Started(), "it is not the run's to stop")
		deadline.Stop()
		require.NoError(t, timer.Close())
	})
}

func TestScheduler_DEAD04_VisibleEventsPreventIt(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			g := e.gate()
			e.after(3*ms, func() { g.open(nil, nil) })
			return waiter(g)(co)
		})
		e.mustRun(func(co *scheduler.Coroutine) error {
			_, err := co.Await(e.gate(), scheduler.Timeout(3*ms))
			isTimeout(t, err)
			var l line
			isTimeout(t, park(co, &l, scheduler.Timeout(3*ms)))
			_, err = co.Await(e.gate(), scheduler.Token(e.timer(3*ms)))
			isTokens(t, err, nil)
			return nil
		})
	})
}

func TestScheduler_DEAD04_WhatComesFromOutsidePreventsIt(t *testing.T) {
	onLibuv(t, func(t *testing.T, e *env) {
		l := e.w.(reactortest.Real).Loop
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer func() { assert.NoError(t, r.Close()) }()
		poll, err := l.NewPoll(int(r.Fd()), reactor.Readable)
		require.NoError(t, err)
		trigger := e.trigger()
		sig, err := l.NewSignal(syscall.SIGUSR2)
		require.NoError(t, err)
		e.mustRun(func(co *scheduler.Coroutine) error {
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
					e.after(2*ms, func() { assert.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGUSR2)) })
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
	happen := map[string]func(e *env, open func()){
		"a post":      func(e *env, open func()) { require.NoError(e.t, e.s.Post(open)) },
		"a microtask": func(e *env, open func()) { require.NoError(e.t, e.s.Microtask(func() error { open(); return nil })) },
		"a hidden timer that is due": func(e *env, open func()) {
			timer := e.timer(0)
			timer.SetHidden(true)
			_, err := timer.Subscribe(func(*event.Base, *event.Callback, any, error) { open() })
			require.NoError(e.t, err)
			require.NoError(e.t, timer.Start())
		},
		"a hidden trigger that fired": func(e *env, open func()) {
			trigger := e.trigger()
			trigger.SetHidden(true)
			_, err := trigger.Subscribe(func(*event.Base, *event.Callback, any, error) { open() })
			require.NoError(e.t, err)
			require.NoError(e.t, trigger.Start())
			e.t.Cleanup(func() { assert.NoError(e.t, trigger.Close()) })
			trigger.Fire()
		},
		"a post that posts": func(e *env, open func()) {
			require.NoError(e.t, e.s.Post(func() { assert.NoError(e.t, e.s.Post(open)) }))
		},
		"a post that spawns": func(e *env, open func()) {
			require.NoError(e.t, e.s.Post(func() {
				e.spawn(e.s.Main(), func(co *scheduler.Coroutine) error { open(); return nil })
			}))
		},
	}
	for name, arrange := range happen {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				e.mustRun(func(co *scheduler.Coroutine) error {
					g := e.gate()
					arrange(e, func() { g.open(nil, nil) })
					return waiter(g)(co)
				})
			})
		})
	}
}

func TestScheduler_DEAD07_WhatStartedInThisTurnCounts(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		g := e.gate()
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error {
				e.after(2*ms, func() { g.open(nil, nil) })
				return nil
			})
			return waiter(g)(co)
		})
		e.mustRun(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer g.open(nil, nil)
				return co.Delay(2 * ms)
			})
			return waiter(g)(co)
		})
	})
}

func TestScheduler_DEAD09_WhoIsWokenIsNeverReported(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			var l line
			g := e.gate()
			parked := e.spawn(co, func(co *scheduler.Coroutine) error {
				defer g.open(nil, nil)
				return park(co, &l)
			})
			require.NoError(t, co.Yield())
			require.NoError(t, parked.Unpark())
			if err := waiter(g)(co); err != nil {
				return err
			}
			assert.Empty(t, l.left)
			return nil
		})
	})
}
