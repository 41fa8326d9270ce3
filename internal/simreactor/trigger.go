package simreactor

import (
	"slices"
	"sync/atomic"

	"github.com/uvasync/uvasync/event"
)

// Trigger is an event that happens when it is fired. Several firings before the loop turns merge into one (REACT-14). The
// result given to callbacks is nil.
type Trigger struct {
	event.Reference
	trigger *trigger
}

type trigger struct {
	event.NopKind
	entry
	base  event.Base
	loop  *Reactor
	fired atomic.Bool // fired and not yet delivered
}

// NewTrigger makes a trigger. ErrClosed on a closed loop.
func (r *Reactor) NewTrigger() (*Trigger, error) {
	if r.closed {
		return nil, closedError("Reactor.NewTrigger")
	}
	t := &trigger{loop: r}
	t.owner = t
	t.base.Init(t, &r.live, event.FlagPeriodic)
	ref := &Trigger{trigger: t}
	ref.Init(&t.base)
	return ref, nil
}

// Fire makes the trigger happen in the next turn; one that is not started, as soon as it is. Any goroutine may call it; but
// when SetOnLoop's function says that the caller is not part of the simulation, it panics with an error that wraps
// event.ErrNotSimulated. Once the trigger or the loop is closed it does nothing.
func (t *Trigger) Fire() {
	posts := &t.trigger.loop.posts
	if posts.isClosed() {
		return
	}
	if posts.outside() {
		panic(outsideError("Trigger.Fire"))
	}
	t.trigger.fired.Store(true)
}

// StartEvent takes a reference of the loop's own, which goes when the trigger is stopped.
func (t *trigger) StartEvent() error {
	if t.loop.closed {
		return closedError("Trigger.Start")
	}
	t.state = entryWaiting
	t.loop.triggers = append(t.loop.triggers, t)
	t.base.AddRef()
	return nil
}

func (t *trigger) StopEvent() {
	t.state = entryIdle
	i := slices.Index(t.loop.triggers, t)
	t.loop.triggers = slices.Delete(t.loop.triggers, i, i+1)
	t.base.Dispose()
}

// happen clears the mark before the callbacks run, so that a firing from now on is another one.
func (t *trigger) happen() {
	t.state = entryWaiting
	t.fired.Store(false)
	_ = t.base.Notify(nil, nil)
}

func (t *trigger) loopClosing() { t.base.MarkClosed() }

func (t *trigger) Info() string { return "trigger" + state(&t.base) }
