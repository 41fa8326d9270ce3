package pool

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// made returns what a *Pool stands for, on any goroutine; a *event.UsageError when New has not made it.
func (p *Pool[T]) made(call string) (*core[T], error) {
	if p == nil || p.core == nil {
		return nil, &event.UsageError{Call: call, Problem: "the pool was not made by New", Fix: "look at the error of New first"}
	}
	return p.core, nil
}

// onLoop is made, for calls that are for the loop.
func (p *Pool[T]) onLoop(call string) (*core[T], error) {
	c, err := p.made(call)
	if err == nil {
		err = c.s.Check(call)
	}
	return c, err
}

// by is onLoop, for calls of a coroutine: co must be the caller, and of the pool's run (GEN-11).
func (p *Pool[T]) by(call string, co *scheduler.Coroutine) (*core[T], error) {
	c, err := p.made(call)
	if err == nil {
		err = c.by(call, co)
	}
	return c, err
}

func (c *core[T]) by(call string, co *scheduler.Coroutine) error {
	if err := co.Check(call); err != nil {
		return err
	}
	if co.Scheduler() != c.s { // the text costs something
		return c.s.CheckRun(call, co, "the "+named(c.name))
	}
	return nil
}

// must is for calls that return no error.
func must[T any](c *core[T], err error) *core[T] {
	if err != nil {
		panic(err)
	}
	return c
}
