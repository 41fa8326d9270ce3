// Package future gives names to values that come later, and waits for many of them at once.
//
// # Futures
//
// [Go] starts a coroutine and returns the [Future] of its result. [New] makes a future together with its [Completer], for
// a value that somebody else will bring; [NewRemote] makes one that any goroutine may complete. [Map], [Future.Catch] and
// [Future.Finally] make futures from futures. Whoever needs the value calls [Future.Await], once or many times: the outcome
// stays.
//
// A future is an event: it goes wherever an event.Event does, into Await and AwaitFirst of a coroutine, into the
// combinators beside timers and coroutines, and into scheduler.Token, to bound a wait.
//
// # Nothing is lost
//
// The error of a future is for those who await it, and for nobody else. If nobody does, the scope that owns the future is
// told when it completes: its error handler, or the run, gets an [UnhandledError] that says where the future was made. A
// value that nobody uses is a line in the log. [Future.Ignore] silences both.
//
// # Many at once
//
// The combinators differ in what is enough:
//
//	AwaitAll           everything has settled
//	AwaitAllOrFail     everything has succeeded, or something has failed
//	AwaitAnyOf         n have succeeded, or everything has settled
//	AwaitAnyOfOrFail   n have succeeded, or something has failed
//	AwaitFirstSuccess  something has succeeded, or everything has failed
//	AwaitAnyOrFail     something has settled
//
// Each takes an [Input]: futures of one type, whose values keep it ([Of], [OfMap], [OfSeq], [OfSeq2], [OfTry]), or events
// of any kinds ([Events], [EventMap], [EventSeq], [EventTry]). Results are [Keyed]: they have the keys and the order of
// the input. What was not needed goes on undisturbed.
//
// [ForEach] is for the other direction: it calls a function for every value of a sequence, some of them at once.
//
// # Goroutines
//
// Everything here belongs to the loop of one run, except a [RemoteCompleter], which is for any goroutine. Calls from
// elsewhere are refused with an event.UsageError, and so is the future of another run (GEN-11).
//
// Ids such as FUT-01 name the rules that the library obeys.
package future
