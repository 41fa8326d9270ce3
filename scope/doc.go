// Package scope gives coroutines an owner, and an end.
//
// # Scopes
//
// A [Scope] owns the coroutines that are spawned in it. Scopes form a tree: [New] and [Inherit] make one below that of a
// coroutine, and whatever ends a scope ends those below it, never those around or beside it. The failure of a coroutine that
// nobody awaits cancels all others in its scope, safe or not, and goes on to the scope around it; in the end it is the
// failure of the run. A handler ([Scope.OnError], [Scope.OnChildError]) deals with it, and the others go on: set one where
// code of third parties runs.
//
// # Zombies
//
// Not all code takes a cancellation well. A scope is safe, unless AsNotSafely was called: when it is cancelled or closed, the
// coroutines that have started are not interrupted. They run on to their end as zombies: nobody waits for them, neither
// AwaitCompletion nor the run, which cancels them when it is over: at its natural end, and at any other, as when the
// context given to Run is done. The failure of a zombie is a failure like any other.
//
//	                        coroutines                            the scope is closed
//	Cancel                  by the safe flag; unstarted never run  when the last has ended
//	Dispose                 are cancelled, all, at once            at once
//	DisposeSafely           run on, as zombies                     at once
//	DisposeAfterTimeout(d)  are cancelled after d, all             at once, for new ones
//	Close                   DisposeSafely if it is safe, otherwise Dispose
//
//	                        waits for active ones   for zombies   needs one of the calls above first
//	AwaitCompletion         yes                     no            no
//	AwaitAfterCancellation  yes                     yes           yes (of DisposeAfterTimeout, d must be over)
//
// Zombies are told of in a log: see [scheduler.ZombieLog].
//
// # Groups
//
// A [Group] runs tasks that return something: some at a time, in the order in which they were spawned, and keeps what they
// returned. A [Set] hands each outcome out once and forgets it. Their calls are not quite those of a scope:
//
//	Close    no more tasks; what runs and what waits for its turn goes on
//	Cancel   no more tasks; what runs is cancelled, in a safe scope, too; what waits never starts
//	Dispose  the same
//
// A failure that nobody takes reaches the scope around in the end: whoever leaves a loop over Outcomes, or needs only the
// first result, says SuppressErrors, or cancels the rest and takes what becomes of it.
//
// # Goroutines
//
// Everything here belongs to the loop of one run. Calls from elsewhere that do something, or wait, are refused with an
// event.UsageError; most of those that return no error panic with it.
//
// Ids such as SCOPE-09 name the rules that the library obeys.
package scope
