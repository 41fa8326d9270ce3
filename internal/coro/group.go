package coro

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// Group is the contexts of one run. The goroutine that made it is its root context. Everything about a group is for
// whichever of its contexts is running.
type Group struct {
	to        *Context // who shall run; differs from who woke up when a context has ended
	root      *Context
	all       *Context // newest first, linked through older
	count     int
	symmetric bool
}

// Body is what runs on a context.
type Body interface {
	// Run is the body. It must not panic, and must end soon once Switch has answered false. Before it returns otherwise, it
	// says with Leave who runs next.
	Run()
	// Exited is called in its place, under the same terms, when it was left by runtime.Goexit.
	Exited()
}

// Context is a goroutine of a group; all but one are parked. It is to be embedded in what runs on it, and made ready by
// [Group.New]. Do not copy it.
type Context struct {
	in           *Mailbox // symmetric: where it is parked
	mailbox      Mailbox  // its own
	ending       bool     // its next Switch answers false
	inside       bool     // its body runs, or was left by something else than its end
	exited       bool     // its body was left by runtime.Goexit
	ended        bool
	group        *Group
	body         Body
	older, newer *Context
}

// NewGroup makes a group whose root, a context that needs no New, is the calling goroutine. All of a group's life must pass under one state of thread
// locking: the Go runtime ends the process otherwise.
func NewGroup(root *Context) *Group { return newGroup(root, symmetricWorks()) }

func newGroup(root *Context, symmetric bool) *Group {
	*root = Context{}
	g := &Group{symmetric: symmetric, root: root, to: root}
	root.group = g
	return g
}

// Count is how many contexts there are beside the root.
func (g *Group) Count() int { return g.count }

// New makes c a context that is parked and begins with body when it is switched to for the first time.
func (g *Group) New(c *Context, body Body) {
	*c = Context{group: g, body: body, older: g.all}
	if g.all != nil {
		g.all.newer = c
	}
	g.all = c
	g.count++
	// One function, with little in it, because what is below a body takes from every parked stack.
	c.mailbox.Next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.mailbox.Yield = yield
		if c.ending {
			c.end()
			return
		}
		c.inside = true
		defer c.over()
		c.body.Run()
		c.inside = false
	})
	c.in = &c.mailbox
}

// gone is thrown by a context that was left by Goexit when it ends. iter.Pull carries both a Goexit and a panic to
// whoever called next; a Goexit nobody could stop there, this the root recovers.
type gone struct{}

// over is what follows the body.
func (c *Context) over() {
	if r := recover(); r != nil {
		crash(r)
	}
	if !c.inside {
		c.end()
		return
	}
	c.exited = true
	defer func() { // also when what another one has thrown passes through
		c.end()
		panic(gone{})
	}()
	c.body.Exited()
}

// crash ends the process: a body must not panic, and iter.Pull would carry it to whoever it is that is parked there.
func crash(r any) {
	text := fmt.Sprintf("bug: coro: the body of a context panicked: %v\n\n%s", r, debug.Stack())
	go func() { panic(text) }()
	select {}
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
	if m := g.Begin(from, to); m == nil {
		g.hop(from)
	} else if m.Taken {
		m.Taken = false
		m.Yield(struct{}{})
	} else {
		m.Taken = true
		m.Next()
	}
	return g.End(from)
}

// Begin, one step into the mailbox that it returns, and End are Switch in three parts, for the one place where that is
// measured to matter: every function between the step and whoever waits costs a mispredicted return, because the processor
// predicts returns by the calls of the goroutine before. nil: use Switch.
func (g *Group) Begin(from, to *Context) *Mailbox {
	g.to = to
	if !g.symmetric || from == to {
		return nil
	}
	from.in = to.in
	return to.in
}

// End is the last part of Switch. A context that has ended sets the occupant of its own mailbox running, whoever that is: if
// it is not whom the group wants to run, it steps on.
func (g *Group) End(from *Context) bool {
	if g.to != from {
		g.Switch(from, g.to)
	}
	return !from.ending
}

// Leave says who runs when the running context's body has returned.
func (g *Group) Leave(to *Context) { g.to = to }

// EndAll ends every context, from the root, each by letting its Switch answer false. Contexts that have not begun never do.
func (g *Group) EndAll() {
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
