package pool_test

import (
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// ware is a resource, and where it is: always in exactly one place.
type ware struct {
	id     int
	at     place
	resets int                  // how many had begun when its making began
	by     *scheduler.Coroutine // who has it, or looks at it
}

type place string

const (
	inPool     place = "in the pool" // idle, set aside, or about to be destroyed in the background
	looked     place = "looked at by a hook"
	accepted   place = "accepted by BeforeAcquire"
	unwanted   place = "rejected by a hook, or given back to be destroyed"
	held       place = "held"
	returning  place = "being given back"
	destroying place = "being destroyed"
	destroyed  place = "destroyed"
	hijacked   place = "hijacked"
)

// request is an Acquire under way.
type request struct {
	co     *scheduler.Coroutine
	n      int
	since  int  // when it came, or came back to the line
	parked int  // when it was last seen without anything set aside for it
	busy   bool // in a hook
	late   bool // it may be served although the breaker is open by now: something of it was under way before
}

// ledger is what must be true of any pool, whatever its hooks do and whoever leaves when.
type ledger struct {
	p      *pool.Pool[*ware]
	err    error
	wares  []*ware
	resets int
	atOnce int // probes; 0: no limit
	// Resources may be on their way to a destructor or to a TryAcquire, which nobody can see.
	limited, shuffled bool
	guarded           bool // there is a BeforeAcquire, which may ignore a cancellation

	clock    int
	arrivals int
	requests map[*scheduler.Coroutine]*request
}

func (l *ledger) errorf(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

func (l *ledger) now() int { l.clock++; return l.clock }

// move takes w from one of the places to another.
func (l *ledger) move(w *ware, by *scheduler.Coroutine, to place, from ...place) {
	for _, at := range from {
		if w.at == at && (w.by == nil || w.by == by || at == returning || at == unwanted || at == held) {
			w.at, w.by = to, by
			if to == inPool || to == destroyed {
				w.by = nil
			}
			return
		}
	}
	l.errorf("resource %d, which is %s (%v), is now %s (%v)", w.id, w.at, w.by, to, by)
	w.at = to
}

// count is how many are at one of the places.
func (l *ledger) count(places ...place) (n int) {
	for _, w := range l.wares {
		for _, at := range places {
			if w.at == at {
				n++
			}
		}
	}
	return n
}

// books checks the figures: at every instant at which user code can run (GEN-06).
func (l *ledger) books() pool.Stats {
	s := l.p.Stats()
	bad := func(what string) { l.errorf("%s: %+v, and %v", what, s, l.places()) }
	gone, taken := l.count(destroyed), l.count(hijacked)
	stored := l.count(inPool)
	switch {
	case s.Total != s.Idle+s.Active || s.Reserved > s.Idle || s.Constructing > s.Active:
		bad("the figures do not agree")
	case min(s.Idle, s.Active, s.Reserved, s.Constructing, s.Waiting, s.Probes) < 0:
		bad("a figure is negative")
	case s.Total > s.Max:
		bad("more than Max")
	case s.Total != len(l.wares)-gone-taken+s.Constructing:
		bad("the total is wrong")
	case s.Created != uint64(len(l.wares)) || s.Destroyed != uint64(gone) || s.Hijacked != uint64(taken):
		bad("the counts are wrong")
	case s.Idle > stored, s.Idle < stored && !l.limited && !l.shuffled && l.resets == 0 && !s.Closed:
		bad("idle are others")
	case s.State != pool.Recovering && s.Probes > 0, l.atOnce > 0 && s.Probes > l.atOnce:
		bad("there are probes, or too many")
	case s.State == pool.Inactive && s.Waiting > 0:
		bad("somebody waits for an open breaker")
	case s.Closed && s.Idle > s.Reserved:
		bad("resources are idle in a closed pool")
	}
	return s
}

// check checks that nobody waits in vain, too: whenever the pool is not in the middle of something.
func (l *ledger) check() {
	s := l.books()
	switch {
	case s.Waiting == 0:
	case s.Idle > s.Reserved:
		l.errorf("somebody waits, and there are idle ones: %+v", s)
	case s.Closed && s.Constructing < s.Waiting:
		l.errorf("the pool is closed, and somebody waits for nothing: %+v", s)
	case !s.Closed && s.Total < s.Max && s.Constructing < s.Waiting:
		l.errorf("somebody waits, and there is room: %+v", s)
	}
	now := l.now()
	for _, r := range l.requests {
		if r.waits() {
			r.parked = now
		}
	}
}

// waits: it is in the line, and nothing is set aside for it.
func (r *request) waits() bool { return r.co.Suspended() && !r.co.Queued() && !r.busy }

func (l *ledger) places() map[place]int {
	all := map[place]int{}
	for _, w := range l.wares {
		all[w.at]++
	}
	return all
}

// comes is called before an Acquire, and goes after it, with what it got, or nil.
func (l *ledger) comes(co *scheduler.Coroutine) {
	l.arrivals++
	l.requests[co] = &request{co: co, n: l.arrivals, since: l.now()}
}

func (l *ledger) goes(co *scheduler.Coroutine, w *ware) {
	r := l.requests[co]
	delete(l.requests, co)
	if w == nil {
		return
	}
	l.move(w, co, held, inPool, accepted)
	if l.p.State() == pool.Inactive && !r.late { // CB-02
		l.errorf("request %d is served, and the breaker is open", r.n)
	}
	if co.Err() != nil && !l.guarded { // GEN-02
		l.errorf("request %d is served, and cancelled", r.n)
	}
	for _, other := range l.requests { // GEN-04
		if other.n < r.n && other.waits() && other.since < max(r.since, r.parked) {
			l.errorf("request %d is served, and %d still waits", r.n, other.n)
		}
	}
}

// hook is called at the beginning of a hook on co, and the function it returns at the end: back is whether co, if it is acquiring,
// goes back to the line then.
func (l *ledger) hook(co *scheduler.Coroutine, back bool) (end func()) {
	l.check()
	r := l.requests[co]
	if r == nil {
		return func() {}
	}
	r.busy = true
	r.late = r.late || l.p.State() != pool.Inactive
	return func() {
		r.busy = false
		if back {
			r.since = l.now()
		}
	}
}

// over checks what is left when the pool is closed and its end has come.
func (l *ledger) over() error {
	l.check()
	if s := l.p.Stats(); s.Total+s.Waiting+s.Probes != 0 || !s.Closed {
		l.errorf("after the end: %+v", s)
	}
	for _, w := range l.wares {
		if w.at != destroyed && w.at != hijacked {
			l.errorf("resource %d is %s in the end", w.id, w.at)
		}
	}
	if len(l.requests) > 0 {
		l.err = errors.Join(l.err, errors.New("somebody has not come back"))
	}
	return l.err
}
