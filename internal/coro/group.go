package coro

import "iter"

// Group is the contexts of one run. The goroutine that made it is its root context. Everything about a group is for
// whichever of its contexts is running.
type Group struct {
	root      *Context
	to        *Context // who shall run; differs from who woke up when a context has ended
	all       *Context // newest first, linked through older
	count     int
	symmetric bool
}

// Context is a goroutine of a group. It is parked, except for one.
type Context struct {
	group        *Group
	body         func()
	mailbox      mailbox  // its own
	in           *mailbox // symmetric: where it is parked
	older, newer *Context
	ending       bool // its next Switch answers false
	exited       bool // its body was left by runtime.Goexit
	ended        bool
}

// NewGroup makes a group whose root is the calling goroutine. All of a group's life must pass under one state of thread
// locking: the Go runtime ends the process otherwise.
func NewGroup() *Group { return newGroup(symmetricWorks()) }

func newGroup(symmetric bool) *Group {
	g := &Group{symmetric: symmetric}
	g.root = &Context{group: g}
	g.to = g.root
	return g
}

// Root is the context of the goroutine that made the group.
func (g *Group) Root() *Context { return g.root }

// Count is how many contexts there are beside the root.
func (g *Group) Count() int { return g.count }

// New makes a context that is parked and begins with body when it is switched to for the first time. Body must not panic,
// and must end soon once Switch has answered false. Before it returns otherwise, it says with Leave who runs next. When it
// is left by runtime.Goexit, onExit is called in its place, under the same terms.
func (g *Group) New(body, onExit func()) *Context {
	c := &Context{group: g, body: body, older: g.all}
	if g.all != nil {
		g.all.newer = c
	}
	g.all = c
	g.count++
	c.mailbox.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.mailbox.yield = yield
		c.run(onExit)
	})
	c.in = &c.mailbox
	return c
}

// gone is thrown by a context that was left by Goexit when it ends. iter.Pull carries both a Goexit and a panic to
// whoever called next; a Goexit nobody could stop there, this the root recovers.
type gone struct{}

func (c *Context) run(onExit func()) {
	defer func() {
		if !c.exited {
			c.end()
			return
		}
		onExit()
		c.end()
		panic(gone{})
	}()
	if c.ending {
		return
	}
	c.exited = true
	c.body()
	c.exited = false
}

// end takes c out of the group's list.
func (c *Context) end() {
	c.ended = true
	c.group.count--
	if c.ending {
		c.group.to = c.group.root
	}
	if c.newer == nil {
		c.group.all = c.older
	} else {
		c.newer.older = c.older
	}
	if c.older != nil {
		c.older.newer = c.newer
	}
}

// Switch parks from, which must be the running context, and has to run. It returns when from is switched to, and answers
// whether from goes on; false: it shall return from its body. Switching to itself returns at once.
func (g *Group) Switch(from, to *Context) bool {
	g.to = to
	if g.symmetric {
		g.step(from)
	} else {
		g.hop(from)
	}
	return !from.ending
}

// Leave says who runs when the running context's body has returned.
func (g *Group) Leave(to *Context) { g.to = to }

// End ends every context, from the root, each by letting its Switch answer false. Contexts that have not begun never do.
func (g *Group) End() {
	// Those that were left by Goexit come last: what they throw must meet the root alone.
	g.endAll(false)
	g.endAll(true)
}

func (g *Group) endAll(exited bool) {
	for c := g.all; c != nil; {
		older := c.older
		if c.exited == exited {
			g.endOne(c)
		}
		c = older
		if c != nil && c.ended { // ended on the way, by what another has thrown
			c = g.all
		}
	}
}

func (g *Group) endOne(c *Context) {
	defer func() {
		if r := recover(); r != nil && r != (gone{}) {
			panic(r)
		}
	}()
	c.ending = true
	g.Switch(g.root, c)
}
