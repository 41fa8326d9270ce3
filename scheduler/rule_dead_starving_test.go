package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

// starving is a hook before the verdict.
type starving struct {
	scheduler.StarvingNode
	help func() bool
}

func (s *starving) Starve() bool { return s.help() }

func (e *env) starving(name string, help func() bool) *starving {
	s := &starving{help: func() bool { e.say(name); return help() }}
	e.s.Starving(&s.StarvingNode, s)
	return s
}

func no() bool { return false }

func TestScheduler_DEAD05_WhoMayHelpIsAskedInOrderUntilSomebodyWasWoken(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			g := e.gate()
			a := e.starving("a", no)
			b := e.starving("b", func() bool { g.open(nil, nil); return true })
			c := e.starving("c", no)
			e.s.Starving(&a.StarvingNode, a) // it stays where it is
			require.NoError(t, waiter(g)(co))
			assert.Equal(t, []string{"a", "b"}, e.said())
			a.Release()
			a.Release()
			b.help = no
			e.s.Starving(&a.StarvingNode, a)
			defer c.Release()
			return waiter(g)(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"c", "a"}, e.said(), "b was replaced by one that says nothing")
	})
}

func TestScheduler_DEAD05_WhoWasTakenOutOfTheListIsNotAsked(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			var b *starving
			e.starving("a", func() bool { b.Release(); return false })
			b = e.starving("b", no)
			e.starving("c", no)
			return waiter(e.gate())(co)
		})
		isDeadlock(t, err, 1)
		assert.Equal(t, []string{"a", "c"}, e.said())
	})
}

func TestScheduler_DEAD05_WhatAHookHasSetGoingCancelsTheVerdict(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, how := range []func(open func()){
				func(open func()) { require.NoError(t, e.s.Microtask(func() error { open(); return nil })) },
				func(open func()) { require.NoError(t, e.s.Post(open)) },
				func(open func()) { e.after(ms, open) },
			} {
				g := e.gate()
				h := e.starving("asked", func() bool { how(func() { g.open(nil, nil) }); return false })
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
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.starving("bad", func() bool { panic(errBoom) })
			return waiter(e.gate())(co)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"bad"}, e.said())
	})
}
