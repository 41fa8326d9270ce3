package event

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handle is a public object as package reactor makes them: a reference in front, the event behind.
type handle struct{ Reference }

func newHandle() (*handle, *testEvent) {
	e := newTestEvent(0)
	h := &handle{}
	h.Init(&e.Base)
	return h, e
}

func TestReference_LeadsToTheEventAndSaysThatItIsOne(t *testing.T) {
	h, e := newHandle()
	var event Event = h
	assert.Same(t, &e.Base, event.AsEvent())
	assert.Same(t, &e.Base, h.Target())
	assert.Equal(t, FlagReference, event.Flags())
	assert.Zero(t, e.Flags())
	assert.Equal(t, 1, e.Refs(), "the reference took over the first one")
	e.SetFlags(FlagReference)
	assert.Zero(t, e.Flags())
	assert.Equal(t, "test event", h.Info())
}

func TestReference_ForwardsToTheEvent(t *testing.T) {
	h, e := newHandle()
	var got calls
	cb, err := h.Subscribe(got.record("a"))
	require.NoError(t, err)
	other := got.callback("b")
	require.NoError(t, h.AddCallback(other))
	require.NoError(t, h.Start())
	assert.True(t, h.Started())
	assert.Equal(t, 1, e.live.Value())
	h.SetHidden(true)
	assert.Zero(t, e.live.Value())
	require.NoError(t, e.Notify(1, nil))
	assert.True(t, h.DelCallback(cb))
	assert.False(t, h.DelCallback(cb))
	require.NoError(t, h.Stop())
	assert.False(t, h.Started())
	require.ErrorIs(t, h.Replay(cb), ErrUsage)
	e.kind.done, e.kind.err = true, io.EOF
	require.NoError(t, h.Replay(other))
	_, ok, err := h.Outcome()
	assert.True(t, ok)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, calls{"a 1 <nil>", "b 1 <nil>", "b <nil> EOF"}, got)
}

// refusals makes every call on r that must be refused, by its name.
func refusals(r *Reference) map[string]error {
	fn := func(*Base, *Callback, any, error) {}
	_, subscribeErr := r.Subscribe(fn)
	_, _, outcomeErr := r.Outcome()
	return map[string]error{
		"AddCallback": r.AddCallback(NewCallback(fn, nil)),
		"Subscribe":   subscribeErr,
		"Start":       r.Start(),
		"Replay":      r.Replay(NewCallback(fn, nil)),
		"Outcome":     outcomeErr,
	}
}

func TestReference_ADisposedOneAnswersErrClosedWhileTheEventLivesOn(t *testing.T) {
	h, e := newHandle()
	e.AddRef()
	e.kind.done = true // even an outcome is not for a reference that was given back
	require.NoError(t, h.Start())
	h.Dispose()
	h.Dispose()
	require.NoError(t, h.Close())

	assert.Equal(t, 1, e.Refs(), "it dropped its own reference once")
	assert.True(t, e.Started())
	assert.False(t, e.Has(FlagClosed))
	assert.True(t, h.Closed())
	assert.False(t, h.Started())
	assert.Equal(t, FlagReference|FlagClosed, h.Flags())
	assert.Same(t, &e.Base, h.AsEvent())
	assert.Equal(t, "test event", h.Info())
	for call, err := range refusals(&h.Reference) {
		require.ErrorIs(t, err, ErrClosed, call)
		assert.EqualError(t, err, "event: "+call+": test event is closed; make a new one")
	}
	require.NoError(t, h.Stop())
	assert.True(t, e.Started(), "what others started is not its to stop")
	h.SetHidden(true)
	assert.False(t, e.Has(FlagHidden))

	e.kind.done = false
	var got calls
	require.NoError(t, e.AddCallback(got.callback("a")))
	require.NoError(t, e.Notify(1, nil))
	assert.Len(t, got, 1)
}

func TestReference_ADisposedOneStillLetsSubscribersLeave(t *testing.T) {
	h, e := newHandle()
	cb, err := h.Subscribe(func(*Base, *Callback, any, error) {})
	require.NoError(t, err)
	e.AddRef()
	h.Dispose()
	assert.True(t, h.DelCallback(cb))
	assert.Zero(t, e.Callbacks())
}

func TestReference_CloseClosesTheEventForEverybody(t *testing.T) {
	h, e := newHandle()
	e.AddRef()
	require.NoError(t, h.Start())
	require.NoError(t, h.Close())
	require.NoError(t, h.Close())
	assert.True(t, e.Has(FlagClosed))
	assert.Equal(t, 1, e.kind.stopped)
	assert.Zero(t, e.live.Value())
	assert.Equal(t, 1, e.Refs())
	assert.Zero(t, e.kind.disposed)
	for call, err := range refusals(&h.Reference) {
		assert.ErrorIs(t, err, ErrClosed, call)
	}
	require.NoError(t, h.Stop())
	e.Dispose()
	assert.Equal(t, 1, e.kind.disposed)
}

func TestReference_CloseOfTheOnlyOneDisposesTheEvent(t *testing.T) {
	h, e := newHandle()
	require.NoError(t, h.Start())
	e.kind.onStop = func() { assert.NoError(t, h.Close(), "closing again from within is harmless") }
	require.NoError(t, h.Close())
	assert.Equal(t, 1, e.kind.stopped)
	assert.Equal(t, 1, e.kind.disposed)
	assert.Zero(t, e.Refs())
}

func TestReference_TheEventMayBeClosedFirst(t *testing.T) {
	h, e := newHandle()
	e.MarkClosed()
	assert.True(t, h.Closed())
	err := h.Start()
	require.ErrorIs(t, err, ErrClosed)
	assert.EqualError(t, err, "event: Start: test event is closed; make a new one")
	_, err = h.Subscribe(func(*Base, *Callback, any, error) {})
	require.ErrorIs(t, err, ErrClosed)

	var got calls
	e.kind.done, e.kind.result = true, 7
	require.NoError(t, h.AddCallback(got.callback("a")), "EVT-07: a stored outcome is replayed")
	assert.Equal(t, calls{"a 7 <nil>"}, got)
}

func TestReference_CallsBeforeInitAreRefused(t *testing.T) {
	var r Reference
	for call, err := range refusals(&r) {
		require.ErrorIs(t, err, ErrUsage, call)
		assert.EqualError(t, err, "event: "+call+": the reference refers to no event; get one from the constructor of its type")
	}
	assert.Nil(t, r.AsEvent())
	assert.Nil(t, r.Target())
	assert.Equal(t, FlagReference, r.Flags())
	assert.False(t, r.Closed())
	assert.False(t, r.Started())
	assert.False(t, r.DelCallback(nil))
	assert.NoError(t, r.Stop())
	assert.NoError(t, r.Close())
	r.SetHidden(true)
	r.Dispose()
	assert.Equal(t, "a reference before Init", r.Info())
}

func TestReference_InitTakesOneEvent(t *testing.T) {
	h, _ := newHandle()
	next := newTestEvent(0)
	assert.PanicsWithError(t, "event: Reference.Init: the reference already refers to test event; dispose it first", func() { h.Init(&next.Base) })
	assert.PanicsWithError(t, "event: Reference.Init: event is nil; pass one that Base.Init made ready", func() { new(Reference).Init(nil) })
	h.Dispose()
	h.Init(&next.Base)
	assert.False(t, h.Closed())
	require.NoError(t, h.Start())
}
