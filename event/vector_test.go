package event

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// checkVector verifies what must hold between passes: every callback knows its place, and nothing that was removed can
// still be reached.
func checkVector(t require.TestingT, b *Base) {
	require.False(t, b.notifying)
	if b.more == nil {
		if b.only != nil {
			require.Same(t, b, b.only.event)
		}
		return
	}
	require.Nil(t, b.only)
	v := &b.more.vector
	require.Equal(t, [3]int32{}, [3]int32{v.called, v.next, v.end})
	for i, cb := range v.items {
		require.NotNil(t, cb)
		require.Equal(t, int32(i), cb.index)
		require.Same(t, b, cb.event)
	}
	for _, cb := range v.items[len(v.items):cap(v.items)] {
		require.Nil(t, cb, "a removed callback is still held")
	}
}

func TestVector_ARemovedCallbackIsNotHeld(t *testing.T) {
	for n := range 6 {
		e := newTestEvent(0)
		var cbs []*Callback
		for range n {
			cb, err := e.Subscribe(func(*Base, *Callback, any, error) {})
			require.NoError(t, err)
			cbs = append(cbs, cb)
			checkVector(t, &e.Base)
		}
		for _, cb := range cbs {
			require.True(t, e.DelCallback(cb))
			checkVector(t, &e.Base)
		}
		e.Dispose()
		assert.Nil(t, e.only)
		assert.Nil(t, e.more)
	}
}

// modelList is the simple thing that a vector is checked against: who is subscribed, and who is still owed a call.
type modelList struct {
	event      *testEvent
	ids        []int        // subscribed
	owed       map[int]bool // subscribed when the pass began, neither called nor removed since; nil between passes
	calledOnce map[int]bool // called in this pass
}

type vectorMachine struct {
	lists [2]*modelList
	cbs   []*Callback // by id; each belongs to one list for good
	list  []*modelList
	fuel  int
}

func (m *vectorMachine) add(t *rapid.T, l *modelList) {
	id := len(m.cbs)
	cb := NewCallback(func(b *Base, cb *Callback, result any, err error) {
		require.Same(t, &l.event.Base, b)
		require.Same(t, m.cbs[id], cb)
		require.Contains(t, l.ids, id, "called after removal")
		require.False(t, l.calledOnce[id], "called twice")
		require.True(t, l.owed[id], "called though added in this pass")
		delete(l.owed, id)
		l.calledOnce[id] = true
		for range rapid.IntRange(0, 3).Draw(t, "actions") {
			m.act(t, l, id)
		}
	}, nil)
	m.cbs = append(m.cbs, cb)
	m.list = append(m.list, l)
	m.subscribe(t, id)
}

func (m *vectorMachine) subscribe(t *rapid.T, id int) {
	l := m.list[id]
	require.NoError(t, l.event.AddCallback(m.cbs[id]))
	l.ids = append(l.ids, id)
}

func (m *vectorMachine) remove(t *rapid.T, id int) {
	l := m.list[id]
	i := slices.Index(l.ids, id)
	require.Equal(t, i >= 0, l.event.DelCallback(m.cbs[id]))
	if i >= 0 {
		l.ids = slices.Delete(l.ids, i, i+1)
		delete(l.owed, id)
		// A removed callback that comes back is one that was added in this pass, and not owed anything.
		delete(l.calledOnce, id)
	}
}

var errBoom = errors.New("boom")

func (m *vectorMachine) notify(t *rapid.T, l *modelList) {
	if l.owed != nil {
		require.ErrorIs(t, l.event.Notify(nil, nil), ErrUsage)
		return
	}
	if m.fuel--; m.fuel < 0 {
		return
	}
	l.owed, l.calledOnce = map[int]bool{}, map[int]bool{}
	for _, id := range l.ids {
		l.owed[id] = true
	}
	if rapid.IntRange(0, 3).Draw(t, "hook") == 0 {
		l.event.SetNotifyHook(func(_ *Base, result any, err error) (any, bool, error) {
			m.act(t, l, -1)
			return result, true, err
		})
		defer l.event.SetNotifyHook(nil)
	}
	panicked := func() (panicked bool) {
		defer func() {
			if v := recover(); v == errBoom {
				panicked = true
			} else if v != nil {
				panic(v)
			}
		}()
		require.NoError(t, l.event.Notify(nil, nil))
		return false
	}()
	if !panicked {
		require.Empty(t, l.owed, "skipped")
	}
	l.owed, l.calledOnce = nil, nil
	checkVector(t, &l.event.Base)
}

// act does something random; l is the list that is notifying, or nil, and self who is being called, or -1.
func (m *vectorMachine) act(t *rapid.T, l *modelList, self int) {
	actions := []string{"add", "add", "remove", "remove", "again", "notify", "all"}
	if self >= 0 {
		actions = append(actions, "self", "self", "earlier", "later", "panic")
	}
	switch action := rapid.SampledFrom(actions).Draw(t, "action"); action {
	case "add":
		m.add(t, rapid.SampledFrom(m.lists[:]).Draw(t, "list"))
	case "remove", "again":
		if len(m.cbs) == 0 {
			return
		}
		id := rapid.IntRange(0, len(m.cbs)-1).Draw(t, "id")
		m.remove(t, id)
		if action == "again" {
			m.subscribe(t, id)
		}
	case "all":
		l := rapid.SampledFrom(m.lists[:]).Draw(t, "list")
		for _, id := range slices.Clone(l.ids) {
			m.remove(t, id)
		}
	case "notify":
		m.notify(t, rapid.SampledFrom(m.lists[:]).Draw(t, "list"))
	case "self":
		m.remove(t, self)
	case "earlier", "later":
		var ids []int
		for _, id := range l.ids {
			if id != self && l.owed[id] == (action == "later") {
				ids = append(ids, id)
			}
		}
		if len(ids) > 0 {
			m.remove(t, rapid.SampledFrom(ids).Draw(t, "id"))
		}
	case "panic":
		if rapid.IntRange(0, 4).Draw(t, "really") == 0 {
			panic(errBoom)
		}
	}
	for _, l := range m.lists {
		require.Equal(t, len(l.ids), l.event.Callbacks())
	}
}

// TestVector_EVT09_EveryRemainingCallbackIsCalledOnce lets callbacks of two events remove themselves, earlier and later
// ones and all, add, come back, notify the other event, and panic, at random, and holds it against a plain list.
func TestVector_EVT09_EveryRemainingCallbackIsCalledOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &vectorMachine{fuel: 40}
		for i := range m.lists {
			m.lists[i] = &modelList{event: newTestEvent(0)}
			for range rapid.IntRange(0, 8).Draw(t, fmt.Sprint("callbacks ", i)) {
				m.add(t, m.lists[i])
			}
		}
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "notify") {
				m.notify(t, rapid.SampledFrom(m.lists[:]).Draw(t, "list"))
			} else {
				m.act(t, nil, -1)
			}
		}
		for _, l := range m.lists {
			checkVector(t, &l.event.Base)
			subscribed := []int{}
			for id, cb := range m.cbs {
				if cb.Event() == &l.event.Base {
					subscribed = append(subscribed, id)
				}
				want := int32(1)
				if cb.Event() != nil {
					want = 2
				}
				require.Equal(t, want, cb.refs, "the event holds one reference while it is subscribed, and only then")
			}
			slices.Sort(l.ids)
			require.Equal(t, subscribed, append([]int{}, l.ids...))
			l.event.Dispose()
		}
		for _, cb := range m.cbs {
			require.Nil(t, cb.Event())
			require.Equal(t, int32(1), cb.refs)
		}
	})
}
