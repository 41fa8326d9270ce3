package pool

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// With acquires a resource, runs fn with it, and releases it, in whatever way fn ends. It returns the error of Acquire, or what fn
// returns together with the error of Release (POOL-30). Errors of its own: *event.InvalidArgumentError for a nil fn.
func (p *Pool[T]) With(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine, v T) error, opts ...scheduler.WaitOption) (err error) {
	if fn == nil {
		return &event.InvalidArgumentError{Call: callWith, Arg: "function", Got: nil, Legal: "pass what to do with the resource"}
	}
	c, err := p.entered(callWith, co)
	if err != nil {
		return err
	}
	h, err := p.Acquire(co, opts...)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		failure := h.Release(co)
		switch {
		case returned:
			err = event.Join(err, failure)
		case failure != nil: // fn panics: there is no other way to tell
			c.failed("With", failure)
		}
	}()
	err = fn(co, h.Value())
	returned = true
	return err
}

// Use is [Pool.With] for what returns a value. With an error the value is what fn has returned beside it.
func Use[T, R any](co *scheduler.Coroutine, p *Pool[T], fn func(co *scheduler.Coroutine, v T) (R, error), opts ...scheduler.WaitOption) (r R, err error) {
	if fn == nil {
		return r, p.With(co, nil, opts...)
	}
	err = p.With(co, func(co *scheduler.Coroutine, v T) (err error) {
		r, err = fn(co, v)
		return err
	}, opts...)
	return r, err
}
