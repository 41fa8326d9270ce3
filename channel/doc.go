// Package channel lets the coroutines of one run hand values to each other, as Go's channels do for goroutines: in order,
// with a buffer or without, waiting when there is nothing to receive or no room to send.
//
// What is different from Go's:
//
//   - Every wait can be cancelled, bounded by a timeout, or by any event as a token, and says so with an error. Nothing is
//     lost by that: what was meant for a coroutine that leaves goes to the next in line, in the same step.
//   - Lines are fair: who came first is served first, and a newcomer never overtakes (GEN-04).
//   - Close may be called by anybody, any number of times. Sending on a closed channel is an error, not a panic. What was
//     sent can still be received.
//   - A channel belongs to the scope in which it was made. When that is cancelled or disposed, the channel is closed, and
//     nobody waits for ever for somebody who is gone.
//   - [Config] can close it when nobody sends, or nobody receives, for some time, or at once when nothing in the run can go
//     on any more: the end of a pipeline whose other half has died.
//
// # Calls
//
// [Channel.Send] and [Channel.Recv] wait, [Channel.TrySend] and [Channel.TryRecv] never do, [Channel.RecvAsync] gives a
// future, [Channel.All] is for range loops, and [Select] waits for one of several operations. All of them belong to the
// loop: to the coroutines and callbacks of the channel's run. From another goroutine, Post a function that calls them.
//
// # Capacity 0
//
// A channel of capacity 0 is a rendezvous: Send returns when its value was matched with a receiver. The value of the
// sender that has waited longest is said to be in the slot, so Len is 1 then; if that sender leaves, or the channel is
// closed, the value was not sent. TrySend alone needs no receiver: it leaves its value in the empty slot, and that value
// counts as sent.
package channel
