package pool_test

import "github.com/uvasync/uvasync/pool"

// The circuit breaker of the model.

func (m *exact) become(to pool.State) {
	if to == m.state {
		return
	}
	m.state = to
	m.epoch++
	m.probes = 0
	if to != pool.Inactive {
		return
	}
	var builds []*exactBuild
	for len(m.line) > 0 {
		v := m.line[0]
		m.counts.Refused++
		m.refuse(v, "unavailable")
		builds = append(builds, v.build)
		v.build = nil
	}
	for _, b := range builds { // nobody is left for whom another one would be begun
		m.unclaimed(b)
	}
}

func (m *exact) admit(v *exactVisit) bool {
	if m.state == pool.Inactive && m.strategic { // CB-07
		m.tell("ShouldRecover")
		switch m.answers.next("ShouldRecover") {
		case "recover":
			m.become(pool.Recovering)
		case "panic":
			m.tell("told ShouldRecover")
		}
	}
	switch {
	case m.state == pool.Inactive:
		return false
	case m.state == pool.Active:
	case m.strategic && m.places > 0 && m.probes >= m.places:
		return false
	default:
		m.probes++
	}
	v.ticket = m.epoch
	return true
}

// isOfNow reports whether an acquisition belongs to the state of now, and frees its place as a probe.
func (m *exact) isOfNow(ticket int) bool {
	if ticket == 0 || ticket != m.epoch {
		return false
	}
	if m.state == pool.Recovering {
		m.probes--
	}
	return true
}

func (m *exact) nothing(ticket int) { m.isOfNow(ticket) }

func (m *exact) success(ticket int) {
	if m.isOfNow(ticket) && m.strategic {
		m.report("success")
	}
}

func (m *exact) failure(ticket int, why string) {
	if m.isOfNow(ticket) && m.strategic {
		m.report("failure: " + why)
	}
}

func (m *exact) report(what string) {
	m.tell("%s", what)
	switch m.answers.next("report") {
	case "deactivate":
		m.become(pool.Inactive)
	case "activate":
		m.become(pool.Active)
	case "panic":
		m.tell("told report")
	}
}
