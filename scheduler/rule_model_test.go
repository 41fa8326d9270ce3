package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// chaos is a run in which everything is chosen by chance, in virtual time. Whoever waits in the line is known to it, so that
// it can check every wake-up.
type chaos struct {
	t       *rapid.T
	rand    *rand.Rand
	e       *cotest.Env
	line    *chaosLine
	gates   []*cotest.Gate
	members []*member
	left    int // members that may still be spawned
}

// member is one coroutine of it, and what the model knows of it.
type member struct {
	co        *scheduler.Coroutine
	began     int
	ended     int
	inside    int   // how often its body is between two statements: never more than 1
	cancelled error // the reason of the first Cancel that met it alive
	told      error // the first error with which a suspension point told it so
	shields   int   // protected sections that it is in
	blocks    int   // blocks that it is in
	finally   int   // -1: a handler is registered and has not run
}

// chaosLine is a queue as a lock has one; who is served, or has left, is in it no more.
type chaosLine struct {
	c       *chaos
	waiting []*scheduler.Coroutine
	served  map[*scheduler.Coroutine]bool
}

func (l *chaosLine) Info() string { return "the line" }

func (l *chaosLine) Leave(co *scheduler.Coroutine) {
	for i, w := range l.waiting {
		if w == co {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			return
		}
	}
	if !l.served[co] {
		l.c.t.Errorf("%s left the line twice, or without being in it", co.Name())
	}
	delete(l.served, co)
}

func (c *chaos) oneIn(n int) bool { return c.rand.IntN(n) == 0 }

func (c *chaos) spawn(by scheduler.Spawner) {
	if c.left == 0 {
		return
	}
	c.left--
	m := &member{}
	c.members = append(c.members, m)
	co, err := by.Spawn(func(co *scheduler.Coroutine) error { return c.live(m, co) })
	require.NoError(c.t, err)
	m.co = co
	if c.oneIn(3) {
		require.NoError(c.t, co.OnFinally(func(self, ended *scheduler.Coroutine) error {
			m.finally++
			if m.ended != m.began {
				c.t.Errorf("%s: its handler ran before its end", ended.Name())
			}
			return self.Yield()
		}))
		m.finally = -1
	}
}

// live is the body of a member.
func (c *chaos) live(m *member, co *scheduler.Coroutine) error {
	m.began++
	m.inside++
	defer func() { m.inside--; m.ended++ }()
	if m.cancelled != nil {
		c.t.Errorf("%s began although it was cancelled", co.Name())
	}
	for range 3 + c.rand.IntN(12) {
		if err := c.step(m, co); err != nil && c.oneIn(2) {
			if m.cancelled == nil && event.IsCancellation(err) && m.told != nil {
				return err
			}
			if m.cancelled != nil {
				return err
			}
		}
	}
	return nil
}

// suspends wraps a suspending call: nobody else is in this body meanwhile, and a cancellation in effect is told.
func (c *chaos) suspends(m *member, co *scheduler.Coroutine, call func() error) error {
	if m.inside != 1 || c.e.S.Current() != co || !co.Running() {
		c.t.Errorf("%s runs although it should not", co.Name())
	}
	was := m.cancelled != nil && m.shields == 0
	m.inside--
	err := call()
	m.inside++
	if m.inside != 1 || c.e.S.Current() != co || !co.Running() {
		c.t.Errorf("%s was resumed twice", co.Name())
	}
	own := m.cancelled != nil && m.shields == 0
	switch {
	case was && !errors.Is(err, m.cancelled):
		c.t.Errorf("%s was cancelled with %v before the call, which answered %v", co.Name(), m.cancelled, err)
	case m.shields > 0 && m.blocks == 0 && m.cancelled != nil && errors.Is(err, m.cancelled):
		c.t.Errorf("%s was told of a cancellation in a protected section: %v", co.Name(), err)
	case own && m.told != nil && err != m.told && errors.Is(err, m.cancelled) && m.blocks == 0 && event.IsCancellation(err):
		c.t.Errorf("%s was told %v first and %v now", co.Name(), m.told, err)
	}
	if own && m.blocks == 0 && errors.Is(err, m.cancelled) && m.told == nil {
		if !event.IsCancellation(err) {
			return err
		}
		m.told = co.Err()
	}
	return err
}

func (c *chaos) step(m *member, co *scheduler.Coroutine) error {
	var opts []scheduler.WaitOption
	if c.oneIn(3) {
		opts = append(opts, scheduler.Timeout(time.Duration(1+c.rand.IntN(5))*ms))
	}
	if c.oneIn(4) {
		opts = append(opts, scheduler.Token(c.gate()))
	}
	switch c.rand.IntN(14) {
	case 0, 1:
		return c.suspends(m, co, co.Yield)
	case 2:
		return c.suspends(m, co, func() error { return co.Delay(time.Duration(c.rand.IntN(4)) * ms) })
	case 3:
		return c.suspends(m, co, func() error { _, err := co.Await(c.gate(), opts...); return err })
	case 4:
		return c.suspends(m, co, func() error {
			_, _, err := co.AwaitFirst([]event.Event{c.gate(), c.gate(), c.gate()}, opts...)
			return err
		})
	case 5, 6:
		return c.suspends(m, co, func() error { return c.queue(co, opts) })
	case 7:
		other := c.members[c.rand.IntN(len(c.members))].co
		if other == nil || other == co {
			return nil
		}
		return c.suspends(m, co, func() error {
			_, err := co.Await(other, append(opts, scheduler.Timeout(ms*time.Duration(1+c.rand.IntN(20))))...)
			return err
		})
	case 8:
		c.spawn(co)
	case 9:
		c.cancelOne()
	case 10:
		c.wake()
	case 11:
		c.open()
	case 12:
		if m.shields+m.blocks < 3 {
			return c.section(m, co)
		}
	case 13:
		if m.shields+m.blocks < 3 {
			return c.block(m, co)
		}
	}
	return nil
}

func (c *chaos) gate() *cotest.Gate { return c.gates[c.rand.IntN(len(c.gates))] }

func (c *chaos) queue(co *scheduler.Coroutine, opts []scheduler.WaitOption) error {
	if err := co.Enter("chaos"); err != nil {
		return err
	}
	c.line.waiting = append(c.line.waiting, co)
	err := co.Park("chaos", c.line, opts...)
	if served := c.line.served[co]; served != (err == nil) {
		c.t.Errorf("%s was served: %v, and Park answered %v", co.Name(), served, err)
	}
	delete(c.line.served, co)
	return err
}

func (c *chaos) wake() {
	l := c.line
	if len(l.waiting) == 0 {
		return
	}
	co := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.served[co] = true
	require.NoError(c.t, co.Unpark())
	if !co.Queued() {
		c.t.Errorf("%s was woken and is not queued", co.Name())
	}
	isUsageIn(c.t, co.Unpark())
}

func isUsageIn(t *rapid.T, err error) {
	if !errors.Is(err, event.ErrUsage) {
		t.Errorf("a second Unpark answered %v", err)
	}
}

func (c *chaos) open() {
	var err error
	if c.oneIn(3) {
		err = errOther
	}
	c.gate().Open(c.rand.IntN(10), err)
}

func (c *chaos) cancelOne() {
	m := c.members[c.rand.IntN(len(c.members))]
	if m.co == nil {
		return
	}
	reason := fmt.Errorf("reason %d", c.rand.IntN(1000))
	if m.cancelled == nil && !m.co.Completed() {
		m.cancelled = reason
	}
	before := m.co.Completed()
	require.NoError(c.t, m.co.Cancel(reason))
	if m.co.CancellationRequested() == before {
		c.t.Errorf("%s: requested is %v, completed %v", m.co.Name(), m.co.CancellationRequested(), before)
	}
}

func (c *chaos) section(m *member, co *scheduler.Coroutine) error {
	m.shields++
	err := co.Protect(func(ctx context.Context) error {
		if ctx.Err() != nil || co.Err() != nil && m.blocks == 0 {
			c.t.Errorf("%s: Err is %v in a section", co.Name(), co.Err())
		}
		for range c.rand.IntN(4) {
			_ = c.step(m, co)
		}
		return nil
	})
	m.shields--
	return err
}

func (c *chaos) block(m *member, co *scheduler.Coroutine) error {
	m.blocks++
	defer func() { m.blocks-- }()
	body := func(co *scheduler.Coroutine) error {
		for range c.rand.IntN(5) {
			_ = c.step(m, co)
		}
		return nil
	}
	if c.oneIn(2) {
		return co.WithTimeout(ms*time.Duration(1+c.rand.IntN(6)), body)
	}
	return co.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
		switch c.rand.IntN(3) {
		case 0:
			cancel(errStop)
		case 1:
			if err := c.e.W.NewDeadline(func() { cancel(errStop) }).Start(2 * ms); err != nil {
				c.t.Error(err)
			}
		}
		return body(co)
	})
}

// keepGoing opens, wakes and cancels from callbacks, until no member is left, so that nobody waits for ever.
func (c *chaos) keepGoing() {
	for range 3 {
		c.wake()
		c.open()
	}
	if c.oneIn(4) {
		c.cancelOne()
	}
	for _, m := range c.members {
		if m.co != nil && !m.co.Completed() {
			require.NoError(c.t, c.e.W.NewDeadline(c.keepGoing).Start(ms))
			return
		}
	}
}

func (c *chaos) check() {
	for _, m := range c.members {
		co := m.co
		switch {
		case !co.Completed():
			c.t.Errorf("%s has not ended", co.Name())
		case m.began != m.ended || m.began > 1 || m.inside != 0:
			c.t.Errorf("%s began %d times and ended %d times", co.Name(), m.began, m.ended)
		case m.began == 0 && m.cancelled == nil:
			c.t.Errorf("%s was lost", co.Name())
		case m.cancelled != nil && !co.Cancelled():
			c.t.Errorf("%s was cancelled with %v and does not say so", co.Name(), m.cancelled)
		case m.finally != 0:
			c.t.Errorf("%s: its handler did not run once, but %d times off", co.Name(), m.finally)
		}
	}
	if len(c.line.waiting)+len(c.line.served) > 0 {
		c.t.Errorf("%d are in the line, %d were served and never knew", len(c.line.waiting), len(c.line.served))
	}
	for _, g := range c.gates {
		if g.Callbacks() > 0 || g.Starts != g.Stops {
			c.t.Errorf("a gate has %d callbacks, was started %d times and stopped %d times", g.Callbacks(), g.Starts, g.Stops)
		}
	}
}

func TestCoroutine_RandomLivesKeepTheRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		shuffled := rapid.Bool().Draw(rt, "shuffled")
		w := reactortest.Simulated{Reactor: simreactor.New(seed)}
		w.SetShuffle(shuffled)
		defer func() { assert.NoError(rt, w.Close()) }()
		c := &chaos{
			t: rt, rand: rand.New(rand.NewPCG(seed, 2)), e: &cotest.Env{T: t, W: w},
			left: rapid.IntRange(1, 40).Draw(rt, "members"),
		}
		c.line = &chaosLine{c: c, served: map[*scheduler.Coroutine]bool{}}
		for range 3 {
			c.gates = append(c.gates, c.e.Gate())
		}
		var opts []cotest.Option
		if shuffled {
			opts = append(opts, withShuffledReady(seed))
		}
		if c.oneIn(2) {
			opts = append(opts, withBudget(1+c.rand.IntN(5)), withLuck(1+c.rand.IntN(5)))
		}
		err := c.e.Run(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				if !errors.Is(err, errOther) && !errors.Is(err, event.ErrTimeout) && !event.IsCancellation(err) {
					return err
				}
				return nil
			})
			for range 1 + c.left/2 {
				c.spawn(co)
			}
			c.keepGoing()
			return nil
		}, opts...)
		if err != nil {
			rt.Errorf("the run failed: %v", err)
		}
		c.check()
	})
}
