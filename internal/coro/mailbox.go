package coro

// Mailbox is what iter.Pull makes: it holds one parked goroutine. Whoever steps into it sets the occupant running and
// takes its place. The two functions do the same, but iter.Pull insists that they are called in turns.
type Mailbox struct {
	Next  func() (struct{}, bool)
	Yield func(struct{}) bool
	Taken bool // by Next; Yield is due
}
