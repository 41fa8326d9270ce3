// Package event is the common ground of everything that happens later: a timer, a readable socket, a finished
// coroutine, a value in a channel. Each of them is an event, and all events are used in the same way: subscribe a
// callback, start the event, and be called when it happens.
//
// # Who does what
//
//   - [Base] is the event itself: its flags, its references, who listens to it, and whether it is in the loop.
//   - [Kind] is what one type of event adds: how the real thing begins, stops and is released.
//   - [Callback] is one subscription. It knows its own place, so removing one of ten thousand costs as much as
//     removing one of two, and it may be removed at any time, also while the event calls its callbacks.
//   - [Reference] is the handle that a user holds. The event may outlive it, and the event may be closed before it.
//   - [Count] is how many visible events are in the loop: what keeps the loop turning.
//
// # A life
//
// An event is created with one reference and can be subscribed to at once. [Base.Start] puts it in the loop, where it
// counts as live unless it is hidden. When it happens, its kind calls [Base.Notify]; kinds that happen once are closed
// by then, periodic kinds go on. [Base.Stop] takes it out of the loop again; it can be started anew. A closed event
// takes no more subscriptions, except that one which stores its outcome replays it to whoever comes late. The last
// [Base.Dispose] releases what is left.
//
// # Goroutines
//
// Nothing in this package locks. An event, its callbacks and its references belong to the goroutine that runs their
// loop, and only that goroutine may call them; other goroutines post a function to the loop.
package event
