// Package waitq is the one queue of waiters under everything that a coroutine can wait for in line: a channel's senders
// and receivers, a mutex, a semaphore, a pool. It is fair, cancellable, and allocates nothing once it has seen its largest
// crowd.
//
// # The contract
//
// A [Queue] belongs to an [Owner], which has something to give: a value, a slot, a lock. A [Waiter] stands in the queue,
// at the end from [Queue.Push] on (GEN-04), until one of these happens to it:
//
//   - The owner sets something aside for it: [Queue.Reserve]. The waiter is woken, which only makes it ready to run
//     (GEN-01). From now on what was set aside is nobody else's; the owner stops offering it, and Reserved counts it.
//     When the coroutine runs, its Park returns nil, the reservation is over, and the caller has what it waited for.
//   - The owner is done with it and has nothing to set aside: [Queue.Release]. Park returns nil.
//   - The owner turns it away: [Queue.Reject], [Queue.RejectAll]. Park returns the error.
//   - It leaves: its coroutine is cancelled, a limit is over, a token fires. Park returns that error, and long before the
//     coroutine runs, in the step in which it happens, the waiter is out of the queue and [Owner.Departed] is told. A
//     waiter that leaves after Reserve takes nothing (GEN-02), so the owner passes on what it had set aside, then and
//     there (GEN-01, GEN-05).
//
// So a caller reads like this, and nothing between Park and the use of what it got may suspend:
//
//	w := q.Push(co, data)
//	err := w.Park("lock: Lock", opts...) // out of the queue now, however it ended
//	w.Free()
//
// A waiter without a coroutine (Push with nil) is never woken: the owner finds it with [Queue.First], does itself what
// there is to do (completes a future, say), and takes it out with Reserve, Release, Reject or [Waiter.Leave]. It ends a
// reservation of its own with [Waiter.Take].
//
// No method runs code of a user. Owner.Departed may, when it is done with its own state.
//
// Loop goroutine only, all of it; the callers check that.
package waitq
