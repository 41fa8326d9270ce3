package pool

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The breaker with each of the strategies against replay, which works the whole story out from the beginning.

// act is one thing that happens to a breaker.
type act struct {
	at   time.Duration // since the beginning; it may also go back a little
	kind string        // "admit"; "success", "failure", "nothing" of a ticket; "become"; "arm"
	n    int           // which admit the ticket is from
	to   State         // for "become"; for "arm": what the next hook that is told of a change makes of it
}

// rules are the fields of both strategies, with the defaults put in.
type rules struct {
	failures, minResults int // one of them is 0
	rate                 float64
	window               time.Duration
	coolDown             time.Duration
	maxProbes, successes int
	armUser              bool // hooks that make changes are OnStateChange; otherwise StateChanged
}

// story is what has come of a history.
type story struct {
	changes  []stateChange
	admitted []int // for each admit, the number of changes before it; -1: refused
	probes   int
	opens    int
	reports  []string
}

func (s *story) state() State {
	if len(s.changes) == 0 {
		return Active
	}
	return s.changes[len(s.changes)-1].to
}

type result struct {
	at  time.Duration
	bad bool
}

// replay is a pure function.
func replay(r rules, history []act) *story {
	var (
		s       = &story{}
		results []result // reported in this state
		since   time.Duration
		armed   []State
		told    int // changes that the hook with the arms knows of
		telling bool
	)
	become := func(at time.Duration, to State) {
		set := func(to State) {
			if to == s.state() {
				return
			}
			s.changes = append(s.changes, stateChange{s.state(), to})
			results, s.probes = nil, 0
			if to == Inactive {
				s.opens++
				since = at
			}
		}
		set(to)
		if telling {
			panic("replay is not re-entered")
		}
		for telling = true; told < len(s.changes); told++ {
			if len(armed) > 0 {
				to, armed = armed[0], armed[1:]
				set(to)
			}
		}
		telling = false
	}
	for _, a := range history {
		switch a.kind {
		case "arm":
			armed = append(armed, a.to)
		case "become":
			become(a.at, a.to)
		case "admit":
			if s.state() == Inactive && a.at-since >= r.coolDown {
				become(a.at, Recovering)
			}
			switch {
			case s.state() == Inactive, s.state() == Recovering && s.probes >= r.maxProbes:
				s.admitted = append(s.admitted, -1)
				continue
			case s.state() == Recovering:
				s.probes++
			}
			s.admitted = append(s.admitted, len(s.changes))
		default:
			if s.admitted[a.n] != len(s.changes) {
				continue // of an earlier state, or refused
			}
			if s.state() == Recovering {
				s.probes--
			}
			if a.kind == "nothing" {
				continue
			}
			s.reports = append(s.reports, fmt.Sprint(a.kind, " ", s.state()))
			results = append(results, result{a.at, a.kind == "failure"})
			if s.state() == Active && r.opens(results) || s.state() == Recovering && a.kind == "failure" {
				become(a.at, Inactive)
			} else if s.state() == Recovering && len(results) == r.successes { // one failure, and it would be over
				become(a.at, Active)
			}
		}
	}
	return s
}

// opens decides after the last of the results of an active pool.
func (r rules) opens(results []result) bool {
	if !results[len(results)-1].bad {
		return false
	}
	if r.failures > 0 {
		row := 0
		for row < len(results) && results[len(results)-1-row].bad {
			row++
		}
		return row >= r.failures
	}
	steps := make([]time.Duration, len(results)) // the step each result came in
	for i, one := range results {
		steps[i] = (one.at - results[0].at) / (r.window / 10)
		if i > 0 {
			steps[i] = max(steps[i], steps[i-1]) // the clock went back
		}
	}
	all, bad := 0, 0
	for i, one := range results {
		if steps[len(steps)-1]-steps[i] < 10 {
			all++
			if one.bad {
				bad++
			}
		}
	}
	return all >= r.minResults && float64(bad) >= r.rate*float64(all)
}

// played is the real thing, with a log in between.
type played struct {
	Strategy
	h       *bench
	rules   rules
	armed   []State
	changes []stateChange // told the strategy
	user    []stateChange // told OnStateChange
}

func (p *played) ReportSuccess(src Source) {
	p.h.say("success ", src.State())
	p.Strategy.ReportSuccess(src)
}

func (p *played) ReportFailure(src Source, err error) {
	p.h.say("failure ", src.State())
	p.Strategy.ReportFailure(src, err)
}

func (p *played) Probes() int { return p.Strategy.(Prober).Probes() }

func (p *played) StateChanged(src Source, from, to State) {
	p.changes = append(p.changes, stateChange{from, to})
	p.Strategy.(StateWatcher).StateChanged(src, from, to)
	if !p.rules.armUser {
		p.fire()
	}
}

func (p *played) onStateChange(from, to State) {
	p.user = append(p.user, stateChange{from, to})
	if p.rules.armUser {
		p.fire()
	}
}

func (p *played) fire() {
	if len(p.armed) > 0 {
		to := p.armed[0]
		p.armed = p.armed[1:]
		p.h.breaker.become(to)
	}
}

func TestBreaker_Model(t *testing.T) {
	for name, make := range map[string]func(t *rapid.T, r *rules) Strategy{
		"ConsecutiveFailures": func(t *rapid.T, r *rules) Strategy {
			r.failures = rapid.IntRange(1, 4).Draw(t, "failures")
			return &ConsecutiveFailures{r.failures, r.coolDown, r.maxProbes, r.successes, 0, recovery{}, attachment{}}
		},
		"FailureRate": func(t *rapid.T, r *rules) Strategy {
			r.rate = rapid.SampledFrom([]float64{0.25, 0.5, 0.75, 1}).Draw(t, "rate")
			r.window = 10 * rapid.SampledFrom([]time.Duration{1, 3, 7}).Draw(t, "step")
			r.minResults = rapid.IntRange(1, 6).Draw(t, "minResults")
			return &FailureRate{r.rate, r.window, r.minResults, r.coolDown, r.maxProbes, r.successes, rateWindow{}, recovery{}, attachment{}}
		},
	} {
		t.Run(name, func(outer *testing.T) {
			rapid.Check(outer, func(t *rapid.T) {
				r := rules{
					coolDown:  time.Duration(rapid.IntRange(1, 30).Draw(t, "coolDown")),
					maxProbes: rapid.IntRange(1, 3).Draw(t, "maxProbes"),
					successes: rapid.IntRange(1, 4).Draw(t, "successes"),
					armUser:   rapid.Bool().Draw(t, "armUser"),
				}
				p := &played{}
				p.Strategy = make(t, &r)
				p.rules = r
				p.h = newBench(outer, p, p.onStateChange)
				play(t, p)
			})
		})
	}
}

// play draws a history, lets it happen, and compares after every act.
func play(t *rapid.T, p *played) {
	var (
		history []act
		tickets []ticket
		back    []bool // whether the ticket was given back
		begin   = p.h.clock
	)
	kinds := []string{"admit", "admit", "admit", "success", "success", "failure", "failure", "nothing", "become", "arm"}
	states := []State{Active, Inactive, Recovering}
	for range rapid.IntRange(1, 80).Draw(t, "acts") {
		p.h.after(rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 1, 2, 5, 11, 80, -1}).Draw(t, "later"))
		a := act{at: p.h.clock.Sub(begin), kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch a.kind {
		case "admit":
			got, ok := p.h.breaker.admit()
			tickets = append(tickets, got)
			back = append(back, !ok)
		case "become":
			if rapid.IntRange(0, 3).Draw(t, "rarely") > 0 {
				continue
			}
			a.to = rapid.SampledFrom(states).Draw(t, "to")
			p.h.breaker.become(a.to)
		case "arm":
			a.to = rapid.SampledFrom(states).Draw(t, "to")
			p.armed = append(p.armed, a.to)
		default:
			if a.n = pick(t, back); a.n < 0 {
				continue
			}
			back[a.n] = true
			switch a.kind {
			case "success":
				p.h.breaker.success(tickets[a.n])
			case "failure":
				p.h.breaker.failure(tickets[a.n], errBench)
			case "nothing":
				p.h.breaker.nothing(tickets[a.n])
			}
		}
		history = append(history, a)
		if diff := p.differs(replay(p.rules, history), tickets); diff != "" {
			t.Fatalf("%s\nafter %+v\nwith %+v", diff, history, p.rules)
		}
	}
}

// pick draws one of the tickets that are out; -1: there is none.
func pick(t *rapid.T, back []bool) int {
	var out []int
	for i, gone := range back {
		if !gone {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return -1
	}
	return rapid.SampledFrom(out).Draw(t, "ticket")
}

func (p *played) differs(want *story, tickets []ticket) string {
	for i, changes := range want.admitted {
		expected := ticket(1 + changes)
		if changes < 0 {
			expected = 0
		}
		if tickets[i] != expected {
			return fmt.Sprintf("admit %d: %v; in the model %v", i, tickets[i], expected)
		}
	}
	b := &p.h.breaker
	switch {
	case b.state() != want.state() || b.probes() != want.probes || p.h.opens != want.opens:
		return fmt.Sprintf("%v, %d probes, %d openings; in the model %v, %d, %d",
			b.state(), b.probes(), p.h.opens, want.state(), want.probes, want.opens)
	case !slices.Equal(p.changes, want.changes) || !slices.Equal(p.user, want.changes):
		return fmt.Sprintf("told the strategy %v, OnStateChange %v; in the model %v", p.changes, p.user, want.changes)
	case !slices.Equal(p.h.log, want.reports):
		return fmt.Sprintf("reports %v; in the model %v", p.h.log, want.reports)
	case len(p.h.errs) > 0:
		return fmt.Sprint("panics: ", p.h.errs)
	}
	return ""
}
