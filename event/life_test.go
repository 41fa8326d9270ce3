package event

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBase_EVT01_TwoStartsNeedTwoStops(t *testing.T) {
	e := newTestEvent(0)
	require.NoError(t, e.Start())
	require.NoError(t, e.Start())
	assert.Equal(t, 1, e.kind.started)
	assert.Equal(t, 2, e.LoopRefs())
	assert.Equal(t, 1, e.live.Value(), "an event counts once, however often it was started")

	require.NoError(t, e.Stop())
	assert.True(t, e.Started())
	assert.Zero(t, e.kind.stopped)
	assert.Equal(t, 1, e.live.Value())

	require.NoError(t, e.Stop())
	assert.False(t, e.Started())
	assert.Equal(t, 1, e.kind.stopped)
	assert.Zero(t, e.live.Value())

	require.NoError(t, e.Start())
	assert.Equal(t, 2, e.kind.started, "a stopped event can be started again")
	assert.Equal(t, 1, e.live.Value())
}

func TestBase_EVT02_StartOfAClosedEventDoesNothing(t *testing.T) {
	e := newTestEvent(0)
	require.True(t, e.MarkClosed())
	require.NoError(t, e.Start())
	assert.Zero(t, e.kind.started)
	assert.False(t, e.Started())
	assert.Zero(t, e.live.Value())
}

func TestBase_EVT03_StopWithoutStartDoesNothing(t *testing.T) {
	e := newTestEvent(0)
	require.NoError(t, e.Stop())
	require.NoError(t, e.Start())
	require.NoError(t, e.Stop())
	require.NoError(t, e.Stop())
	assert.Equal(t, 1, e.kind.stopped)
	assert.Zero(t, e.LoopRefs())
	assert.Zero(t, e.live.Value())
}

func TestBase_EVT04_AHiddenEventIsNeverCounted(t *testing.T) {
	ends := map[string]func(*testEvent){
		"stop":       func(e *testEvent) { assert.NoError(t, e.Stop()) },
		"close":      func(e *testEvent) { e.MarkClosed() },
		"deactivate": func(e *testEvent) { e.Deactivate() },
		"dispose":    func(e *testEvent) { e.Dispose() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			e := newTestEvent(FlagHidden)
			require.NoError(t, e.Start())
			assert.Zero(t, e.live.Value())
			end(e)
			assert.False(t, e.Started())
			assert.Zero(t, e.live.Value())
		})
	}
}

func TestBase_EVT04_HidingAStartedEventMovesTheCount(t *testing.T) {
	e := newTestEvent(0)
	e.SetHidden(true)
	assert.Zero(t, e.kind.hid, "the kind of an event that is not started has nothing to hide")
	e.SetHidden(false)
	require.NoError(t, e.Start())
	e.SetHidden(true)
	e.SetHidden(true)
	assert.True(t, e.Has(FlagHidden))
	assert.Zero(t, e.live.Value())
	assert.Equal(t, 1, e.kind.hid)
	assert.True(t, e.kind.hidden)
	e.ClearFlags(FlagHidden)
	assert.Equal(t, 1, e.live.Value())
	assert.Equal(t, 2, e.kind.hid)
	assert.False(t, e.kind.hidden)
	e.SetFlags(FlagHidden)
	require.NoError(t, e.Stop())
	assert.Zero(t, e.live.Value())
}

func TestBase_EVT06_OnlyTheLastDisposeReleases(t *testing.T) {
	e := newTestEvent(0)
	dropped := 0
	cb := NewCallback(func(*Base, *Callback, any, error) {}, func(*Callback) { dropped++ })
	require.NoError(t, e.AddCallback(cb))
	cb.Release()
	require.NoError(t, e.Start())
	e.AddRef()
	assert.Equal(t, 2, e.Refs())

	e.Dispose()
	assert.Equal(t, 1, e.Refs())
	assert.True(t, e.Started())
	assert.False(t, e.Has(FlagClosed))
	assert.Equal(t, 1, e.Callbacks())
	assert.Zero(t, dropped+e.kind.stopped+e.kind.disposed)

	e.Dispose()
	assert.Zero(t, e.Refs())
	assert.True(t, e.Has(FlagClosed))
	assert.Zero(t, e.live.Value())
	assert.Zero(t, e.Callbacks())
	assert.Equal(t, [3]int{1, 1, 1}, [3]int{dropped, e.kind.stopped, e.kind.disposed})
	assert.Nil(t, e.only)
	assert.Nil(t, e.more)
	assert.Nil(t, cb.Event())

	e.AddRef()
	assert.Zero(t, e.Refs(), "nothing brings a disposed event back")
	e.Dispose()
	e.Dispose()
	assert.Equal(t, [3]int{1, 1, 1}, [3]int{dropped, e.kind.stopped, e.kind.disposed})
}

func TestBase_EVT06_TheHandleStopsBeforeCallbacksAreDroppedAndIsReleasedLast(t *testing.T) {
	e := newTestEvent(0)
	var order []string
	e.kind.onStop = func() { order = append(order, "stop") }
	e.kind.onDispose = func() { order = append(order, "dispose") }
	cb := NewCallback(func(*Base, *Callback, any, error) {}, func(*Callback) { order = append(order, "callback") })
	require.NoError(t, e.AddCallback(cb))
	cb.Release()
	require.NoError(t, e.Start())
	e.Dispose()
	assert.Equal(t, []string{"stop", "callback", "dispose"}, order)
}

func TestBase_EVT06_NoFreeLeavesTheMemoryToItsOwner(t *testing.T) {
	e := newTestEvent(FlagNoFree)
	_, err := e.Subscribe(func(*Base, *Callback, any, error) {})
	require.NoError(t, err)
	require.NoError(t, e.Start())
	e.Dispose()
	assert.Equal(t, 1, e.kind.stopped)
	assert.Zero(t, e.kind.disposed)
	assert.Zero(t, e.Callbacks())
}

func TestBase_EVT06_AnEventThatNotifiesWhenStoppedIsReleasedOnce(t *testing.T) {
	e := newTestEvent(0)
	var got calls
	require.NoError(t, e.AddCallback(got.callback("a")))
	e.kind.onStop = func() { assert.NoError(t, e.Notify("stopped", nil)) }
	require.NoError(t, e.Start())
	e.Dispose()
	assert.Equal(t, calls{"a stopped <nil>"}, got)
	assert.Equal(t, 1, e.kind.disposed)
}

func TestBase_DroppedCallbacksMayCallBackIntoTheEvent(t *testing.T) {
	e := newTestEvent(0)
	var cbs [3]*Callback
	dropped := 0
	for i := range cbs {
		cbs[i] = NewCallback(func(*Base, *Callback, any, error) {}, func(cb *Callback) {
			dropped++
			for _, other := range cbs {
				assert.False(t, e.DelCallback(other))
			}
			assert.ErrorIs(t, e.AddCallback(NewCallback(func(*Base, *Callback, any, error) {}, nil)), ErrClosed)
			e.Dispose()
			assert.NoError(t, e.Notify(nil, nil))
		})
		require.NoError(t, e.AddCallback(cbs[i]))
		cbs[i].Release()
	}
	e.Dispose()
	assert.Equal(t, 3, dropped)
	assert.Equal(t, 1, e.kind.disposed)
}

func TestBase_APanicInADisposeFunctionStillReleasesTheRest(t *testing.T) {
	e := newTestEvent(0)
	dropped := 0
	for i := range 4 {
		cb := NewCallback(func(*Base, *Callback, any, error) {}, func(*Callback) {
			dropped++
			if i == 1 {
				panic("boom")
			}
		})
		require.NoError(t, e.AddCallback(cb))
		cb.Release()
	}
	assert.PanicsWithValue(t, "boom", e.Dispose)
	assert.Equal(t, 4, dropped)
	assert.Equal(t, 1, e.kind.disposed)
}

func TestBase_AStartThatFailsLeavesTheEventNotStarted(t *testing.T) {
	e := newTestEvent(0)
	boom := errors.New("boom")
	e.kind.startErr = boom
	e.kind.onStart = func() { assert.Equal(t, 1, e.live.Value(), "GEN-06: what exists is counted when user code runs") }
	require.ErrorIs(t, e.Start(), boom)
	assert.False(t, e.Started())
	assert.Zero(t, e.live.Value())
	assert.Zero(t, e.kind.stopped, "what did not begin is not stopped")
	require.NoError(t, e.Stop())
	assert.Zero(t, e.kind.stopped)

	e.kind.startErr = nil
	require.NoError(t, e.Start())
	assert.Equal(t, 1, e.live.Value())
}

func TestBase_AStartThatPanicsLeavesTheEventNotStarted(t *testing.T) {
	e := newTestEvent(0)
	e.kind.onStart = func() { panic("boom") }
	assert.PanicsWithValue(t, "boom", func() { _ = e.Start() })
	assert.False(t, e.Started())
	assert.Zero(t, e.live.Value())
}

func TestBase_KindsMayEndTheEventWhileItStarts(t *testing.T) {
	ends := map[string]func(*testEvent){
		"deactivate": func(e *testEvent) { e.Deactivate() },
		"stop":       func(e *testEvent) { assert.NoError(t, e.Stop()) },
		"close":      func(e *testEvent) { e.MarkClosed() },
		"dispose":    func(e *testEvent) { e.Dispose() },
	}
	for name, end := range ends {
		for _, startErr := range []error{nil, errors.New("boom")} {
			t.Run(name, func(t *testing.T) {
				e := newTestEvent(0)
				e.kind.startErr = startErr
				e.kind.onStart = func() { end(e) }
				assert.Equal(t, startErr, e.Start())
				assert.False(t, e.Started())
				assert.Zero(t, e.live.Value())
			})
		}
	}
}

func TestBase_GEN10_TheEventIsConsistentWhenItsKindIsCalled(t *testing.T) {
	e := newTestEvent(0)
	check := func() {
		assert.False(t, e.Started())
		assert.Zero(t, e.live.Value())
	}
	e.kind.onStop, e.kind.onDispose = check, check
	require.NoError(t, e.Start())
	require.NoError(t, e.Stop())
	require.NoError(t, e.Start())
	e.Dispose()
	assert.Equal(t, 2, e.kind.stopped)
}

func TestBase_GEN07_ClosingIsIdempotent(t *testing.T) {
	e := newTestEvent(0)
	require.NoError(t, e.Start())
	require.NoError(t, e.Start())
	assert.True(t, e.MarkClosed())
	assert.False(t, e.MarkClosed())
	assert.Equal(t, 1, e.kind.stopped)
	assert.Zero(t, e.LoopRefs())
	assert.Zero(t, e.live.Value())
	assert.Zero(t, e.kind.disposed, "closing is not disposing")
}

func TestBase_DeactivateDoesNotStopTheRealThing(t *testing.T) {
	e := newTestEvent(0)
	assert.False(t, e.Deactivate())
	require.NoError(t, e.Start())
	require.NoError(t, e.Start())
	assert.True(t, e.Deactivate())
	assert.False(t, e.Deactivate())
	assert.Zero(t, e.kind.stopped)
	assert.Zero(t, e.LoopRefs())
	assert.Zero(t, e.live.Value())
}

func TestBase_EventsWithoutALoopAreNeverStarted(t *testing.T) {
	var e Base
	kind := &testKind{}
	e.Init(kind, nil, 0)
	require.NoError(t, e.Start())
	assert.False(t, e.Started())
	e.SetHidden(true)
	e.SetHidden(false)
	require.NoError(t, e.Stop())
	assert.True(t, e.MarkClosed())
	e.Dispose()
	assert.Equal(t, testKind{disposed: 1}, *kind)
}

func TestCount_NeverFallsBelowZero(t *testing.T) {
	var c Count
	c.Add(2)
	c.Add(-1)
	assert.Equal(t, 1, c.Value())
	assert.PanicsWithValue(t, "bug: event: the live count fell below zero", func() { c.Add(-2) })
}

// TestBase_GEN06_TheLiveCountBalancesInEveryOrder plays random legal and idle calls on several events of one loop.
func TestBase_GEN06_TheLiveCountBalancesInEveryOrder(t *testing.T) {
	type model struct {
		refs, loopRefs         int
		hidden, closed, noFree bool
		started, stopped, dead int
		hid                    int
		base                   *Base
		kind                   *testKind
	}
	rapid.Check(t, func(t *rapid.T) {
		var live Count
		events := make([]*model, rapid.IntRange(1, 3).Draw(t, "events"))
		sum := func() (n int) {
			for _, m := range events {
				if m.base.Started() && !m.base.Has(FlagHidden) {
					n++
				}
			}
			return n
		}
		for i := range events {
			m := &model{refs: 1, base: &Base{}, kind: &testKind{}}
			m.hidden = rapid.Bool().Draw(t, "hidden")
			m.noFree = rapid.Bool().Draw(t, "noFree")
			var flags Flags
			if m.hidden {
				flags |= FlagHidden
			}
			if m.noFree {
				flags |= FlagNoFree
			}
			check := func() {
				if live.Value() != sum() {
					t.Fatalf("inside a kind: the count is %d, started and visible are %d", live.Value(), sum())
				}
			}
			m.kind.onStart, m.kind.onStop, m.kind.onDispose = check, check, check
			events[i] = m
			m.base.Init(m.kind, &live, flags)
		}
		end := func(m *model, stop bool) bool {
			was := m.loopRefs > 0
			m.loopRefs = 0
			if was && stop {
				m.stopped++
			}
			return was
		}
		closeModel := func(m *model) bool {
			was := m.closed
			m.closed = true
			end(m, true)
			return !was
		}
		hide := func(m *model, hidden bool) {
			if m.hidden != hidden && m.loopRefs > 0 {
				m.hid++
			}
			m.hidden = hidden
		}
		pick := func(t *rapid.T) *model { return rapid.SampledFrom(events).Draw(t, "event") }
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				m := pick(t)
				m.kind.startErr = nil
				if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
					m.kind.startErr = errors.New("boom")
				}
				err := m.base.Start()
				switch {
				case m.closed:
					require.NoError(t, err)
				case m.loopRefs > 0:
					require.NoError(t, err)
					m.loopRefs++
				default:
					require.Equal(t, m.kind.startErr, err)
					m.started++
					if err == nil {
						m.loopRefs = 1
					}
				}
			},
			"stop": func(t *rapid.T) {
				m := pick(t)
				require.NoError(t, m.base.Stop())
				switch {
				case m.loopRefs == 1:
					end(m, true)
				case m.loopRefs > 1:
					m.loopRefs--
				}
			},
			"hide": func(t *rapid.T) {
				m := pick(t)
				hidden := rapid.Bool().Draw(t, "to")
				m.base.SetHidden(hidden)
				hide(m, hidden)
			},
			"hide by flag": func(t *rapid.T) {
				m := pick(t)
				hidden := rapid.Bool().Draw(t, "to")
				if hidden {
					m.base.SetFlags(FlagHidden | FlagResultUsed)
				} else {
					m.base.ClearFlags(FlagHidden | FlagResultUsed | FlagClosed)
				}
				hide(m, hidden)
			},
			"close": func(t *rapid.T) {
				m := pick(t)
				require.Equal(t, closeModel(m), m.base.MarkClosed())
			},
			"deactivate": func(t *rapid.T) {
				m := pick(t)
				require.Equal(t, end(m, false), m.base.Deactivate())
			},
			"add reference": func(t *rapid.T) {
				m := pick(t)
				m.base.AddRef()
				if m.refs > 0 {
					m.refs++
				}
			},
			"dispose": func(t *rapid.T) {
				m := pick(t)
				m.base.Dispose()
				if m.refs > 0 {
					if m.refs--; m.refs == 0 {
						closeModel(m)
						if !m.noFree {
							m.dead++
						}
					}
				}
			},
			"": func(t *rapid.T) {
				want := 0
				for _, m := range events {
					if m.loopRefs > 0 && !m.hidden {
						want++
					}
					require.Equal(t, m.refs, m.base.Refs())
					require.Equal(t, m.loopRefs, m.base.LoopRefs())
					require.Equal(t, m.hidden, m.base.Has(FlagHidden))
					require.Equal(t, m.closed, m.base.Has(FlagClosed))
					require.Equal(t, [4]int{m.started, m.stopped, m.dead, m.hid},
						[4]int{m.kind.started, m.kind.stopped, m.kind.disposed, m.kind.hid})
				}
				require.Equal(t, want, live.Value())
			},
		})
	})
}
