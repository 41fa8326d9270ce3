package reactor

import (
	"runtime"
	"weak"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/event"
)

// reference is what every public event of this package embeds. The event behind it lives on while the loop needs it; a
// reference that is collected only posts to the loop that it is gone.
//
// An event that is not started has no C handle, except for the descriptor of a poll, so there is nothing that collection
// could have to touch at once.
type reference struct {
	event.Reference
	cleanup *runtime.Cleanup // nil for the events that need none
}

// Close closes the event: it is stopped, its handle closes, nobody is called any more. Idempotent, always nil.
func (r *reference) Close() error {
	r.unwatch()
	err := r.Reference.Close()
	runtime.KeepAlive(r)
	return err
}

// Dispose drops this reference without stopping the event: one that is started goes on until it ends or the loop does.
// Every later call on the reference answers ErrClosed. Idempotent.
func (r *reference) Dispose() {
	r.unwatch()
	r.Reference.Dispose()
	runtime.KeepAlive(r)
}

// gone says what the loop has to be told when a reference is collected. It must not lead to the event, or the event's
// callbacks, which often hold the reference, would keep it from ever being collected.
type gone struct {
	poster *cuv.Poster
	loop   weak.Pointer[Loop]
	event  weak.Pointer[event.Base]
	fd     *lease // polls: to give back when the event was collected together with its reference
}

// watch has the loop told when r is collected. It costs more than a timer, so it is for the events that need it: those
// that may be started for ever, and those with a descriptor.
func (r *reference) watch(l *Loop, fd *lease) {
	g := gone{l.binding.Poster(), weak.Make(l), weak.Make(r.Target()), fd}
	cleanup := runtime.AddCleanup(r, func(g gone) {
		// A closed loop has nothing to be told.
		_ = g.poster.Post(g.tell)
	}, g)
	r.cleanup = &cleanup
}

func (r *reference) unwatch() {
	if r.cleanup != nil {
		r.cleanup.Stop()
		r.cleanup = nil
	}
}

func (g gone) tell() {
	if b := g.event.Value(); b != nil {
		if l := g.loop.Value(); l != nil && b.Started() {
			l.orphans[b] = struct{}{}
		}
		b.Dispose()
	}
	if g.fd != nil && g.event.Value() == nil {
		g.fd.release()
	}
}
