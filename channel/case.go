package channel

import (
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// RecvCase is Recv as a case of a [Select]. The value goes to *to; nil drops it.
func (c *Channel[T]) RecvCase(to *T) Case {
	return &recvCase[T]{standing: standing[T]{c: c}, to: to}
}

// SendCase is Send of v as a case of a [Select].
func (c *Channel[T]) SendCase(v T) Case {
	return &sendCase[T]{standing: standing[T]{c: c}, v: v}
}

// standing is what the two kinds of cases have in common: a place in a line of a channel.
type standing[T any] struct {
	c       *Channel[T]
	w       *waitq.Waiter[place[T]] // nil: not in line
	turn    turn                    // good while it is in line
	claimed bool
}

func (p *standing[T]) claim(co *scheduler.Coroutine) error {
	if co.Scheduler() != p.c.s {
		return p.c.foreign(callSelect, "coroutine", co.Scheduler())
	}
	if p.claimed {
		return &event.UsageError{Call: callSelect, Problem: "a case is in use", Fix: "make one for each place of each Select"}
	}
	p.claimed = true
	return nil
}

func (p *standing[T]) release() {
	if p.w != nil {
		p.w.Free()
	}
	p.w, p.turn, p.claimed = nil, turn{}, false
}

func (p *standing[T]) leave() {
	if p.w != nil {
		p.w.Leave(nil)
	}
}

func (p *standing[T]) failed(err error) error { return p.c.failed(callSelect, err) }

// roll is Knuth's linear congruential generator: the same in every run, so that a simulation can be repeated.
func (p *standing[T]) roll() uint32 {
	p.c.dice = p.c.dice*6364136223846793005 + 1442695040888963407
	return uint32(p.c.dice >> 32)
}

type recvCase[T any] struct {
	standing[T]
	to *T
}

func (k *recvCase[T]) ready() bool { return k.c.receivable() || k.c.reason != nil }

func (k *recvCase[T]) now() error {
	if !k.c.receivable() {
		return k.c.closedError(callRecv)
	}
	k.store(k.c.take())
	return nil
}

func (k *recvCase[T]) wait(s *selection, index int) {
	k.turn = turn{s, index}
	k.w = k.c.receivers.Push(nil, place[T]{turn: &k.turn})
	k.c.waits()
}

func (k *recvCase[T]) finish() error {
	k.store(k.w.Data.value)
	k.w.Take()
	k.c.taken()
	return nil
}

func (k *recvCase[T]) store(v T) {
	if k.to != nil {
		*k.to = v
	}
}

func (k *recvCase[T]) info() string { return (*receiving[T])(k.c).WaitInfo() }

type sendCase[T any] struct {
	standing[T]
	v T
}

func (k *sendCase[T]) ready() bool { return k.c.sendable() || k.c.reason != nil }

func (k *sendCase[T]) now() error {
	if k.c.reason != nil {
		return k.c.closedError(callSend)
	}
	k.c.put(k.v)
	return nil
}

func (k *sendCase[T]) wait(s *selection, index int) {
	k.turn = turn{s, index}
	k.w = k.c.senders.Push(nil, place[T]{value: k.v, turn: &k.turn})
	k.c.waits()
}

func (k *sendCase[T]) finish() error {
	k.w.Take()
	return k.c.sent(k.v)
}

func (k *sendCase[T]) info() string { return (*sending[T])(k.c).WaitInfo() }

// defaultCase is never ready, never waits, and is done when nothing else is.
type defaultCase struct{}

func (defaultCase) claim(*scheduler.Coroutine) error { return nil }
func (defaultCase) ready() bool                      { return false }
func (defaultCase) now() error                       { return nil }
func (defaultCase) wait(*selection, int)             {}
func (defaultCase) leave()                           {}
func (defaultCase) finish() error                    { return nil }
func (defaultCase) release()                         {}
func (defaultCase) failed(err error) error           { return err }
func (defaultCase) roll() uint32                     { return 0 }
func (defaultCase) info() string                     { return "default" }
