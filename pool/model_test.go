package pool_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uvasync/uvasync/pool"
)

// exact is what a pool is, told as simply as possible, when of its hooks at most Create suspends: lists of who waits, of what
// is idle and of what is being made, and the ready queue.
type exact struct {
	exactRules
	closed   bool
	byScope  bool
	resets   int
	total    int
	dying    int           // of these, what is to be destroyed in the background
	idle     []int         // longest first
	line     []*exactVisit // who waits, and nothing is set aside for them: in the order of arrival
	builds   []*exactBuild // what is being made
	spare    []*exactBuild // of these, what nobody waits for: in the order in which they left it
	born     []int         // for each resource, how often the pool had been reset when its making began
	held     []*exactHold
	ready    []exactTask
	reserved int
	arrivals int
	creates  int // calls
	counts   pool.Stats

	state  pool.State
	epoch  int // of the state; tickets are epochs. 0: none
	probes int

	answers answers
	trace   []string // the hooks that were called, and what OnError and the strategy were told
}

// exactRules are those of the configuration.
type exactRules struct {
	min, max, places                   int
	limited                            bool // AcquireTimeout
	guards, looks, destroys, strategic bool // BeforeAcquire, BeforeRelease, Destroy, Strategy
}

// exactVisit is one Acquire.
type exactVisit struct {
	name    int
	arrival int
	timed   bool
	stage   string // "begins", "waits", "served", "refused", "over"
	id      int    // set aside
	fresh   bool
	build   *exactBuild
	ticket  int
	why     string // it was refused
	outcome string
	holding *exactHold
	counted bool // as one that found none idle
}

type exactHold struct{ id, ticket int }

// exactBuild is a Create.
type exactBuild struct {
	visit     *exactVisit
	resets    int
	call      int // its number; 0: it has not begun
	parked    bool
	opened    string // the answer, when the gate is open
	cancelled bool
	try       *exactVisit
	ticket    int // what its failure counts for when nobody waits for it
}

// exactTask is a coroutine that is ready to run: one of a visit, of a build, or one that destroys.
type exactTask struct {
	visit *exactVisit
	build *exactBuild
	ids   []int
}

func (m *exact) tell(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

// run lets everybody run who is ready now.
func (m *exact) run() {
	now := m.ready
	m.ready = nil
	for _, t := range now {
		switch {
		case t.visit != nil:
			m.resume(t.visit)
		case t.build != nil:
			m.create(t.build)
		default:
			m.destroyNow(t.ids)
		}
	}
}

func (m *exact) resume(v *exactVisit) {
	switch v.stage {
	case "begins":
		v.outcome = ""
		switch {
		case m.closed: // before the breaker: POOL-09
			m.over(v, "closed")
		case !m.admit(v):
			m.counts.Refused++
			m.over(v, "unavailable")
		default:
			m.arrivals++
			v.arrival = m.arrivals
			m.obtain(v)
		}
	case "served":
		m.reserved--
		if m.state == pool.Inactive { // POOL-17
			m.counts.Refused++
			m.over(v, "unavailable")
			m.put(v.id, v.fresh)
			return
		}
		switch {
		case m.taken(v, v.id, v.fresh):
		case m.closed:
			m.nothing(v.ticket)
			m.over(v, "closed")
		default:
			m.obtain(v)
		}
	case "refused":
		m.nothing(v.ticket)
		switch {
		case strings.Contains(v.why, "timeout"):
			m.counts.TimedOut++
		case v.why == "cancelled", m.byScope && v.why == "cancelled + closed":
			m.counts.Cancelled++
		}
		m.over(v, v.why)
	}
}

func (m *exact) over(v *exactVisit, outcome string) { v.stage, v.outcome = "over", outcome }

// obtain takes the oldest idle resource, else waits (POOL-03).
func (m *exact) obtain(v *exactVisit) {
	for len(m.idle) > 0 {
		id := m.idle[0]
		m.idle = m.idle[1:]
		if m.taken(v, id, false) {
			return
		}
	}
	if !v.counted {
		v.counted = true
		m.counts.EmptyAcquired++
	}
	v.stage = "waits"
	at := slices.IndexFunc(m.line, func(other *exactVisit) bool { return other.arrival > v.arrival })
	if at < 0 {
		at = len(m.line)
	}
	m.line = slices.Insert(m.line, at, v)
	m.cover()
}

// taken asks BeforeAcquire, and reports whether the visit is over (POOL-20, POOL-21).
func (m *exact) taken(v *exactVisit, id int, fresh bool) bool {
	if fresh || !m.guards || m.ask("BeforeAcquire", id) {
		m.out(v, id, v.ticket)
		return true
	}
	if err := m.destroy(id); err != "" {
		m.nothing(v.ticket)
		m.over(v, err)
		return true
	}
	return false
}

func (m *exact) out(v *exactVisit, id, ticket int) {
	m.counts.Acquired++
	v.holding = &exactHold{id, ticket}
	m.held = append(m.held, v.holding)
	m.over(v, fmt.Sprint("got ", id))
}

// cover: who waits has something in the making, as far as there is room; what is there already comes first (POOL-41, GEN-05).
func (m *exact) cover() {
	for _, v := range m.line {
		switch {
		case v.build != nil:
		case len(m.spare) > 0:
			v.build, m.spare = m.spare[0], m.spare[1:]
			v.build.visit = v
		case m.total < m.max && !m.closed:
			v.build = m.begin()
			v.build.visit = v
			m.ready = append(m.ready, exactTask{build: v.build})
		}
	}
}

func (m *exact) begin() *exactBuild {
	m.total++
	b := &exactBuild{resets: m.resets}
	if m.state == pool.Active {
		b.ticket = m.epoch
	}
	m.builds = append(m.builds, b)
	return b
}

// unclaimed: the next one adopts it, unless it is of before the pool was closed or reset.
func (m *exact) unclaimed(b *exactBuild) {
	switch {
	case b == nil:
	case m.closed || b.resets != m.resets:
		m.cancel(b)
	default:
		b.visit = nil
		m.spare = append(m.spare, b)
		m.cover()
	}
}

func (m *exact) cancelSpare() {
	for _, b := range m.spare {
		m.cancel(b)
	}
	m.spare = nil
}

func (m *exact) cancel(b *exactBuild) {
	b.visit, b.cancelled = nil, true
	if b.parked {
		b.parked = false
		m.ready = append(m.ready, exactTask{build: b})
	}
}

// put: to who has waited longest, otherwise it is idle (POOL-10).
func (m *exact) put(id int, fresh bool) {
	switch {
	case m.stale(id):
		m.destroyLater([]int{id})
	case len(m.line) > 0:
		m.serve(id, fresh)
	default:
		m.idle = append(m.idle, id)
	}
}

func (m *exact) serve(id int, fresh bool) {
	v := m.line[0]
	m.line = m.line[1:]
	b := v.build
	v.stage, v.id, v.fresh, v.build = "served", id, fresh, nil
	m.reserved++
	m.ready = append(m.ready, exactTask{visit: v})
	m.unclaimed(b)
}

func (m *exact) stale(id int) bool { return m.closed || m.born[id-1] != m.resets }
