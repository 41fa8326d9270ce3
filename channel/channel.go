package channel

import (
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/ring"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// Config is what a channel can have beyond a capacity. The zero value is a plain channel.
type Config struct {
	// Name appears in errors and reports.
	Name string
	// NoProducerTimeout closes the channel with [ErrNoProducers] when a receiver has waited for so long and nothing was
	// sent. 0: never; negative: refused (CHAN-29, CHAN-30).
	NoProducerTimeout time.Duration
	// NoConsumerTimeout closes the channel with [ErrNoConsumers] when a sender has waited for so long and nothing was
	// received. 0: never; negative: refused.
	NoConsumerTimeout time.Duration
	// Hard makes the two ordinary events, which keep the run waiting for them. By default they are soft: hidden, and when
	// nothing else in the run can go on, the channel is closed with [ErrDeadlock] at once (CHAN-31, CHAN-32).
	Hard bool
}

// Channel carries values of one type between the coroutines of one run. Make one with [New]. As an event it happens once,
// when it is closed, with what [Channel.Reason] says, and is replayed; after Close that is no error.
//
// Loop only: the coroutines and the callbacks of its run.
type Channel[T any] struct {
	s        *scheduler.Scheduler
	capacity int
	values   ring.Ring[T] // that are nobody's; oldest first
	reason   error        // nil: open
	timed    bool         // one of the two limits is set
	hard     bool         // Config.Hard

	// Receivers that something is set aside for have their value in their Data: it occupies its slot until they take it.
	//
	// Whoever waits in receivers implies that values is empty; whoever waits in senders, that there is no free slot (for
	// capacity 0: that nobody else waits in receivers). Every call keeps that, so newcomers never overtake.
	receivers waitq.Queue[place[T]]
	senders   waitq.Queue[place[T]]

	producers limit // the two timeouts
	consumers limit
	starving  scheduler.StarvingNode
	owned     scheduler.Owned
	dice      uint64 // for the choice of Select
	name      string
	base      event.Base
}

// place is what a waiter of a channel carries.
type place[T any] struct {
	value T // a receiver: what it was given; a sender: what it sends
	// A receiver that is no coroutine in Recv is one of these.
	answer *future.Completer[T]
	// A case of a Select, on either side, is this.
	turn *turn
}

// New makes a channel that belongs to the current scope of owner (CHAN-33). capacity is the number of values that can be
// sent before one is received, and costs nothing until it is used; with 0 every Send waits for its receiver. config is one
// or none. Errors: *event.InvalidArgumentError for a negative capacity or timeout and for several configs,
// *event.UsageError for a nil owner or from a foreign goroutine. Loop only.
func New[T any](owner scheduler.Scoped, capacity int, config ...Config) (*Channel[T], error) {
	var cfg Config
	switch len(config) {
	case 0:
	case 1:
		cfg = config[0]
	default:
		return nil, &event.InvalidArgumentError{Call: callNew, Arg: "number of configs", Got: len(config), Legal: "pass one or none"}
	}
	if err := cfg.check(capacity); err != nil {
		return nil, err
	}
	scope, err := scopeOf(callNew, owner)
	if err != nil {
		return nil, err
	}
	c := &Channel[T]{s: scope.Scheduler(), capacity: capacity, name: cfg.Name}
	c.base.Init((*closing[T])(c), nil, 0)
	c.receivers.Init((*receiving[T])(c))
	c.senders.Init((*sending[T])(c))
	c.setLimits(cfg)
	scope.Own(&c.owned, (*belonging[T])(c))
	return c, nil
}

func (cfg Config) check(capacity int) error {
	const notNegative = "it must not be negative"
	switch {
	case capacity < 0:
		return &event.InvalidArgumentError{Call: callNew, Arg: "capacity", Got: capacity, Legal: notNegative}
	case cfg.NoProducerTimeout < 0:
		return &event.InvalidArgumentError{Call: callNew, Arg: "NoProducerTimeout", Got: cfg.NoProducerTimeout, Legal: notNegative}
	case cfg.NoConsumerTimeout < 0:
		return &event.InvalidArgumentError{Call: callNew, Arg: "NoConsumerTimeout", Got: cfg.NoConsumerTimeout, Legal: notNegative}
	}
	return nil
}

func scopeOf(call string, owner scheduler.Scoped) (*scheduler.Scope, error) {
	if owner != nil {
		if scope := owner.Scope(); scope != nil {
			return scope, scope.Scheduler().Check(call)
		}
	}
	return nil, &event.UsageError{Call: call, Problem: "there is no owner", Fix: "pass the coroutine that calls, or a scope"}
}

// AsEvent returns the event that happens when the channel is closed.
func (c *Channel[T]) AsEvent() *event.Base { return &c.base }

// RefuseWait is what the waits of coroutines ask: those of other runs cannot wait for the channel (GEN-11).
func (c *Channel[T]) RefuseWait(call string, co *scheduler.Coroutine) error {
	if c == nil || c.s == nil {
		return &event.UsageError{Call: call, Problem: "the channel was not made by New", Fix: "look at the error of New first"}
	}
	return c.s.CheckRun(call, co, "the channel")
}

// Flags returns the event's flags.
func (c *Channel[T]) Flags() event.Flags { return c.base.Flags() }

// Cap returns the capacity.
func (c *Channel[T]) Cap() int { return c.capacity }

// Len returns how many values are in the channel, with those that a woken receiver is about to take. For capacity 0 that
// is 1 while a sender waits with its value (CHAN-06), plus what was handed to receivers that have not run yet.
func (c *Channel[T]) Len() int {
	c.must("channel: Len")
	return c.len()
}

// Empty reports whether Len is 0.
func (c *Channel[T]) Empty() bool {
	c.must("channel: Empty")
	return c.len() == 0
}

// Full reports whether the channel holds as many values as it can, for capacity 0 one (CHAN-06).
func (c *Channel[T]) Full() bool {
	c.must("channel: Full")
	return c.len() >= max(c.capacity, 1)
}

// Closed reports whether the channel is closed; there may be values left.
func (c *Channel[T]) Closed() bool {
	c.must("channel: Closed")
	return c.reason != nil
}

// Reason returns why the channel was closed, as one of this package's errors, or nil while it is open.
func (c *Channel[T]) Reason() error {
	c.must("channel: Reason")
	return c.reason
}

func (c *Channel[T]) len() int {
	n := c.values.Len() + c.receivers.Reserved()
	if n == 0 && c.capacity == 0 && c.senders.Waiting() > 0 {
		return 1 // the value of the first one stands in the slot
	}
	return n
}

// room reports whether there is a free slot that is nobody's. Not for capacity 0.
func (c *Channel[T]) room() bool {
	return c.values.Len()+c.receivers.Reserved()+c.senders.Reserved() < c.capacity
}
