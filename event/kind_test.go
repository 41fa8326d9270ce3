package event

import "fmt"

// testKind counts what its Base asks of it. The on… hooks run inside the calls, as a kind's own code would.
type testKind struct {
	started, stopped, disposed, hid int
	hidden                          bool // what HideEvent last said

	startErr error
	done     bool // completed with result and err
	result   any
	err      error

	onStart, onStop, onDispose func()
}

func (k *testKind) StartEvent() error {
	k.started++
	if k.onStart != nil {
		k.onStart()
	}
	return k.startErr
}

func (k *testKind) StopEvent() {
	k.stopped++
	if k.onStop != nil {
		k.onStop()
	}
}

func (k *testKind) DisposeEvent() {
	k.disposed++
	if k.onDispose != nil {
		k.onDispose()
	}
}

func (k *testKind) HideEvent(hidden bool) {
	k.hid++
	k.hidden = hidden
}

func (k *testKind) Outcome() (result any, ok bool, err error) { return k.result, k.done, k.err }

func (k *testKind) Info() string { return "test event" }

// testEvent is an event with everything a test looks at.
type testEvent struct {
	Base
	kind testKind
	live Count
}

func newTestEvent(flags Flags) *testEvent {
	e := &testEvent{}
	e.Init(&e.kind, &e.live, flags)
	return e
}

// calls records which callback was called with what.
type calls []string

func (c *calls) callback(name string) *Callback {
	return NewCallback(c.record(name), nil)
}

func (c *calls) record(name string) Func {
	return func(_ *Base, _ *Callback, result any, err error) {
		*c = append(*c, fmt.Sprint(name, " ", result, " ", err))
	}
}
