package event

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBase_EVT07_SubscribingToACompletedEventReplaysItsOutcome(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprint("closed ", closed), func(t *testing.T) {
			e := newTestEvent(0)
			e.kind.done, e.kind.result, e.kind.err = true, 42, io.EOF
			if closed {
				e.MarkClosed()
			}
			var got calls
			cb := got.callback("a")
			require.NoError(t, e.AddCallback(cb))
			assert.Equal(t, calls{"a 42 EOF"}, got, "called before AddCallback returned")
			assert.Nil(t, cb.Event(), "a replay does not subscribe")
			assert.Zero(t, e.Callbacks())

			late, err := e.Subscribe(got.record("b"))
			require.NoError(t, err)
			assert.Nil(t, late.Event())
			require.NoError(t, e.AddCallback(cb), "a replayed callback is free to be used again")
			assert.Equal(t, calls{"a 42 EOF", "b 42 EOF", "a 42 EOF"}, got)
		})
	}
}

func TestBase_EVT07_ADisposedEventReplaysNothing(t *testing.T) {
	e := newTestEvent(0)
	e.kind.done = true
	e.Dispose()
	var got calls
	assert.ErrorIs(t, e.AddCallback(got.callback("a")), ErrClosed)
	_, ok, _ := e.Outcome()
	assert.False(t, ok)
	assert.Empty(t, got)
}

func TestBase_EVT09_CallbackRemovesItselfWhileNotifying(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for self := range n {
			t.Run(fmt.Sprintf("%d of %d", self, n), func(t *testing.T) {
				e := newTestEvent(0)
				var got calls
				for i := range n {
					record := got.record(fmt.Sprint(i))
					_, err := e.Subscribe(func(b *Base, cb *Callback, result any, err error) {
						record(b, cb, result, err)
						if i == self {
							assert.True(t, b.DelCallback(cb))
							assert.False(t, b.DelCallback(cb))
						}
					})
					require.NoError(t, err)
				}
				require.NoError(t, e.Notify(1, nil))
				var want calls
				for i := range n {
					want = append(want, fmt.Sprint(i, " 1 <nil>"))
				}
				assert.Equal(t, want, got, "in order, none skipped")
				assert.Equal(t, n-1, e.Callbacks())
				got = nil
				require.NoError(t, e.Notify(2, nil))
				assert.Len(t, got, n-1)
				assert.NotContains(t, got, fmt.Sprint(self, " 2 <nil>"))
				checkVector(t, &e.Base)
			})
		}
	}
}

// TestBase_EVT09_CallbackRemovesOthersWhileNotifying lets each of n callbacks remove each set of the n, itself included.
func TestBase_EVT09_CallbackRemovesOthersWhileNotifying(t *testing.T) {
	const n = 5
	for remover := range n {
		for set := range 1 << n {
			e := newTestEvent(0)
			var cbs [n]*Callback
			var called [n]int
			removed := func(i int) bool { return called[remover] > 0 && set&(1<<i) != 0 }
			for i := range n {
				cb, err := e.Subscribe(func(*Base, *Callback, any, error) {
					require.False(t, removed(i) && i != remover, "called after removal")
					called[i]++
					if i != remover {
						return
					}
					for k := range n {
						if set&(1<<k) != 0 {
							require.True(t, e.DelCallback(cbs[k]))
						}
					}
				})
				require.NoError(t, err)
				cbs[i] = cb
			}
			require.NoError(t, e.Notify(nil, nil))
			for i := range n {
				want := 1
				if i > remover && removed(i) {
					want = 0
				}
				require.Equal(t, want, called[i], "remover %d, set %05b, callback %d", remover, set, i)
			}
			checkVector(t, &e.Base)
		}
	}
}

func TestBase_EVT09_AllRemoveThemselvesAndAreCalledInOrder(t *testing.T) {
	const n = 100
	e := newTestEvent(0)
	var got []int
	for i := range n {
		_, err := e.Subscribe(func(b *Base, cb *Callback, _ any, _ error) {
			got = append(got, i)
			b.DelCallback(cb)
			assert.Equal(t, n-len(got), b.Callbacks())
		})
		require.NoError(t, err)
	}
	require.NoError(t, e.Notify(nil, nil))
	for i := range n {
		require.Equal(t, i, got[i])
	}
	assert.Zero(t, e.Callbacks())
}

func TestBase_EVT09_CallbacksThatRenewThemselvesKeepTheirOrder(t *testing.T) {
	e := newTestEvent(0)
	var got []int
	for i := range 6 {
		_, err := e.Subscribe(func(b *Base, cb *Callback, _ any, _ error) {
			got = append(got, i)
			cb.Retain()
			defer cb.Release()
			assert.True(t, b.DelCallback(cb))
			assert.NoError(t, b.AddCallback(cb))
		})
		require.NoError(t, err)
	}
	for range 3 {
		require.NoError(t, e.Notify(nil, nil))
		assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, got)
		got = nil
		checkVector(t, &e.Base)
	}
}

func TestBase_EVT09_CallbacksAddedWhileNotifyingWaitForTheNextTime(t *testing.T) {
	for n := 1; n <= 3; n++ {
		e := newTestEvent(0)
		var got calls
		for i := range n {
			record := got.record(fmt.Sprint("old", i))
			_, err := e.Subscribe(func(b *Base, cb *Callback, result any, err error) {
				record(b, cb, result, err)
				if i == 0 && result == 1 {
					_, err := b.Subscribe(got.record("new"))
					assert.NoError(t, err)
				}
			})
			require.NoError(t, err)
		}
		require.NoError(t, e.Notify(1, nil))
		assert.Len(t, got, n)
		assert.NotContains(t, got, "new 1 <nil>")
		require.NoError(t, e.Notify(2, nil))
		assert.Contains(t, got, "new 2 <nil>")
		assert.Len(t, got, 2*n+1)
	}
}

func TestBase_EVT09_RemoveAllAndAddWhileNotifying(t *testing.T) {
	for n := 1; n <= 4; n++ {
		e := newTestEvent(0)
		var got calls
		var cbs []*Callback
		for i := range n {
			cb, err := e.Subscribe(func(b *Base, _ *Callback, result any, err error) {
				got = append(got, fmt.Sprint("old", i))
				for _, cb := range cbs {
					assert.True(t, b.DelCallback(cb))
				}
				assert.Zero(t, b.Callbacks())
				assert.NoError(t, b.AddCallback(got.callback("new")))
				assert.Equal(t, 1, b.Callbacks())
			})
			require.NoError(t, err)
			cbs = append(cbs, cb)
		}
		require.NoError(t, e.Notify(1, nil))
		require.NoError(t, e.Notify(2, nil))
		assert.Equal(t, calls{"old0", "new 2 <nil>"}, got)
		checkVector(t, &e.Base)
	}
}

// request is what EVT-10 speaks of: a thing whose disposal clears the very error that is being delivered.
type request struct {
	Base
	kind testKind
}

func (r *request) complete(err error) error {
	r.kind.done, r.kind.err = true, err
	r.MarkClosed()
	_, _, err = r.Outcome()
	return r.Notify(r, err)
}

func TestBase_EVT10_DisposingTheRequestLeavesItsErrorToLaterCallbacks(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for disposer := range n {
			r := &request{}
			r.Init(&r.kind, nil, 0)
			r.kind.onDispose = func() { r.kind.done, r.kind.err = false, nil }
			var got []error
			dropped := 0
			for i := range n {
				cb := NewCallback(func(b *Base, _ *Callback, _ any, err error) {
					assert.Zero(t, r.kind.disposed, "the event is released when all were called")
					assert.Zero(t, dropped)
					if i == disposer {
						b.Dispose()
						b.Dispose()
					}
					got = append(got, err)
				}, func(*Callback) { dropped++ })
				require.NoError(t, r.AddCallback(cb))
				cb.Release()
			}
			require.NoError(t, r.complete(io.ErrUnexpectedEOF))
			require.Len(t, got, n)
			for _, err := range got {
				assert.Equal(t, io.ErrUnexpectedEOF, err)
			}
			assert.Equal(t, n, dropped)
			assert.Equal(t, 1, r.kind.disposed)
			assert.Zero(t, r.Callbacks())
		}
	}
}

func TestBase_EVT10_TheLastDisposeWhileNotifyingStopsAtOnce(t *testing.T) {
	for n := 1; n <= 2; n++ {
		e := newTestEvent(0)
		for range n {
			_, err := e.Subscribe(func(b *Base, _ *Callback, _ any, _ error) {
				b.Dispose()
				assert.True(t, b.Has(FlagClosed))
				assert.Equal(t, 1, e.kind.stopped)
				assert.Zero(t, e.live.Value())
				assert.NoError(t, b.Start(), "EVT-02")
				assert.False(t, b.Started())
			})
			require.NoError(t, err)
		}
		require.NoError(t, e.Start())
		require.NoError(t, e.Notify(nil, nil))
		assert.Equal(t, 1, e.kind.disposed)
		assert.NoError(t, e.Notify(nil, nil), "a disposed event has nobody to tell")
	}
}

func TestBase_EVT17_AClosedEventWithoutOutcomeRefusesSubscribersByName(t *testing.T) {
	e := newTestEvent(0)
	e.MarkClosed()
	var got calls
	cb := got.callback("a")
	err := e.AddCallback(cb)
	require.ErrorIs(t, err, ErrClosed)
	assert.EqualError(t, err, "event: AddCallback: test event is closed; make a new one")
	assert.Nil(t, cb.Event())
	_, err = e.Subscribe(got.record("b"))
	require.ErrorIs(t, err, ErrClosed)
	assert.EqualError(t, err, "event: Subscribe: test event is closed; make a new one")
	assert.Empty(t, got)
}

func TestBase_EVT18_TheHookRunsFirstAndMayReplaceTheOutcome(t *testing.T) {
	e := newTestEvent(0)
	var got calls
	for _, name := range []string{"a", "b"} {
		require.NoError(t, e.AddCallback(got.callback(name)))
	}
	e.SetNotifyHook(func(b *Base, result any, err error) (any, bool, error) {
		assert.Same(t, &e.Base, b)
		got = append(got, fmt.Sprint("hook ", result, " ", err))
		return "replaced", true, io.EOF
	})
	require.NoError(t, e.Notify(1, nil))
	assert.Equal(t, calls{"hook 1 <nil>", "a replaced EOF", "b replaced EOF"}, got)

	got = nil
	e.SetNotifyHook(nil)
	require.NoError(t, e.Notify(2, nil))
	assert.Equal(t, calls{"a 2 <nil>", "b 2 <nil>"}, got)
}

func TestBase_EVT18_TheHookMaySwallowTheNotification(t *testing.T) {
	for n := range 3 {
		e := newTestEvent(0)
		var got calls
		for range n {
			require.NoError(t, e.AddCallback(got.callback("a")))
		}
		hooks := 0
		e.SetNotifyHook(func(_ *Base, result any, err error) (any, bool, error) {
			hooks++
			return result, false, err
		})
		require.NoError(t, e.Notify(1, nil))
		require.NoError(t, e.Notify(2, nil))
		assert.Equal(t, 2, hooks, "it runs even when nobody is subscribed")
		assert.Empty(t, got)
		assert.Equal(t, n, e.Callbacks())
		checkVector(t, &e.Base)
	}
}

func TestBase_EVT18_TheHookMayChangeTheSubscriptionsAndDispose(t *testing.T) {
	e := newTestEvent(0)
	var got calls
	a, b := got.callback("a"), got.callback("b")
	require.NoError(t, e.AddCallback(a))
	require.NoError(t, e.AddCallback(b))
	e.SetNotifyHook(func(base *Base, result any, err error) (any, bool, error) {
		assert.True(t, base.DelCallback(a))
		assert.NoError(t, base.AddCallback(got.callback("c")))
		assert.ErrorIs(t, base.Notify(nil, nil), ErrUsage, "the hook is part of the notification")
		base.Dispose()
		return result, true, err
	})
	require.NoError(t, e.Notify(1, nil))
	assert.Equal(t, calls{"b 1 <nil>"}, got)
	assert.Equal(t, 1, e.kind.disposed)
	assert.Zero(t, e.Callbacks())
	require.NoError(t, e.Notify(2, nil))
	assert.Len(t, got, 1, "the hook of a disposed event does not run")
}

func TestBase_EVT19_ReplayIsSynchronousWithTheStoredOutcome(t *testing.T) {
	e := newTestEvent(0)
	var got calls
	cb := got.callback("a")
	require.NoError(t, e.AddCallback(cb))
	e.SetNotifyHook(func(*Base, any, error) (any, bool, error) { return nil, false, nil })
	err := e.Replay(cb)
	require.ErrorIs(t, err, ErrUsage)
	assert.EqualError(t, err, "event: Replay: test event has no stored outcome; subscribe with AddCallback to be called when it happens")
	assert.Empty(t, got)

	e.kind.done, e.kind.result, e.kind.err = true, "late", io.EOF
	require.NoError(t, e.Replay(cb))
	e.MarkClosed()
	require.NoError(t, e.Replay(cb))
	assert.Equal(t, calls{"a late EOF", "a late EOF"}, got)
	assert.Same(t, &e.Base, cb.Event(), "a replay leaves the subscription as it was")

	result, ok, err := e.Outcome()
	assert.Equal(t, []any{"late", true, io.EOF}, []any{result, ok, err})
}

func TestBase_NestedNotifyIsRefused(t *testing.T) {
	for n := 1; n <= 3; n++ {
		e := newTestEvent(0)
		called := 0
		for range n {
			_, err := e.Subscribe(func(b *Base, _ *Callback, _ any, _ error) {
				called++
				err := b.Notify(nil, nil)
				assert.ErrorIs(t, err, ErrUsage)
				assert.EqualError(t, err, "event: Notify: test event is already notifying its callbacks; return from the callback first, or post the second notification to the loop")
			})
			require.NoError(t, err)
		}
		require.NoError(t, e.Notify(nil, nil))
		assert.Equal(t, n, called)
		require.NoError(t, e.Notify(nil, nil), "afterwards it is free again")
		assert.Equal(t, 2*n, called)
	}
}

func TestBase_AnEventMayNotifyAnotherWhichChangesTheFirst(t *testing.T) {
	outer, inner := newTestEvent(0), newTestEvent(0)
	var got calls
	victim := got.callback("victim")
	_, err := inner.Subscribe(func(*Base, *Callback, any, error) {
		got = append(got, "inner")
		outer.DelCallback(victim)
		assert.ErrorIs(t, outer.Notify(nil, nil), ErrUsage)
	})
	require.NoError(t, err)
	_, err = outer.Subscribe(func(*Base, *Callback, any, error) { assert.NoError(t, inner.Notify(nil, nil)) })
	require.NoError(t, err)
	require.NoError(t, outer.AddCallback(victim))
	require.NoError(t, outer.AddCallback(got.callback("last")))
	require.NoError(t, outer.Notify(1, nil))
	assert.Equal(t, calls{"inner", "last 1 <nil>"}, got)
}

func TestBase_APanicInACallbackLeavesTheEventUsable(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for bad := range n {
			e := newTestEvent(0)
			var called []int
			panics := true
			for i := range n {
				_, err := e.Subscribe(func(b *Base, cb *Callback, _ any, _ error) {
					called = append(called, i)
					if i == bad && panics {
						_, err := b.Subscribe(func(*Base, *Callback, any, error) { called = append(called, 99) })
						assert.NoError(t, err)
						b.DelCallback(cb)
						panic("boom")
					}
				})
				require.NoError(t, err)
			}
			assert.PanicsWithValue(t, "boom", func() { _ = e.Notify(nil, nil) })
			assert.Len(t, called, bad+1)
			checkVector(t, &e.Base)

			panics = false
			called = nil
			require.NoError(t, e.Notify(nil, nil))
			var want []int
			for i := range n {
				if i != bad {
					want = append(want, i)
				}
			}
			assert.Equal(t, append(want, 99), called)
		}
	}
}

func TestBase_APanicInTheHookLeavesTheEventUsable(t *testing.T) {
	e := newTestEvent(0)
	var got calls
	require.NoError(t, e.AddCallback(got.callback("a")))
	e.SetNotifyHook(func(*Base, any, error) (any, bool, error) { panic("boom") })
	assert.PanicsWithValue(t, "boom", func() { _ = e.Notify(1, nil) })
	e.SetNotifyHook(nil)
	require.NoError(t, e.Notify(2, nil))
	assert.Equal(t, calls{"a 2 <nil>"}, got)
}

func TestBase_APanicAfterTheLastDisposeStillReleases(t *testing.T) {
	for n := 1; n <= 2; n++ {
		e := newTestEvent(0)
		for range n {
			_, err := e.Subscribe(func(b *Base, _ *Callback, _ any, _ error) {
				b.Dispose()
				panic("boom")
			})
			require.NoError(t, err)
		}
		assert.PanicsWithValue(t, "boom", func() { _ = e.Notify(nil, nil) })
		assert.Equal(t, 1, e.kind.disposed)
		assert.Zero(t, e.Callbacks())
	}
}

func TestBase_AddCallbackRefusesWhatCannotBeCalled(t *testing.T) {
	e, other := newTestEvent(0), newTestEvent(0)
	fn := func(*Base, *Callback, any, error) {}

	err := e.AddCallback(nil)
	require.ErrorIs(t, err, ErrInvalidArgument)
	assert.EqualError(t, err, "event: AddCallback: callback is nil; pass one made by NewCallback")

	err = e.AddCallback(NewCallback(nil, nil))
	require.ErrorIs(t, err, ErrInvalidArgument)
	assert.EqualError(t, err, "event: AddCallback: the callback's function is nil; give NewCallback or Callback.Init a function")

	_, err = e.Subscribe(nil)
	require.ErrorIs(t, err, ErrInvalidArgument)
	assert.EqualError(t, err, "event: Subscribe: function is nil; pass the function to call when the event happens")

	err = e.Replay(nil)
	require.ErrorIs(t, err, ErrInvalidArgument)
	assert.EqualError(t, err, "event: Replay: callback is nil; pass one made by NewCallback")

	cb := NewCallback(fn, nil)
	require.NoError(t, e.AddCallback(cb))
	for _, to := range []*testEvent{e, other} {
		err = to.AddCallback(cb)
		require.ErrorIs(t, err, ErrUsage)
		assert.EqualError(t, err, "event: AddCallback: the callback is already subscribed to test event; remove it with DelCallback first, or make another one")
	}
	assert.False(t, other.DelCallback(cb))
	assert.False(t, e.DelCallback(nil))
	assert.Equal(t, 1, e.Callbacks())
	require.True(t, e.DelCallback(cb))
	cb.Release()
	err = e.AddCallback(cb)
	require.ErrorIs(t, err, ErrUsage)
	assert.EqualError(t, err, "event: AddCallback: the callback was released; make a new one, or keep a reference with Retain")
	assert.ErrorIs(t, e.Replay(cb), ErrUsage)
}

func TestBase_CallsBeforeInitAreRefused(t *testing.T) {
	var b Base
	fn := func(*Base, *Callback, any, error) {}
	_, subscribeErr := b.Subscribe(fn)
	for call, err := range map[string]error{
		"AddCallback": b.AddCallback(NewCallback(fn, nil)),
		"Subscribe":   subscribeErr,
		"Start":       b.Start(),
		"Replay":      b.Replay(NewCallback(fn, nil)),
	} {
		require.ErrorIs(t, err, ErrUsage)
		assert.EqualError(t, err, "event: "+call+": the event is not initialised; call Base.Init first")
	}
	require.NoError(t, b.Stop())
	b.SetNotifyHook(func(_ *Base, result any, err error) (any, bool, error) { return result, true, err })
	require.NoError(t, b.Notify(nil, nil))
	b.Dispose()
	assert.Equal(t, "an event before Init", b.Info())
	_, ok, _ := b.Outcome()
	assert.False(t, ok)
}

func TestBase_TenThousandCallbacks(t *testing.T) {
	const n = 10_000
	e := newTestEvent(0)
	called := make([]int, n)
	cbs := make([]*Callback, n)
	for i := range n {
		cb, err := e.Subscribe(func(*Base, *Callback, any, error) { called[i]++ })
		require.NoError(t, err)
		cbs[i] = cb
	}
	require.NoError(t, e.Notify(nil, nil))
	for i := 0; i < n; i += 2 {
		require.True(t, e.DelCallback(cbs[i]))
	}
	assert.Equal(t, n/2, e.Callbacks())
	require.NoError(t, e.Notify(nil, nil))
	for i := range n {
		require.Equal(t, 1+i%2, called[i])
	}
	checkVector(t, &e.Base)

	// Half way through, the rest is removed, from the end and from the front in turn.
	seen := 0
	for _, cb := range cbs {
		if cb.Event() == nil {
			continue
		}
		cb.fn = func(b *Base, _ *Callback, _ any, _ error) {
			if seen++; seen == n/4 {
				for i := range n / 2 {
					b.DelCallback(cbs[i])
					b.DelCallback(cbs[n-1-i])
				}
			}
		}
	}
	require.NoError(t, e.Notify(nil, nil))
	assert.Equal(t, n/4, seen)
	assert.Zero(t, e.Callbacks())
	e.Dispose()
	assert.Nil(t, e.only)
	assert.Nil(t, e.more)
}

func TestBase_InitTwiceIsRefusedWhileInUse(t *testing.T) {
	e := newTestEvent(FlagReference)
	assert.False(t, e.Has(FlagReference), "a Base is never a reference")
	assert.PanicsWithError(t, "event: Base.Init: test event is in use; dispose its last reference first", func() { e.Init(&e.kind, nil, 0) })
	assert.PanicsWithError(t, "event: Base.Init: kind is nil; pass what the event does, or NopKind{}", func() { new(Base).Init(nil, nil, 0) })

	var once error
	e.SetNotifyHook(func(b *Base, result any, err error) (any, bool, error) {
		b.Dispose()
		defer func() { once, _ = recover().(error) }()
		b.Init(&e.kind, nil, 0)
		return nil, false, nil
	})
	require.NoError(t, e.Notify(nil, nil))
	assert.ErrorIs(t, once, ErrUsage)
	assert.False(t, errors.Is(once, ErrClosed))

	e.Init(&e.kind, &e.live, 0)
	assert.Equal(t, 1, e.Refs())
	assert.False(t, e.Has(FlagClosed))
	var got calls
	require.NoError(t, e.AddCallback(got.callback("second life")))
	require.NoError(t, e.Notify(1, nil))
	assert.Len(t, got, 1)
}
