package future

import (
	"strconv"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// everything is the number of successes that only the end of the input stops.
const everything = int(^uint(0) >> 1)

// combined is a collector together with the keys of its entries.
type combined[K comparable, T any] struct {
	collector
	in   Input[K, T]
	opts []scheduler.WaitOption
	keys []K // of the entry at the same place
}

// combine does what all combinators do. The error is that of the wait, of the sequence, or, with failFast, of the item;
// what was collected by then is in the result all the same, so that no error is lost.
func combine[K comparable, T any](call string, co *scheduler.Coroutine, in Input[K, T], need int, failFast bool, opts []scheduler.WaitOption) (*combined[K, T], error) {
	c := &combined[K, T]{collector: collector{call: call, co: co, need: need, failFast: failFast}, in: in}
	if err := co.Enter(call); err != nil {
		return c, err
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return c, err
	}
	if need < 0 {
		return c, &event.InvalidArgumentError{Call: call, Arg: "n", Got: need, Legal: "pass how many must succeed, 0 or more"}
	}
	if in.each == nil {
		return c, nilArgument(call, "input", "make it with Of, Events, or one of their kin")
	}
	c.token = scheduler.TokenOf(co, opts)
	defer c.detach() // also when the sequence panics
	c.opts = opts
	if limit := scheduler.TimeoutOf(opts); in.lazy && limit > 0 {
		return c, co.WithTimeout(limit, c.run) // producing takes time too
	}
	return c, c.run(co)
}

func (c *combined[K, T]) run(co *scheduler.Coroutine) (err error) {
	switch {
	case c.need == 0:
	case c.in.lazy:
		// When there is enough while the sequence is suspended, nobody has to wait for its next item.
		err = co.WithCancel(func(_ *scheduler.Coroutine, cancel func(error)) error {
			c.interrupt = cancel
			return c.produce()
		})
		c.interrupt = nil
	default:
		err = c.produce()
	}
	if err != nil {
		return err
	}
	return c.wait(c.opts)
}

// produce adds what the input produces, until that is enough.
func (c *combined[K, T]) produce() (err error) {
	c.entries = make([]*entry, 0, c.in.size)
	c.order = make([]*entry, 0, c.in.size)
	c.keys = make([]K, 0, c.in.size)
	free := make([]entry, c.in.size)
	c.in.each(func(key K, item event.Event, failed error) bool {
		if c.in.lazy && c.enough() {
			return false
		}
		switch {
		case failed != nil:
			err = failed
		case item == nil:
			err = nilArgument(c.call, "item "+strconv.Itoa(len(c.entries)), "leave out what is not there")
		}
		if err != nil {
			return false
		}
		if len(free) == 0 {
			free = make([]entry, 4)
		}
		e := &free[0]
		free = free[1:]
		e.item, e.place = item, len(c.keys)
		c.keys = append(c.keys, key)
		c.entries = append(c.entries, e)
		if c.enough() { // only its key is wanted
			return true
		}
		if err = c.listen(e); err != nil {
			return false
		}
		if c.in.lazy {
			c.start()
			return !c.enough()
		}
		return !c.enough() || c.in.fill
	})
	return err
}

// visit calls fn for every entry, in the order that the input asks for.
func (c *combined[K, T]) visit(fn func(key K, e *entry)) {
	if !c.in.asTheyGo {
		for _, e := range c.entries {
			fn(c.keys[e.place], e)
		}
		return
	}
	for _, e := range c.order {
		fn(c.keys[e.place], e)
	}
	for _, e := range c.entries {
		if !e.over {
			fn(c.keys[e.place], e)
		}
	}
}

// values returns what has succeeded.
func (c *combined[K, T]) values() (values Keyed[K, T]) {
	values.reserve(c.ok)
	c.visit(func(key K, e *entry) {
		switch {
		case e.over && e.err == nil:
			values.add(key, c.in.value(e))
		case c.in.fill:
			var zero T
			values.add(key, zero)
		}
	})
	return values
}

// errors returns what has failed.
func (c *combined[K, T]) errors() (errs Keyed[K, error]) {
	errs.reserve(c.failed)
	c.visit(func(key K, e *entry) {
		if e.over && e.err != nil {
			errs.add(key, e.err)
		}
	})
	return errs
}

// first returns the value of the first to succeed.
func (c *combined[K, T]) first() (value T, ok bool) {
	for _, e := range c.order {
		if e.err == nil {
			return c.in.value(e), true
		}
	}
	return value, false
}
