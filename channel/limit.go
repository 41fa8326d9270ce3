package channel

import (
	"time"

	"github.com/uvasync/uvasync/event"
)

// limit is one of the two timeouts: it runs while somebody waits for whom nothing is set aside (CHAN-29).
type limit struct {
	after    time.Duration
	deadline event.Deadline // nil: never
}

// setLimits makes the timeouts of cfg ready.
func (c *Channel[T]) setLimits(cfg Config) {
	prepare := func(l *limit, after time.Duration, reason error) {
		if after == 0 {
			return
		}
		c.timed = true
		l.after = after
		l.deadline = c.s.Reactor().NewDeadline(func() { c.close(reason) })
		l.deadline.SetHidden(!cfg.Hard)
	}
	prepare(&c.producers, cfg.NoProducerTimeout, ErrNoProducers)
	prepare(&c.consumers, cfg.NoConsumerTimeout, ErrNoConsumers)
	c.hard = cfg.Hard
}

// exchanged is called when a value was sent or received: the timeouts start again from zero.
func (c *Channel[T]) exchanged() {
	if c.timed {
		c.count(true)
	}
}

// waits is called when somebody has begun or ceased to wait, without an exchange.
func (c *Channel[T]) waits() {
	if c.timed {
		c.count(false)
	}
}

func (c *Channel[T]) count(anew bool) {
	open := c.reason == nil
	c.producers.run(open && c.receivers.Waiting() > 0, anew)
	c.consumers.run(open && c.senders.Waiting() > 0, anew)
	switch {
	case c.hard:
	case c.producers.running() || c.consumers.running():
		c.s.Starving(&c.starving, (*starving[T])(c))
	default:
		c.starving.Release()
	}
}

func (l *limit) run(wanted, anew bool) {
	switch {
	case l.deadline == nil:
	case !wanted:
		l.deadline.Stop()
	case anew || !l.deadline.Running():
		if err := l.deadline.Start(l.after); err != nil {
			panic("bug: channel: " + err.Error()) // the loop of a run outlives its channels
		}
	}
}

func (l *limit) running() bool { return l.deadline != nil && l.deadline.Running() }

// starving is a channel that waits under a soft timeout, for when nothing in the run can go on (CHAN-32).
type starving[T any] Channel[T]

func (o *starving[T]) Starve() bool {
	(*Channel[T])(o).close(ErrDeadlock)
	return true
}
