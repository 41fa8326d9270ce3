// Package scheduler runs coroutines on an event loop, one at a time.
//
// A [Coroutine] is a Go function that gets its own *Coroutine as an argument and passes it to whatever may suspend:
// [Coroutine.Delay], [Coroutine.Await], a receive from a channel. While it waits, the others run. It can be cancelled, and
// then its suspension points fail until it returns; it is a context.Context; and it belongs to a [Scope], where its failure
// goes when nobody awaits it.
//
// The scheduler knows events, and of the event loop only what [Reactor] says. Programs use it through package uvasync, which
// puts it on libuv, and tests through package uvtest, which puts it on virtual time.
//
// Ids such as CORO-01 name the rules that the library obeys; the tests that prove them carry the same ids.
package scheduler
