package scope_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/reactortest"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// model is a run beside what a simple model says of it. It is driven by the main coroutine, which does one thing after the other and
// lets the others run only when that is what it does.
type model struct {
	modelTree
	t         modelT
	choose    func(label string, n int) int // 0 to n-1
	real      bool                          // on libuv
	main      *scheduler.Coroutine
	mainCo    *modelCo
	s         *scheduler.Scheduler
	tokens    []*modelToken
	handlers  []*modelFinally
	deadlines []event.Deadline
	focus     *modelScope // nil: none yet
	heard     int         // of the expected calls of handlers
	resumed   int         // how often somebody has gone on
	ending    bool
	dead      bool // the test has failed
}

type modelT interface {
	Errorf(format string, args ...any)
}

func (m *model) errorf(format string, args ...any) {
	if !m.dead {
		m.t.Errorf(format, args...)
	}
}

func (m *model) ok(err error) {
	if err != nil {
		m.errorf("%v", err)
	}
}

// step does one thing by chance.
func (m *model) step() {
	actions := []func(){
		m.newScope, m.newScope, m.flag,
		m.spawnAny, m.spawnAny, m.spawnAny, m.spawnFailing, m.spawnFailing, m.spawnWaiter, m.spawnWaiter,
		m.setHandler, m.scopeFinally, m.coFinally,
		m.cancelAny, m.endSome, m.endSome,
		m.unpark, m.unpark, m.fire,
		m.letRun, m.letRun, m.letRun, m.advance, m.advance,
	}
	actions[m.choose("step", len(actions))]()
}

func (m *model) endSome() { m.endScope(m.someScope(), m.choose("how", 8)) }

// someScope is mostly the one that it was before: what is wrong often needs several things to happen to one scope.
func (m *model) someScope() *modelScope {
	n := m.choose("scope", 2048)
	if m.focus == nil || m.focus.done || n%4 == 0 {
		m.focus = m.scopeAt(n / 4)
	}
	return m.focus
}

func (m *model) newScope() {
	if len(m.scopes) > 40 {
		return
	}
	parent := m.someScope()
	sc := &modelScope{parent: parent, safe: true}
	switch m.choose("kind", 8) {
	case 0:
		sc.parent = nil
		sc.s = scope.NewRoot(m.main)
		if m.scopes[0].sealed {
			parent = m.scopes[0]
		}
	case 1, 2, 3:
		sc.s = scope.Inherit(parent.s)
		sc.safe = parent.safe
	default:
		sc.s = scope.New(parent.s)
	}
	if sc.parent != nil && parent.sealed || m.scopes[0].sealed && sc.parent == nil {
		ended := parent.endedBelow(sc.s)
		ended.safe, ended.number = sc.safe, m.number()
		m.scopes = append(m.scopes, ended)
		return
	}
	m.scopes = append(m.scopes, m.push(sc))
}

func (m *model) flag() {
	sc := m.someScope()
	sc.safe = m.choose("safe", 2) == 1
	same := sc.s.AsNotSafely
	if sc.safe {
		same = sc.s.AllowZombies
	}
	if same() != sc.s {
		m.errorf("another handle")
	}
}

func (m *model) script(depth int) (script []modelOp) {
	for range m.choose("length", 5) {
		op := modelOp{what: m.choose("op", opKinds), how: m.choose("how", 1<<12)}
		if op.what == opSpawn && depth > 0 {
			op.then = m.script(depth - 1)
		}
		script = append(script, op)
	}
	return script
}

func (m *model) spawnAny() {
	in := m.someScope()
	kind := m.choose("kind", 20)
	m.spawn(in, m.main, m.script(1), kind < 2, kind%4 == 3)
}

// spawnFailing spawns one that lives for a while and fails.
func (m *model) spawnFailing() {
	script := []modelOp{{what: m.choose("op", opProtect)}, {what: opFail + m.choose("fail", 2)}}
	m.spawn(m.someScope(), m.main, script, false, m.choose("stub", 2) == 1)
}

// spawnWaiter spawns one, outside of a scope, that waits for it.
func (m *model) spawnWaiter() {
	what := []int{opAwaitCompletion, opAwaitScope, opAwaitAfter, opAwaitAfter}[m.choose("op", 4)]
	op := modelOp{what: what, how: m.choose("how", 1<<12), at: m.someScope()}
	m.spawn(m.scopes[0], m.main, []modelOp{op}, false, false)
}

func (m *model) setHandler() {
	sc := m.someScope()
	kind := modelHandler(m.choose("handler", 3))
	name, set, field := "OnError", sc.s.OnError, &sc.onError
	if m.choose("which", 2) == 1 {
		name, set, field = "OnChildError", sc.s.OnChildError, &sc.onChild
	}
	*field = kind
	if kind == modelNone {
		m.ok(set(nil))
	} else {
		m.ok(set(m.handler(name, sc)))
	}
}

func (m *model) scopeFinally() {
	sc := m.someScope()
	f := &modelFinally{what: fmt.Sprint("finally of scope ", sc.number), kind: m.choose("kind", 5)}
	m.handlers = append(m.handlers, f)
	if !sc.done {
		sc.finally = append(sc.finally, f)
	}
	m.addFinally(f, sc.done, func(run func(self *scheduler.Coroutine) error) error {
		return sc.s.OnFinally(func(self *scheduler.Coroutine, s *scope.Scope) error {
			if !s.Same(sc.s) {
				m.errorf("%s is given another scope", f.what)
			}
			return run(self)
		})
	})
}

func (m *model) someCo() *modelCo {
	var left []*modelCo
	for _, c := range m.cos {
		if !c.gone {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return left[m.choose("coroutine", len(left))]
}

func (m *model) coFinally() {
	c := m.someCo()
	if c == nil || c.hidden && !c.begun { // it cannot be told when a hidden one ended that never began
		return
	}
	f := &modelFinally{what: fmt.Sprint("finally of coroutine ", c.number), kind: m.choose("kind", 2)}
	m.handlers = append(m.handlers, f)
	c.finally = append(c.finally, f)
	m.addFinally(f, false, func(run func(self *scheduler.Coroutine) error) error {
		return c.co.OnFinally(func(self, ended *scheduler.Coroutine) error {
			if ended != c.co || !ended.Completed() {
				m.errorf("%s is given another coroutine, or one that runs", f.what)
			}
			return run(self)
		})
	})
}

func (m *model) cancelAny() {
	if c := m.someCo(); c != nil {
		m.cancelCo(c)
	}
}

// unpark serves somebody in the line, whom nobody has cancelled.
func (m *model) unpark() {
	var line []*modelWait
	for _, w := range m.waits {
		if w.kind == modelPark && w.parked && w.woken == modelAsleep && (!w.co.asked || w.co.shield) {
			line = append(line, w)
		}
	}
	if len(line) > 0 {
		w := line[m.choose("waiter", len(line))]
		w.wake(modelHappened)
		m.ok(w.co.co.Unpark())
	}
}

func (m *model) fire() {
	i := m.choose("token", len(m.tokens))
	t := m.tokens[i]
	t.done = true
	for _, w := range m.waits {
		if w.token == t {
			w.wake(modelFired)
		}
	}
	m.ok(t.Notify(nil, nil))
	m.tokens[i] = newModelToken()
}

// letRun lets everybody go on who can.
func (m *model) letRun() {
	for m.s.Stats().Ready > 0 {
		m.ok(m.main.Yield())
	}
	m.sync()
	for _, w := range m.waits {
		if w.kind != modelTime && (w.woken != modelAsleep || w.co.asked && !w.co.shield) {
			m.errorf("coroutine %d is left behind: kind %d, woken %d, cancelled %v", w.co.number, w.kind, w.woken, w.co.asked)
		}
	}
	for _, c := range m.cos {
		if !c.begun && !c.gone {
			m.errorf("coroutine %d never began", c.number)
		}
	}
	for _, f := range m.handlers {
		if f.by != nil && f.ran != 1 {
			m.errorf("%s ran %d times", f.what, f.ran)
		}
	}
}

func (m *model) advance() {
	d := time.Duration(1+m.choose("ms", 25)) * ms
	if m.real {
		d = ms
	}
	m.ok(m.main.Delay(d))
	m.letRun()
}

// check compares everything that can be seen.
func (m *model) check() {
	m.sync()
	st, want := m.s.Stats(), m.all()
	if got := (scope.Stats{Active: st.Active, Zombies: st.Zombies, Total: st.Total}); got != want {
		m.errorf("the run has %+v, and not %+v", got, want)
	}
	for _, sc := range m.scopes {
		m.checkScope(sc)
	}
	for _, c := range m.cos {
		m.checkCo(c)
	}
	if m.heard != len(m.expected) {
		m.errorf("%v was not told", m.expected[m.heard:])
	}
}

func (m *model) checkScope(sc *modelScope) {
	s := sc.s
	if got, want := s.Stats(), sc.counts(); got != want {
		m.errorf("scope %d has %+v, and not %+v", sc.number, got, want)
	}
	got := []bool{s.IsFinished(), s.IsClosed(), s.IsCancelled(), s.Safe()}
	if want := []bool{sc.finished(), sc.disposed || sc.done, sc.cancelled, sc.safe}; !slices.Equal(got, want) {
		m.errorf("scope %d: finished, closed, cancelled, safe are %v, and not %v", sc.number, got, want)
	}
	if c := s.Scope().Cancelled(); c != nil && sc.reason != nil && !errors.Is(c, sc.reason) {
		m.errorf("scope %d was cancelled with %v, and not %v", sc.number, c, sc.reason)
	}
	var below []*modelScope
	for _, c := range sc.children {
		if !c.cleanup {
			below = append(below, c)
		}
	}
	if !slices.EqualFunc(s.ChildScopes(), below, func(s *scope.Scope, sc *modelScope) bool { return s.Same(sc.s) }) {
		m.errorf("scope %d has %d scopes below, and not %d", sc.number, len(s.ChildScopes()), len(below))
	}
}

func (m *model) checkCo(c *modelCo) {
	co := c.co
	if co.Completed() != c.gone {
		m.errorf("coroutine %d: ended %v, and not %v", c.number, co.Completed(), c.gone)
	}
	if c.gone {
		return
	}
	states := 0
	for _, is := range []bool{!co.Started(), co.Running(), co.Suspended()} {
		if is {
			states++
		}
	}
	if states != 1 || co.Started() != c.begun || co.Zombie() != c.zombie || co.CancellationRequested() != c.asked {
		m.errorf("coroutine %d: %d states, started %v, zombie %v, cancelled %v; the model says %v, %v, %v",
			c.number, states, co.Started(), co.Zombie(), co.CancellationRequested(), c.begun, c.zombie, c.asked)
	}
}

// wind ends whatever keeps the run alive, except for zombies.
func (m *model) wind() {
	for range 200 {
		for _, w := range m.waits {
			if w.kind == modelPark && w.parked && w.woken == modelAsleep && (!w.co.asked || w.co.shield) {
				w.wake(modelHappened)
				m.ok(w.co.co.Unpark())
			}
		}
		left := false
		for _, c := range m.cos {
			if !c.gone && c.active() {
				left = true
				m.cancelCo(c)
			}
			left = left || !c.gone && c.shield
		}
		if !left {
			return
		}
		m.ok(m.main.Delay(10 * ms))
		m.letRun()
	}
	m.errorf("coroutines do not end")
}

// last is what main does at the end.
func (m *model) last() {
	if m.choose("last", 4) == 0 {
		m.endAny(m.scopes[0], m.choose("how", 6))
		m.check()
	}
	m.ending = true
}

// drive is the main coroutine: steps does the actions.
func (m *model) drive(co *scheduler.Coroutine, steps func()) {
	m.main, m.s = co, co.Scheduler()
	m.mainCo = &modelCo{co: co, begun: true, shield: true, number: m.number()}
	root := m.push(&modelScope{s: scope.Main(co), safe: true})
	m.mainCo.in = root
	root.cos = append(root.cos, m.mainCo)
	m.scopes = append(m.scopes, root)
	for range 3 {
		m.tokens = append(m.tokens, newModelToken())
	}
	if m.choose("takes", 3) > 0 {
		root.onError = modelTakes
		m.ok(root.s.OnError(m.handler("OnError", root)))
	}
	_ = co.Protect(func(context.Context) error {
		steps()
		m.wind()
		m.check()
		m.last()
		return nil
	})
	m.mainCo.over = true
	m.remove(m.mainCo)
}

// over compares what is left when the run has ended with err.
func (m *model) overWith(err error) {
	m.sync()
	for _, d := range m.deadlines {
		d.Stop()
	}
	for _, c := range m.cos {
		if !c.co.Completed() || c.begun && !c.gone {
			m.errorf("coroutine %d has not ended", c.number)
		}
	}
	for _, f := range m.handlers {
		if f.ran != 1 {
			m.errorf("%s ran %d times", f.what, f.ran)
		}
	}
	if len(m.waits) > 0 {
		m.errorf("%d wait", len(m.waits))
	}
	for _, t := range m.tokens {
		if t.Callbacks() > 0 {
			m.errorf("a token has %d callbacks", t.Callbacks())
		}
	}
	for _, sc := range m.scopes {
		sc.stopLimit()
		if n := sc.s.AsEvent().Callbacks(); n > 0 {
			m.errorf("scope %d has %d callbacks", sc.number, n)
		}
	}
	if m.heard != len(m.expected) {
		m.errorf("%v was not told", m.expected[m.heard:])
	}
	if !modelExplains(m.in(err), m.ran) || (err == nil) != (len(m.ran) == 0) {
		m.errorf("the run ends with %v, and not with %v", err, m.ran)
	}
	var late *scheduler.DeadlockError
	var unwound *scheduler.ShutdownError
	if errors.As(err, &late) || errors.As(err, &unwound) {
		m.errorf("the run ends with %v", err)
	}
	if st := m.s.Stats(); st.Active != 0 || st.Zombies != 0 || st.Total != 0 || st.Contexts != 0 {
		m.errorf("of the run are left: %+v", st)
	}
}

// run makes a run of it. It returns what a panic of the machine was about.
func (m *model) run(w reactortest.World, o scheduler.Options, steps func()) (panicked any) {
	o.Logger = slog.New(slog.DiscardHandler)
	o.Grace = 1000 * hour
	s := scheduler.New(w, o)
	err := s.Run(context.Background(), func(co *scheduler.Coroutine) error {
		defer func() {
			if panicked = recover(); panicked != nil {
				m.dead = true
			}
		}()
		m.drive(co, steps)
		return nil
	})
	if panicked == nil {
		m.overWith(err)
	}
	if n := w.Live(); n != 0 && panicked == nil {
		m.errorf("%d events are live", n)
	}
	return panicked
}

func TestScope_RandomTreesDoWhatTheModelSays(t *testing.T) {
	for round := range 20 {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) { rapid.Check(t, modelTrees) })
	}
}

// modelTrees is one run in virtual time.
func modelTrees(rt *rapid.T) {
	seed := rapid.Uint64().Draw(rt, "seed")
	shuffled := rapid.Bool().Draw(rt, "shuffled")
	w := reactortest.Simulated{Reactor: simreactor.New(seed)}
	w.SetShuffle(shuffled)
	o := scheduler.Options{Slice: hour}
	if shuffled {
		o.Rand = rand.New(rand.NewPCG(seed, 1))
	}
	m := &model{t: rt, choose: func(label string, n int) int {
		// rapid's own choices are mostly small ones.
		return int(rapid.Uint64().Draw(rt, label) * 0x9e3779b97f4a7c15 >> 32 % uint64(n))
	}}
	panicked := m.run(w, o, func() {
		for range 2 {
			rt.Repeat(map[string]func(*rapid.T){
				"":     func(*rapid.T) { m.check() },
				"step": func(*rapid.T) { m.step() },
			})
		}
	})
	switch { // from different lines, by which rapid tells them apart
	case rt.Failed():
		rt.FailNow()
	case panicked != nil:
		panic(panicked)
	}
	if err := w.Close(); err != nil {
		rt.Errorf("%v", err)
	}
}

func TestScope_RandomTreesOnLibuvDoWhatTheModelSays(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			l, err := reactor.New(reactor.Options{})
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(seed, 2))
			m := &model{t: t, real: true, choose: func(_ string, n int) int { return r.IntN(n) }}
			if p := m.run(reactortest.Real{Loop: l}, scheduler.Options{}, func() {
				for range 60 {
					m.step()
					m.check()
				}
			}); p != nil {
				t.Errorf("%v", p)
			}
			require.NoError(t, l.Close())
		})
	}
}
