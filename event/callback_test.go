package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCallback_TheLastReleaseDisposesOnce(t *testing.T) {
	disposed := 0
	var cb *Callback
	cb = NewCallback(func(*Base, *Callback, any, error) {}, func(got *Callback) {
		assert.Same(t, cb, got)
		disposed++
		got.Release()
	})
	e := newTestEvent(0)
	require.NoError(t, e.AddCallback(cb))
	assert.Same(t, &e.Base, cb.Event())
	cb.Retain()
	cb.Release()
	cb.Release()
	assert.Zero(t, disposed, "the event still has its reference")
	require.True(t, e.DelCallback(cb))
	assert.Equal(t, 1, disposed)
	cb.Release()
	assert.Equal(t, 1, disposed)
}

func TestCallback_ReleaseDoesNotTakeTheEventsReference(t *testing.T) {
	e := newTestEvent(0)
	var got calls
	cb, err := e.Subscribe(got.record("a"))
	require.NoError(t, err)
	assert.PanicsWithError(t, "event: Callback.Release: the last reference belongs to test event; end the subscription with DelCallback", cb.Release)
	require.NoError(t, e.Notify(1, nil))
	assert.Len(t, got, 1)
}

func TestCallback_InitUsesMemoryOfItsOwner(t *testing.T) {
	type waker struct {
		cb     Callback
		called int
		free   int
	}
	w := &waker{}
	start := func() {
		w.cb.Init(func(_ *Base, cb *Callback, _ any, _ error) { cb.Owner.(*waker).called++ },
			func(cb *Callback) { cb.Owner.(*waker).free++ }, w)
	}
	start()
	e := newTestEvent(0)
	require.NoError(t, e.AddCallback(&w.cb))
	assert.PanicsWithError(t, "event: Callback.Init: the callback is subscribed to test event; remove it with DelCallback first", start)
	require.NoError(t, e.Notify(nil, nil))
	require.True(t, e.DelCallback(&w.cb))
	w.cb.Release()
	assert.Equal(t, [2]int{1, 1}, [2]int{w.called, w.free})

	start()
	require.NoError(t, e.AddCallback(&w.cb))
	require.NoError(t, e.Notify(nil, nil))
	assert.Equal(t, [2]int{2, 1}, [2]int{w.called, w.free})
}

func TestCallback_DisposeInItsOwnCallMayReuseTheMemory(t *testing.T) {
	for n := range 3 {
		e, next := newTestEvent(0), newTestEvent(0)
		var got calls
		var cb Callback
		cb.Init(func(b *Base, cb *Callback, _ any, _ error) { b.DelCallback(cb) }, func(cb *Callback) {
			cb.Init(got.record("second life"), nil, nil)
			assert.NoError(t, next.AddCallback(cb))
		}, nil)
		require.NoError(t, e.AddCallback(&cb))
		cb.Release()
		for range n {
			require.NoError(t, e.AddCallback(got.callback("other")))
		}
		require.NoError(t, e.Notify(1, nil))
		assert.Len(t, got, n)
		require.NoError(t, next.Notify(2, nil))
		assert.Contains(t, got, "second life 2 <nil>")
		checkVector(t, &e.Base)
	}
}
