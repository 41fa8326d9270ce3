package coro

// mailbox is what iter.Pull makes: it holds one parked goroutine. Whoever steps into it sets the occupant running and
// takes its place. The two functions do the same, but iter.Pull insists that they are called in turns.
type mailbox struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	taken bool // by next; yield is due
}

func (m *mailbox) step() {
	if m.taken {
		m.taken = false
		m.yield(struct{}{})
		return
	}
	m.taken = true
	m.next()
}

// step steps from's goroutine into the mailbox in which g.to is parked. A context that ends sets the occupant of its own
// mailbox running, whoever that is; if it is not whom the group wants to run, it passes on.
func (g *Group) step(from *Context) {
	for g.to != from {
		m := g.to.in
		from.in = m
		m.step()
	}
}
