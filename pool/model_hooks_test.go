package pool_test

import (
	"fmt"
	"slices"
	"strings"
)

// answers are what the hooks do. The model and the pool have a copy each, which are used up alike.
type answers struct {
	slow  bool // Create waits, unless it is told otherwise
	armed map[string][]string
}

func (a *answers) arm(hook, answer string) {
	if a.armed == nil {
		a.armed = map[string][]string{}
	}
	a.armed[hook] = append(a.armed[hook], answer)
}

func (a *answers) next(hook string) string {
	answer := "yes"
	if hook == "Create" && a.slow {
		answer = "wait"
	}
	if all := a.armed[hook]; len(all) > 0 {
		answer, a.armed[hook] = all[0], all[1:]
	}
	return answer
}

// joined is both of two errors, in the order in which tags has them.
func joined(errs ...string) string {
	var all []string
	for _, err := range errs {
		if err != "" {
			all = append(all, strings.Split(err, " + ")...)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " + ")
}

// ask asks a hook that looks at a resource; its error and its panic are a no, which OnError hears of.
func (m *exact) ask(hook string, id int) bool {
	m.tell("%s %d", hook, id)
	answer := m.answers.next(hook)
	if answer == "error" || answer == "panic" {
		m.tell("told %s %d", hook, id)
	}
	return answer == "yes"
}

// create begins a Create, or goes on with it.
func (m *exact) create(b *exactBuild) {
	if b.cancelled {
		m.unmade(b, joined("cancelled", "closed"))
		return
	}
	answer := b.opened
	if b.call == 0 {
		m.creates++
		b.call = m.creates
		m.tell("Create %d", b.call)
		answer = m.answers.next("Create")
	}
	switch answer {
	case "wait":
		b.parked = true
	case "yes":
		m.made(b)
	case "nothing":
		m.unmade(b, "nothing")
	default:
		m.unmade(b, fmt.Sprint("Create ", b.call))
	}
}

// end takes b out of the lists, and returns whom it concerns.
func (m *exact) end(b *exactBuild) *exactVisit {
	same := func(other *exactBuild) bool { return other == b }
	m.builds = slices.DeleteFunc(m.builds, same)
	m.spare = slices.DeleteFunc(m.spare, same)
	if b.visit != nil {
		b.visit.build = nil
	}
	return b.visit
}

func (m *exact) made(b *exactBuild) {
	v := m.end(b)
	m.counts.Created++
	m.born = append(m.born, b.resets)
	id := len(m.born)
	switch {
	case v != nil: // it, or who came before it, and leaves it what is being made for that one (GEN-04, POOL-32)
		if first := m.line[0]; first != v && first.build != nil {
			v.build, first.build = first.build, nil
			v.build.visit = v
		}
		m.serve(id, true)
	case b.try != nil && len(m.line) == 0:
		b.try.id = id
	case m.stale(id):
		if err := m.destroy(id); err != "" {
			m.tell("told %s", err)
		}
	default:
		m.put(id, true)
	}
	m.replace(b)
}

// replace: what was begun before a Reset makes room for what min lacks when it has ended.
func (m *exact) replace(b *exactBuild) {
	if b.resets != m.resets {
		m.refill()
	}
}

func (m *exact) unmade(b *exactBuild, why string) {
	v := m.end(b)
	m.total--
	m.counts.CreateFailures++
	switch {
	case v != nil:
		m.refuse(v, why)
		m.unlucky(v, why)
	case b.try != nil:
		b.try.why = why
	case !b.cancelled:
		m.tell("told %s", why)
		m.failure(b.ticket, why)
	}
	m.cover()
	m.replace(b)
}

// unlucky: the breaker counts a Create that failed, but not for a closed pool.
func (m *exact) unlucky(v *exactVisit, why string) {
	if m.closed {
		m.nothing(v.ticket)
	} else {
		m.failure(v.ticket, why)
	}
	v.ticket = 0
}

// refill makes what is missing to min, as far as there is room.
func (m *exact) refill() {
	for !m.closed && m.total < m.max && m.total-m.dying < m.min {
		b := m.begin()
		m.spare = append(m.spare, b)
		m.ready = append(m.ready, exactTask{build: b})
	}
}

func (m *exact) destroy(id int) (failure string) {
	if m.destroys {
		m.tell("Destroy %d", id)
		if m.answers.next("Destroy") != "yes" {
			failure = fmt.Sprint("Destroy ", id)
		}
	}
	m.counts.Destroyed++
	m.total--
	m.cover()
	return failure
}

func (m *exact) destroyLater(ids []int) {
	if len(ids) == 0 {
		return
	}
	m.dying += len(ids)
	if m.destroys {
		m.ready = append(m.ready, exactTask{ids: ids})
	} else {
		m.destroyNow(ids)
	}
}

func (m *exact) destroyNow(ids []int) {
	for _, id := range ids {
		m.dying--
		if err := m.destroy(id); err != "" {
			m.tell("told %s", err)
		}
	}
	m.refill()
}
