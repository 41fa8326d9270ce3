package future

// listener is told once that a future has settled.
type listener interface {
	// settled is called on the loop's goroutine, after the node was taken out of the list of c.
	settled(c *core)
}

// node is a place in the list of those who listen to one future. It is part of whatever listens, so that joining and
// leaving cost no allocation and no search. Loop goroutine only.
type node struct {
	listener   listener
	core       *core // nil while not in a list
	prev, next *node
	counts     bool // somebody waits here, see core.gain
}

// add puts n at the end of the list.
func (c *core) add(n *node, l listener, counts bool) {
	n.listener, n.core, n.counts = l, c, counts
	if c.first == nil {
		n.prev, n.next = n, n
		c.first = n
	} else {
		last := c.first.prev
		n.prev, n.next = last, c.first
		last.next, c.first.prev = n, n
	}
	if counts {
		c.gain()
	}
}

// leave takes n out of the list it is in, if any.
func (n *node) leave() {
	c := n.core
	if c == nil {
		return
	}
	switch {
	case n.next == n:
		c.first = nil
	case c.first == n:
		c.first = n.next
		fallthrough
	default:
		n.prev.next, n.next.prev = n.next, n.prev
	}
	n.core, n.prev, n.next = nil, nil, nil
	if n.counts {
		c.lose()
	}
}
