// Package cosync has the primitives of package sync for coroutines: [Mutex], [RWMutex], [Semaphore], [WaitGroup], [Once] and
// [Cond]. Whoever waits in one suspends, and the others go on.
//
// Coroutines take turns, so a stretch of code that does not suspend needs no lock at all. These are for what must stay
// whole across suspension points: a conversation on one connection, a file that several append to, a value that is
// fetched once.
//
// # What all of them do
//
//   - Lines are fair: who came first is served first. Nobody overtakes, not the coroutine that has just unlocked, not one
//     that needs less (GEN-04).
//   - Every wait can be cancelled, and bounded by [scheduler.Timeout] and [scheduler.Token]. What had been set aside for a
//     coroutine that leaves goes to the next in line, in the same step (GEN-01, GEN-05).
//   - The zero value is ready, but for a Semaphore and a Cond, which need to know their size and their mutex. Do not copy one
//     that was used.
//   - An object belongs to the run of the first coroutine that uses it. Coroutines of other runs are refused with an
//     *event.UsageError that names both (GEN-11).
//   - A wait returns an *event.UsageError when it is called by somebody else than the coroutine that it is given, and for
//     a misuse that would be a deadlock: to lock what one holds already.
//   - Calls without an error, such as Unlock, panic with the same *event.UsageError: after "defer m.Unlock()" nobody would
//     look at it. Other goroutines than the loop's are refused that way, too.
//   - Those that have holders know who they are, and so do the reports of deadlocks.
//
// No call allocates memory, once an object has seen its largest crowd.
package cosync
