package scope_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// The model of scopes: a tree of plain records. Whatever user code can see of a change is told to it by that code, in the step in
// which it happens; all the rest follows from these functions. It keeps no counts, but counts.

// modelManner is how a scope is ended.
type modelManner int

const (
	modelByFlag modelManner = iota
	modelSafely
	modelForcibly
)

// modelFailure is an error that no other is equal to.
type modelFailure struct {
	number int
	behind []*modelFailure // may be in its chain: whoever failed was cancelled because of them
}

func (f *modelFailure) Error() string { return fmt.Sprint("failure ", f.number) }

// modelHandler is what a scope has for failures.
type modelHandler int

const (
	modelNone modelHandler = iota
	modelTakes
	modelRefuses // fails itself
)

type modelScope struct {
	number    int
	s         *scope.Scope // nil: one of finally handlers
	parent    *modelScope
	children  []*modelScope // that have not ended, those of finally handlers included
	cos       []*modelCo    // that have not ended
	safe      bool
	sealed    bool
	disposed  bool
	safely    bool
	forced    bool
	cancelled bool
	reason    error
	done      bool
	cleanup   bool
	onError   modelHandler
	onChild   modelHandler
	finally   []*modelFinally
	waits     []*modelWait   // AwaitAfterCancellation
	limit     event.Deadline // beside that of DisposeAfterTimeout; nil: none
}

// modelFinally is a finally handler, of a scope or a coroutine.
type modelFinally struct {
	what string
	kind int
	by   *modelCo // who runs it; nil: it is not that far
	ran  int
}

type modelCo struct {
	number  int
	co      *scheduler.Coroutine
	in      *modelScope
	hidden  bool
	zombie  bool
	asked   bool // cancelled
	reason  error
	shield  bool // in a protected section
	begun   bool
	inside  bool // its body is what runs
	over    bool // its body has ended
	gone    bool // it has left its scope
	stub    bool // goes on when it is told of a cancellation
	wait    *modelWait
	finally []*modelFinally
	calls   []*modelFinally // those that it runs
	origin  *modelScope     // where the failures of these go
	failed  []*modelFailure
}

type modelWake int

const (
	modelAsleep modelWake = iota
	modelHappened
	modelFired   // the token
	modelTimeout // the limit
)

type modelWaitKind int

const (
	modelPark modelWaitKind = iota
	modelTime
	modelCompletion // of one of the scopes
	modelAfter      // of what is left in a scope that was ended
	modelTarget     // of a coroutine
)

// modelWait is one that is under way.
type modelWait struct {
	kind     modelWaitKind
	co       *modelCo
	scopes   []*modelScope
	target   *modelCo
	token    *modelToken
	parked   bool
	entered  bool // an AwaitAfterCancellation that had to wait
	woken    modelWake
	fired    []int             // which scopes have
	batch    int               // in which it was woken
	failures [][]*modelFailure // each may be several that came together
	returned *modelFailure     // of its handler
}

func (w *modelWait) wake(why modelWake) {
	if w.parked && w.woken == modelAsleep {
		w.woken = why
	}
}

// modelTold is what a handler shall be told.
type modelTold struct {
	who      string
	failures []*modelFailure
	answer   *modelFailure // what it returns; nil: it takes them
}

type modelTree struct {
	roots    []*modelScope
	scopes   []*modelScope // all that have a handle
	cos      []*modelCo    // all that were spawned
	waits    []*modelWait
	failures []*modelFailure
	numbers  int
	batch    int // of changes whose order the model does not know; 0: it does
	batches  int
	shut     bool
	expected []modelTold
	ran      []*modelFailure // what Run returns
}

func (m *modelTree) number() int { m.numbers++; return m.numbers }

func (m *modelTree) failure(co *modelCo) *modelFailure {
	f := &modelFailure{number: m.number()}
	if co != nil && co.asked {
		f.behind = m.in(co.reason)
	}
	m.failures = append(m.failures, f)
	return f
}

// in lists the failures that are in the chain of err.
func (m *modelTree) in(err error) (list []*modelFailure) {
	if err == nil {
		return nil
	}
	for _, f := range m.failures {
		if errors.Is(err, f) {
			list = append(list, f)
		}
	}
	return list
}

// modelExplains reports whether got are the failures wanted, and nothing else than what may be behind them.
func modelExplains(got, want []*modelFailure) bool {
	seen := map[*modelFailure]bool{}
	var add func(list []*modelFailure)
	add = func(list []*modelFailure) {
		for _, f := range list {
			if !seen[f] {
				seen[f] = true
				add(f.behind)
			}
		}
	}
	for _, f := range want {
		if !slices.Contains(got, f) {
			return false
		}
	}
	add(want)
	return !slices.ContainsFunc(got, func(f *modelFailure) bool { return !seen[f] })
}

func (m *modelTree) siblings(sc *modelScope) *[]*modelScope {
	if sc.parent == nil {
		return &m.roots
	}
	return &sc.parent.children
}

func (m *modelTree) push(sc *modelScope) *modelScope {
	sc.number = m.number()
	list := m.siblings(sc)
	*list = append(*list, sc)
	return sc
}

// endedBelow is a scope that is made below one that takes no more.
func (sc *modelScope) endedBelow(s *scope.Scope) *modelScope {
	return &modelScope{
		s: s, parent: sc, safe: true, sealed: true, disposed: true, done: true,
		cancelled: sc.cancelled, reason: sc.reason, safely: !sc.cancelled, forced: sc.cancelled,
	}
}

func (sc *modelScope) ending() bool { return sc.cancelled || sc.safely }

func (sc *modelScope) within(around *modelScope) bool {
	for ; sc != nil; sc = sc.parent {
		if sc == around {
			return true
		}
	}
	return false
}

func (c *modelCo) active() bool { return !c.hidden && !c.zombie }

// counts are those of the scope alone.
func (sc *modelScope) counts() (st scope.Stats) {
	for _, c := range sc.cos {
		st.Total++
		switch {
		case c.zombie:
			st.Zombies++
		case !c.hidden:
			st.Active++
		}
	}
	return st
}

func (sc *modelScope) below(fn func(*modelScope)) {
	for _, c := range sc.children {
		c.below(fn)
	}
	fn(sc)
}

func (sc *modelScope) finished() bool {
	active := 0
	sc.below(func(sc *modelScope) { active += sc.counts().Active })
	return active == 0
}

func (m *modelTree) all() (st scope.Stats) {
	for _, r := range m.roots {
		r.below(func(sc *modelScope) {
			own := sc.counts()
			st.Active += own.Active
			st.Zombies += own.Zombies
			st.Total += own.Total
		})
	}
	return st
}

// finish wakes who waits for scopes without active coroutines.
func (m *modelTree) finish() {
	for _, w := range m.waits {
		if w.kind != modelCompletion || !w.parked || w.woken != modelAsleep && (w.batch == 0 || w.batch != m.batch) {
			continue
		}
		for i, sc := range w.scopes {
			if sc.finished() {
				w.fired = append(w.fired, i)
				w.batch = m.batch
				w.wake(modelHappened)
			}
		}
	}
}

func (m *modelTree) cancel(c *modelCo, reason error) {
	if !c.over && !c.gone && !c.asked {
		c.asked, c.reason = true, reason
	}
}

func (m *modelTree) haunt(c *modelCo) {
	if !c.over && !c.zombie {
		c.zombie = true
		m.finish()
	}
}

// seal closes a scope for new coroutines, and those below.
func (m *modelTree) seal(sc *modelScope) {
	sc.sealed, sc.disposed = true, true
	for _, c := range sc.children {
		if !c.cleanup {
			m.seal(c)
		}
	}
}

// settleDown lets go what is empty.
func (m *modelTree) settleDown(sc *modelScope) {
	for _, c := range slices.Clone(sc.children) {
		if !c.cleanup {
			m.settleDown(c)
		}
	}
	m.leaveIfDone(sc)
}

// dispose is any of the calls that do so.
func (m *modelTree) dispose(sc *modelScope, how modelManner, reason error) {
	m.seal(sc)
	m.end(sc, how, reason)
}

func (m *modelTree) end(sc *modelScope, how modelManner, reason error) {
	switch {
	case sc.done, sc.forced, how == modelSafely && sc.safely, how == modelByFlag && sc.ending():
		return
	}
	sc.sealed = true
	switch {
	case how == modelSafely:
		sc.safely = true
	case !sc.cancelled:
		sc.cancelled, sc.reason = true, reason
	}
	sc.forced = how == modelForcibly
	for _, c := range slices.Clone(sc.children) {
		if !c.cleanup {
			m.end(c, how, reason)
		}
	}
	cos := slices.Clone(sc.cos)
	slices.SortFunc(cos, func(a, b *modelCo) int { return cmp.Compare(a.number, b.number) })
	for _, c := range cos {
		if how == modelSafely || how == modelByFlag && sc.safe && c.begun {
			m.haunt(c)
		} else {
			m.cancel(c, reason)
		}
	}
	m.leaveIfDone(sc)
}

// remove is the end of a coroutine.
func (m *modelTree) remove(c *modelCo) {
	c.over, c.gone = true, true
	i := slices.Index(c.in.cos, c)
	c.in.cos = slices.Delete(c.in.cos, i, i+1)
	m.leaveIfDone(c.in) // first: there may be finally handlers, which the scopes around wait for
	m.finish()
}

func (m *modelTree) leaveIfDone(sc *modelScope) {
	for ; sc != nil && !sc.done && (sc.sealed || sc.cleanup) && len(sc.cos) == 0 && len(sc.children) == 0; sc = sc.parent {
		sc.done, sc.sealed = true, true
		sc.stopLimit()
		for _, w := range sc.waits {
			w.wake(modelHappened)
		}
		m.finalize(sc.parent, sc, sc.finally)
		sc.finally = nil
		list := m.siblings(sc)
		i := slices.Index(*list, sc)
		*list = slices.Delete(*list, i, i+1)
	}
}

func (sc *modelScope) stopLimit() {
	if sc.limit != nil {
		sc.limit.Stop()
		sc.limit = nil
	}
}

// finalize starts a coroutine that runs finally handlers, in the scope around. Their failures go to origin.
func (m *modelTree) finalize(around, origin *modelScope, calls []*modelFinally) {
	if len(calls) == 0 {
		return
	}
	below := m.push(&modelScope{parent: around, cleanup: true, safe: true})
	c := &modelCo{number: m.number(), in: below, origin: origin, calls: calls}
	for _, f := range calls {
		f.by = c
	}
	below.cos = append(below.cos, c)
}

// fail takes failures upwards, until somebody deals with them.
func (m *modelTree) fail(sc *modelScope, failures []*modelFailure) {
	failures[0].behind = append(failures[0].behind, failures[1:]...)
	for below := false; sc != nil; sc, below = sc.parent, true {
		if len(sc.waits) > 0 {
			for _, w := range sc.waits {
				w.failures = append(w.failures, failures)
				w.wake(modelHappened)
			}
			return
		}
		for _, h := range []struct {
			kind modelHandler
			name string
			asks bool
		}{{sc.onChild, "OnChildError", below}, {sc.onError, "OnError", true}} {
			if !h.asks || h.kind == modelNone {
				continue
			}
			told := modelTold{who: fmt.Sprint(h.name, " of scope ", sc.number), failures: failures}
			if h.kind == modelRefuses {
				told.answer = m.failure(nil)
			}
			m.expected = append(m.expected, told)
			if told.answer == nil {
				return
			}
			failures = append(slices.Clone(failures), told.answer)
			failures[0].behind = append(failures[0].behind, told.answer)
		}
		if sc.parent != nil && !sc.cleanup && !sc.ending() {
			m.end(sc, modelForcibly, failures[0])
		}
	}
	m.ran = append(m.ran, failures...)
	m.shutdown(failures[0])
}

func (m *modelTree) shutdown(reason error) {
	if m.shut {
		return
	}
	m.shut = true
	for _, r := range slices.Clone(m.roots) {
		if !r.cleanup {
			m.end(r, modelForcibly, reason)
		}
	}
}

// complete ends the scopes that are left when the run is over.
func (m *modelTree) complete() {
	for len(m.roots) > 0 && m.all().Total == 0 {
		leaf := m.roots[0]
		for len(leaf.children) > 0 {
			leaf = leaf.children[0]
		}
		leaf.sealed = true
		m.leaveIfDone(leaf)
	}
}
