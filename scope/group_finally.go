package scope

import "github.com/uvasync/uvasync/scheduler"

// finalizer is a handler of OnFinally.
type finalizer struct {
	call func(self *scheduler.Coroutine) error
	fn   any // the user's function, for reports
}

// OnFinally has h called once, when the group is closed and all its tasks have ended, after those were woken who await it or
// [Group.All]; several in the order of the calls (TG-19). They run one after the other in a coroutine of their own, self,
// which may suspend; its scope outlives cancellation. Their failures go to the scope that the group was made in. When the
// group has ended already, h runs at once, with self the coroutine that is running (nil in callbacks), and its error is
// returned.
//
// Errors: *event.InvalidArgumentError for a nil h, *event.UsageError from a foreign goroutine.
func (g *Group[K, T]) OnFinally(h func(self *scheduler.Coroutine, g *Group[K, T]) error) error {
	const call = "scope: Group.OnFinally"
	if err := g.inner().check(call); err != nil {
		return err
	}
	if h == nil {
		return nilFunction(call, "pass what to call when the group has ended")
	}
	e := g.engine
	if e.over {
		return e.s.Call(func() error { return h(e.s.Current(), g) })
	}
	// With a handle of its own: until then nobody needs this one.
	e.finally = append(e.finally, finalizer{func(self *scheduler.Coroutine) error { return h(self, groupOf(e)) }, h})
	return nil
}

// startFinally starts the coroutine that calls the handlers.
func (c *core) startFinally() {
	if len(c.finally) == 0 {
		return
	}
	handlers := c.finally
	c.finally = nil
	calls := make([]func(self *scheduler.Coroutine) error, 0, len(handlers)+1)
	c.handles++ // what is left to be taken is not reported before the handlers had their chance
	for _, h := range handlers {
		calls = append(calls, h.call)
	}
	calls = append(calls, func(*scheduler.Coroutine) error {
		c.dropHandle()
		return nil
	})
	c.around.Finally("finally of a "+c.kind.String(), handlers[0].fn, calls, func(err error) { c.around.Fail(nil, err) })
}
