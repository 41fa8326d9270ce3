package channel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func newScope(t *testing.T, parent *scheduler.Scope) *scheduler.Scope {
	s, err := parent.New()
	require.NoError(t, err)
	s.SetSafe(false)
	return s
}

func TestChannel_CHAN33_ClosesWithItsScope(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		root := co.Scope()
		mine, sibling := newScope(t, root), newScope(t, root)
		nested := newScope(t, mine)
		tr := &trace{t: t}
		c, deep, other, ofRoot := newChannel[int](t, mine, 0), newChannel[int](t, nested, 0), newChannel[int](t, sibling, 0), newChannel[int](t, co, 0)
		tr.receiver(co, c, "a waiter of another scope")
		tr.sender(co, deep, "a sender of another scope", 1)
		settle(t, co)
		mine.Cancel(errBoom)
		assert.Equal(t, channel.ErrScopeDisposed, c.Reason())
		assert.Equal(t, channel.ErrScopeDisposed, deep.Reason(), "nested scopes cascade")
		assert.NoError(t, other.Reason())
		assert.NoError(t, ofRoot.Reason())
		settle(t, co)
		tr.is("a waiter of another scope: closed scope-disposed", "a sender of another scope: closed scope-disposed")

		late, err := channel.New[int](mine, 0)
		require.NoError(t, err)
		assert.Equal(t, channel.ErrScopeDisposed, late.Reason(), "made in a scope that is gone")
		require.NoError(t, other.Close())
		require.NoError(t, ofRoot.Close())
	})
}

func TestChannel_CHAN33_BelongsToTheScopeCurrentAtItsCreation(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		scope, tr := newScope(t, co.Scope()), &trace{t: t}
		var c *channel.Channel[int]
		tr.spawn(scope, func(co *scheduler.Coroutine) error {
			c = newChannel[int](t, co, 0)
			return nil
		})
		settle(t, co)
		scope.Cancel(nil)
		assert.Equal(t, channel.ErrScopeDisposed, c.Reason())
	})
}

func TestChannel_CHAN34_AWaiterOfTheCancelledScopeHasBothErrors(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			scope, tr := newScope(t, co.Scope()), &trace{t: t}
			in, out := newChannel[int](t, scope, capacity), newChannel[int](t, scope, capacity)
			for range capacity {
				require.NoError(t, out.Send(co, 0))
			}
			tr.receiver(scope, in, "woken")
			tr.receiver(scope, in, "r")
			tr.sender(scope, out, "s", 1)
			tr.spawn(scope, func(co *scheduler.Coroutine) error {
				_, err := channel.Select(co, []channel.Case{in.RecvCase(nil), out.SendCase(1)})
				tr.add("select: ", short(err))
				assert.True(t, event.IsCancellation(err), "a body may return it: %v", err)
				return err
			})
			settle(t, co)
			require.NoError(t, in.Send(co, 7))
			scope.Cancel(errBoom)
			assert.Equal(t, 1, in.Len(), "CHAN-35: what was sent can be drained")
			settle(t, co)
			const both = ": closed scope-disposed cancelled boom"
			assert.ElementsMatch(t, []string{"woken" + both, "r" + both, "s" + both, "select" + both}, tr.got)
			v, err := in.Recv(co)
			require.NoError(t, err)
			assert.Equal(t, 7, v)
		})
	}
}

func TestChannel_CHAN35_AChannelOfADisposedScopeDrains(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		scope := newScope(t, co.Scope())
		c := newChannel[int](t, scope, 2)
		require.NoError(t, c.Send(co, 1))
		scope.Cancel(nil)
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
		_, err = c.Recv(co)
		assert.Equal(t, "closed scope-disposed", short(err))
		assert.Equal(t, "closed scope-disposed", short(c.Send(co, 2)))
	})
}

func TestChannel_CHAN36_AScopeThatFinishesByItselfLeavesItOpen(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		scope, tr := newScope(t, co.Scope()), &trace{t: t}
		c := newChannel[int](t, scope, 1)
		tr.sender(scope, c, "s", 1)
		settle(t, co)
		tr.is("s sent 1")
		assert.False(t, c.Closed())
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
	})
}

func TestChannel_CHAN36_AScopeThatIsGoneLeavesItOpen(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		var c *channel.Channel[int]
		(&trace{t: t}).spawn(co, func(co *scheduler.Coroutine) error {
			return co.OnFinally(func(self, _ *scheduler.Coroutine) error {
				c = newChannel[int](t, self, 1) // in a scope that ends with its last coroutine
				return c.Send(self, 1)
			})
		})
		settle(t, co)
		assert.False(t, c.Closed())
		v, err := c.Recv(co)
		require.NoError(t, err)
		assert.Equal(t, 1, v)
	})
}

func TestChannel_CHAN36_AClosedChannelIsNoMatterOfItsScope(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		scope := newScope(t, co.Scope())
		a, b, c := newChannel[int](t, scope, 0), newChannel[int](t, scope, 0), newChannel[int](t, scope, 0)
		require.NoError(t, b.Close())
		scope.Cancel(nil)
		assert.Equal(t, channel.ErrCloseCalled, b.Reason())
		assert.Equal(t, channel.ErrScopeDisposed, a.Reason())
		assert.Equal(t, channel.ErrScopeDisposed, c.Reason())
	})
}

func TestChannel_SHUT07_TheEndOfTheRunClosesItsChannels(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		var c *channel.Channel[int]
		var happened []error
		require.NoError(t, e.Run(func(co *scheduler.Coroutine) error {
			c = newChannel[int](t, co, 0)
			_, err := c.AsEvent().Subscribe(func(_ *event.Base, _ *event.Callback, _ any, err error) { happened = append(happened, err) })
			return err
		}))
		if assert.Len(t, happened, 1) {
			assert.Equal(t, "closed scope-disposed", short(happened[0]))
		}
	})
}
