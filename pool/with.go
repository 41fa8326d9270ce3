package pool

import (
	"errors"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// With acquires a resource, runs fn with it, and releases it, in whatever way fn ends, a panic included. It returns the error of
// Acquire, or what fn returns together with the error of Release (POOL-30). An error of fn says nothing about the resource, unless it
// is one of [Discard]: then the resource is destroyed. Errors of its own: *event.InvalidArgumentError for a nil fn.
func (p *Pool[T]) With(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine, v T) error, opts ...scheduler.WaitOption) (err error) {
	if fn == nil {
		return &event.InvalidArgumentError{Call: callWith, Arg: "function", Got: nil, Legal: "pass what to do with the resource"}
	}
	c, err := p.by(callWith, co)
	if err != nil {
		return err
	}
	h, err := p.Acquire(co, opts...)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		failure := h.endWith(co, err)
		switch {
		case returned:
			err = event.Join(err, failure)
		case failure != nil: // fn panics: there is no other way to tell
			c.unseen(&HookError{c.name, "Release", failure})
		}
	}()
	err = fn(co, h.Value())
	returned = true
	return err
}

// endWith gives the resource back after a function that returned err.
func (h Handle[T]) endWith(co *scheduler.Coroutine, err error) error {
	if err == nil {
		return h.Release(co)
	}
	var broken *discarded
	if errors.As(err, &broken) {
		return h.Discard(co, broken.error)
	}
	return h.Release(co)
}

// Use is [Pool.With] for what returns a value. With an error the value is what fn has returned beside it.
func Use[T, R any](
	co *scheduler.Coroutine, p *Pool[T], fn func(co *scheduler.Coroutine, v T) (R, error), opts ...scheduler.WaitOption,
) (r R, err error) {
	if fn == nil {
		return r, p.With(co, nil, opts...)
	}
	err = p.With(co, func(co *scheduler.Coroutine, v T) (err error) {
		r, err = fn(co, v)
		return err
	}, opts...)
	return r, err
}

// Discard is err for a function of [Pool.With] or [Use] to return when the resource is no good any more: it is destroyed as by
// [Handle.Discard], with err as the reason. nil for a nil err.
func Discard(err error) error {
	if err == nil {
		return nil
	}
	return &discarded{err}
}

// discarded has the text, and all else, of the error in it.
type discarded struct{ error }

func (d *discarded) Unwrap() error { return d.error }
