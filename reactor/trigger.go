package reactor

import (
	"sync/atomic"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// Trigger is an event that any goroutine can make happen; a started one is a uv_async_t. Several firings before the loop
// turns may merge into one (REACT-14). The result given to callbacks is nil.
type Trigger struct {
	reference
	trigger *trigger
}

type trigger struct {
	event.NopKind
	base   event.Base
	loop   *Loop
	handle cuv.Async
	fired  atomic.Bool // fired and not yet delivered
}

// NewTrigger makes a trigger. ErrClosed on a closed loop.
func (l *Loop) NewTrigger() (*Trigger, error) {
	if l.closed {
		return nil, l.closedError("Loop.NewTrigger")
	}
	t := &trigger{loop: l}
	t.base.Init(t, &l.live, event.FlagPeriodic)
	ref := &Trigger{trigger: t}
	ref.Init(&t.base)
	ref.watch(l, nil)
	return ref, nil
}

// OnFire has fn called whenever t happens. Errors as for AddCallback; *event.InvalidArgumentError when fn is nil.
func (t *Trigger) OnFire(fn func()) (*event.Callback, error) {
	if fn == nil {
		return nil, nilFunction("Trigger.OnFire")
	}
	return t.Subscribe(func(*event.Base, *event.Callback, any, error) { fn() })
}

// Fire makes the trigger happen on the loop's goroutine; on one that is not started, as soon as it is. Any goroutine may
// call it, at any time; once the trigger or the loop is closed it does nothing.
func (t *Trigger) Fire() {
	// The one that finds it unfired sends; the others merge with it.
	if t.trigger != nil && !t.trigger.fired.Swap(true) {
		t.trigger.handle.Send()
	}
}

func (t *trigger) StartEvent() error {
	if t.loop.closed {
		return t.loop.closedError("Trigger.Start")
	}
	if err := t.handle.Open(t.loop.binding, t, t.base.Has(event.FlagHidden)); err != nil {
		return err
	}
	t.base.AddRef()
	if t.fired.Load() {
		t.handle.Send()
	}
	return nil
}

func (t *trigger) StopEvent() {
	t.handle.Close(t.loop.binding)
	t.base.Dispose()
}

func (t *trigger) HideEvent(hidden bool) { t.handle.Hide(t.loop.binding, hidden) }

func (t *trigger) DisposeEvent() { delete(t.loop.orphans, &t.base) }

// Complete clears the mark before the callbacks run, so that a firing from now on is another one.
func (t *trigger) Complete(int, uint64) {
	if t.fired.Swap(false) {
		_ = t.base.Notify(nil, nil)
	}
}

func (t *trigger) LoopClosing() { t.base.MarkClosed() }

func (t *trigger) Info() string { return "trigger" + state(&t.base) }
