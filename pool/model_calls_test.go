package pool_test

import (
	"slices"

	"github.com/uvasync/uvasync/pool"
)

// The calls of the model.

// give takes a resource from who holds it.
func (m *exact) give(h *exactHold) (ticket int) {
	m.held = slices.DeleteFunc(m.held, func(other *exactHold) bool { return other == h })
	return h.ticket
}

func (m *exact) release(h *exactHold) (err string) {
	ticket := m.give(h)
	ok := !m.looks || m.ask("BeforeRelease", h.id)
	if ok {
		m.success(ticket)
	} else {
		m.failure(ticket, "rejected")
	}
	if ok && !m.stale(h.id) {
		m.put(h.id, false)
		return ""
	}
	err = m.destroy(h.id)
	if ok {
		m.refill()
	}
	return err
}

func (m *exact) destroyHeld(h *exactHold, why string) string {
	m.failure(m.give(h), why)
	return m.destroy(h.id)
}

func (m *exact) hijack(h *exactHold) {
	ticket := m.give(h)
	m.counts.Hijacked++
	m.nothing(ticket)
	m.total--
	m.cover()
}

// try is TryAcquire.
func (m *exact) tryAcquire() *exactVisit {
	v := &exactVisit{outcome: "none"}
	if m.closed {
		return v
	}
	if !m.admit(v) {
		m.counts.Refused++
		return v
	}
	for len(m.idle) > 0 {
		id := m.idle[0]
		m.idle = m.idle[1:]
		if m.taken(v, id, false) {
			return v
		}
	}
	if m.total >= m.max || len(m.line) > 0 {
		m.nothing(v.ticket)
		return v
	}
	b := m.begin()
	m.spare = append(m.spare, b)
	b.try = v
	m.create(b)
	b.try = nil
	switch {
	case v.id != 0:
		m.out(v, v.id, v.ticket)
	case v.why != "":
		m.unlucky(v, v.why)
		if v.why != "nothing" { // POOL-06
			v.outcome = v.why
		}
	default:
		m.nothing(v.ticket)
	}
	return v
}

func (m *exact) acquireAllIdle() (all []*exactHold) {
	for _, id := range m.idle {
		m.counts.Acquired++
		all = append(all, &exactHold{id: id})
	}
	m.idle = nil
	m.held = append(m.held, all...)
	return all
}

func (m *exact) takeIdle() []int {
	ids := m.idle
	m.idle = nil
	return ids
}

func (m *exact) reset() (err string) {
	m.resets++
	m.cancelSpare()
	for _, id := range m.takeIdle() {
		err = joined(err, m.destroy(id))
	}
	m.refill()
	return err
}

// close is Close, or what happens in the background (POOL-27, POOL-33).
func (m *exact) close(background bool) (err string) {
	if m.closed {
		return ""
	}
	m.closed = true
	m.strategic = false // it is told of nothing more
	for _, v := range slices.Clone(m.line) {
		if v.build == nil {
			m.refuse(v, "closed")
		}
	}
	m.cancelSpare()
	if background {
		m.destroyLater(m.takeIdle())
		return ""
	}
	for _, id := range m.takeIdle() {
		err = joined(err, m.destroy(id))
	}
	return err
}

// stats are the figures that the pool must have.
func (m *exact) stats() pool.Stats {
	s := m.counts
	s.Total, s.Idle, s.Reserved = m.total, len(m.idle)+m.reserved, m.reserved
	s.Active, s.Constructing, s.Waiting = s.Total-s.Idle, len(m.builds), len(m.line)
	s.Min, s.Max, s.State, s.Probes, s.Closed = m.min, m.max, m.state, m.probes, m.closed
	return s
}

func (m *exact) refuse(v *exactVisit, why string) {
	m.line = slices.DeleteFunc(m.line, func(other *exactVisit) bool { return other == v })
	v.stage, v.why = "refused", why
	m.ready = append(m.ready, exactTask{visit: v})
}

// leave is a cancellation or a timeout, at whatever point v is.
func (m *exact) leave(v *exactVisit, why string) {
	switch v.stage {
	case "begins":
		m.ready = slices.DeleteFunc(m.ready, func(t exactTask) bool { return t.visit == v })
		m.over(v, "never")
	case "waits":
		m.refuse(v, why)
		m.nothing(v.ticket)
		b := v.build
		v.build, v.ticket = nil, 0
		m.unclaimed(b)
	case "served": // its place in the ready queue stays
		m.reserved--
		m.nothing(v.ticket)
		v.stage, v.why, v.ticket = "refused", why, 0
		m.put(v.id, v.fresh)
	case "refused":
		v.why = joined(v.why, why)
	}
}
