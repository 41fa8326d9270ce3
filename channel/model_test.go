package channel_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/uvasync/uvasync/event"
)

// model is what a channel is, told as simply as possible: lists of who waits and of what is there, and the ready queue.
type model struct {
	cap    int
	closed bool
	vals   []int // all that was sent and not taken, oldest first; the first len(takers) are set aside for them

	takers    []string // receivers that were woken
	fillers   []string // senders that were woken for a slot
	receiving []string // in line
	sending   []string // in line

	future  map[string]bool // receivers that are no coroutines
	timed   map[string]bool
	value   map[string]int // of senders
	ready   []task
	outcome map[string]string
}

// task is a coroutine that is ready to run: to begin, or to go on with how its wait ended.
type task struct {
	who  string
	kind string // "receive", "send": begins; "take", "fill", "sent": was served; otherwise its outcome
}

func newModel(capacity int) *model {
	return &model{
		cap: capacity, future: map[string]bool{}, timed: map[string]bool{}, value: map[string]int{}, outcome: map[string]string{},
	}
}

func (m *model) wake(who, kind string) { m.ready = append(m.ready, task{who, kind}) }

func (m *model) len() int {
	if m.cap == 0 && len(m.vals) == 0 && len(m.sending) > 0 {
		return 1
	}
	return len(m.vals)
}

func (m *model) room() bool { return len(m.vals)+len(m.fillers) < m.cap }

// balance hands out what is free, to those in line, until nothing changes.
func (m *model) balance() {
	for {
		switch {
		case len(m.receiving) > 0 && len(m.vals) > len(m.takers):
			who := m.receiving[0]
			m.receiving = m.receiving[1:]
			if m.future[who] {
				m.outcome[who] = fmt.Sprint("got ", m.pull())
			} else {
				m.takers = append(m.takers, who)
				m.wake(who, "take")
			}
		case len(m.sending) > 0 && m.cap > 0 && m.room():
			m.fillers = append(m.fillers, m.sending[0])
			m.wake(m.sending[0], "fill")
			m.sending = m.sending[1:]
		default:
			return
		}
	}
}

// pull takes the oldest value that is nobody's.
func (m *model) pull() int {
	v := m.vals[len(m.takers)]
	m.vals = slices.Delete(m.vals, len(m.takers), len(m.takers)+1)
	return v
}

// receive takes a value if there is one that is nobody's.
func (m *model) receive() (int, bool) {
	switch {
	case len(m.vals) > len(m.takers):
		v := m.pull()
		m.balance()
		return v, true
	case m.cap == 0 && len(m.sending) > 0:
		who := m.sending[0]
		m.sending = m.sending[1:]
		m.wake(who, "sent")
		return m.value[who], true
	}
	return 0, false
}

func (m *model) put(v int) {
	m.vals = append(m.vals, v)
	m.balance()
}

func (m *model) trySend(v int) bool {
	if m.closed || m.cap > 0 && !m.room() || m.cap == 0 && m.len() > 0 {
		return false
	}
	m.put(v)
	return true
}

// run lets everybody run who is ready now.
func (m *model) run() {
	now := m.ready
	m.ready = nil
	for _, t := range now {
		m.step(t)
	}
}

func (m *model) step(t task) {
	switch t.kind {
	case "receive":
		if v, ok := m.receive(); ok {
			m.outcome[t.who] = fmt.Sprint("got ", v)
		} else if m.closed {
			m.outcome[t.who] = "closed by-close"
		} else {
			m.receiving = append(m.receiving, t.who)
		}
	case "send":
		switch {
		case m.closed:
			m.outcome[t.who] = "closed by-close"
		case m.cap == 0 && len(m.receiving) > 0 || m.cap > 0 && m.room():
			m.put(m.value[t.who])
			m.outcome[t.who] = "sent"
		default:
			m.sending = append(m.sending, t.who)
		}
	case "take":
		i := slices.Index(m.takers, t.who)
		m.outcome[t.who] = fmt.Sprint("got ", m.vals[i])
		m.vals = slices.Delete(m.vals, i, i+1)
		m.takers = slices.Delete(m.takers, i, i+1)
		m.balance()
	case "fill":
		m.fillers = remove(m.fillers, t.who)
		if m.closed {
			m.outcome[t.who] = "closed by-close"
			return
		}
		m.put(m.value[t.who])
		m.outcome[t.who] = "sent"
	default:
		m.outcome[t.who] = t.kind
	}
}

// leave is a cancellation or a timeout, at whatever point who is.
func (m *model) leave(who, why string) {
	if m.future[who] {
		m.receiving = remove(m.receiving, who)
		m.outcome[who] = why
		return
	}
	i := slices.IndexFunc(m.ready, func(t task) bool { return t.who == who })
	switch {
	case i < 0:
		m.wake(who, why)
	case m.ready[i].kind == "receive" || m.ready[i].kind == "send":
		m.ready = slices.Delete(m.ready, i, i+1) // never begins
		m.outcome[who] = "never"
	case m.ready[i].kind == "closed by-close":
		m.ready[i].kind = "closed by-close " + why
	case m.ready[i].kind == "take" || m.ready[i].kind == "fill" || m.ready[i].kind == "sent":
		m.ready[i].kind = why
	}
	m.receiving, m.sending = remove(m.receiving, who), remove(m.sending, who)
	m.takers, m.fillers = remove(m.takers, who), remove(m.fillers, who)
	m.balance()
}

func (m *model) close() {
	if m.closed {
		return
	}
	m.closed = true
	for _, who := range slices.Concat(m.sending, m.receiving) {
		if m.future[who] {
			m.outcome[who] = "closed by-close"
		} else {
			m.wake(who, "closed by-close")
		}
	}
	m.sending, m.receiving = nil, nil
}

// there returns everybody who has not ended, in a fixed order.
func (m *model) there() []string {
	all := map[string]bool{}
	for _, who := range slices.Concat(m.receiving, m.sending) {
		all[who] = true
	}
	for _, t := range m.ready {
		all[t.who] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func remove(from []string, who string) []string {
	return slices.DeleteFunc(slices.Clone(from), func(s string) bool { return s == who })
}

var timeout = short(event.ErrTimeout)
