package coro

// hop is a hand-over by way of the root, which alone calls next; the others yield to it.
func (g *Group) hop(from *Context) {
	if from != g.root {
		if g.to != from {
			from.mailbox.Yield(struct{}{})
		}
		return
	}
	for g.to != g.root {
		g.to.mailbox.Next()
	}
}
