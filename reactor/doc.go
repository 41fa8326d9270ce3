// Package reactor is a libuv loop whose timers, polls, signals and triggers are events.
//
// Make a [Loop], make events on it, subscribe to them, start them, and [Loop.Run] calls the subscribers on the calling
// goroutine until no visible event is left. Nothing here is for other goroutines than the one that runs the loop, except
// [Loop.Post], [Loop.Stop] and [Trigger.Fire].
//
// What the constructors return are references: they can be dropped at any moment, the loop keeps what is started. Each has
// the methods of [event.Reference] beside its own: Start, Stop, Started, Subscribe, AddCallback, DelCallback, SetHidden,
// Info, and Close and Dispose. Each kind of event is one file.
//
// Ids such as REACT-01 name the rules that the library obeys; the tests that prove them carry the same ids.
package reactor
