package future

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/callerpc"
	"github.com/uvasync/uvasync/scheduler"
)

// FromEvent returns a future of the next time that ev happens. ev is started for it; when the future is cancelled or
// disposed first, or its scope is cancelled or over, ev is stopped and unsubscribed, and its later firing touches nothing
// (EVT-15). An event that cannot be subscribed to gives a failed future. Loop goroutine only: it panics with an
// [event.UsageError] elsewhere, and with an [event.InvalidArgumentError] when owner or ev is nil.
//
//go:noinline
func FromEvent(owner scheduler.Scoped, ev event.Event) *Future[any] {
	const call = "future: FromEvent"
	f := &Future[any]{}
	f.core.init(scopeOf(call, owner), callerpc.Get())
	f.core.checked(call)
	if ev == nil {
		panic(nilArgument(call, "event", "pass the event to wait for"))
	}
	s := &subscription{}
	f.core.more().stop = s.leave
	f.core.own()
	s.subscribe(call, ev, func(result any, err error) { f.set(result, err) })
	s.start()
	return f
}
