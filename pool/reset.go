package pool

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// Reset retires the resources that exist or are being made: idle ones are destroyed before it returns, the others when they come
// back. New ones take their places: up to Config.Min at once, the others when they are wanted. It is for when what they were made
// from has changed, a password say. It returns the failures of Destroy, or a *event.UsageError. It works when co is cancelled. On a
// closed pool it does nothing.
func (p *Pool[T]) Reset(co *scheduler.Coroutine) error {
	c, err := p.by(callReset, co)
	if err != nil {
		return err
	}
	c.reset++
	c.forgoSpare()
	failures := c.destroyAll(co, c.takeIdle())
	c.refill()
	return event.Join(failures...)
}
