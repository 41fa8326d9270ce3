package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// starving is a hook before the verdict.
type starving struct {
	scheduler.StarvingNode
	help func() bool
}

func (s *starving) Starve() bool { return s.help() }

func newStarving(e *cotest.Env, name string, help func() bool) *starving {
	s := &starving{help: func() bool { e.Say(name); return help() }}
	e.S.Starving(&s.StarvingNode, s)
	return s
}

func no() bool { return false }

func TestScheduler_DEAD05_WhoMayHelpIsAskedInOrderUntilSomebodyWasWoken(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			g := e.Gate()
			a := newStarving(e, "a", no)
			b := newStarving(e, "b", func() bool { g.Open(nil, nil); return true })
			c := newStarving(e, "c", no)
			e.S.Starving(&a.StarvingNode, a) // it stays where it is
			require.NoError(t, cotest.Waiter(g)(co))
			assert.Equal(t, []string{"a", "b"}, e.Said())
			a.Release()
			a.Release()
			b.help = no
			e.S.Starving(&a.StarvingNode, a)
			defer c.Release()
			return cotest.Waiter(g)(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"c", "a"}, e.Said(), "b was replaced by one that says nothing")
	})
}

func TestScheduler_DEAD05_WhoWasTakenOutOfTheListIsNotAsked(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			var b *starving
			newStarving(e, "a", func() bool { b.Release(); return false })
			b = newStarving(e, "b", no)
			newStarving(e, "c", no)
			return cotest.Waiter(e.Gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"a", "c"}, e.Said())
	})
}

func TestScheduler_DEAD05_WhatAHookHasSetGoingCancelsTheVerdict(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, how := range []func(open func()){
				func(open func()) { require.NoError(t, e.S.Microtask(func() error { open(); return nil })) },
				func(open func()) { require.NoError(t, e.S.Post(open)) },
				func(open func()) { e.After(ms, open) },
			} {
				g := e.Gate()
				h := newStarving(e, "asked", func() bool { how(func() { g.Open(nil, nil) }); return false })
				if _, err := co.Await(g); err != nil {
					return err
				}
				h.Release()
			}
			return nil
		})
	})
}

func TestScheduler_DEAD05_AHookThatPanicsFailsTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			newStarving(e, "bad", func() bool { panic(errBoom) })
			return cotest.Waiter(e.Gate())(co)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"bad"}, e.Said())
	})
}
