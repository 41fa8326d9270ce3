package scope_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// modelToken bounds waits. It fires once.
type modelToken struct {
	event.Base
	done bool
}

type modelTokenKind struct {
	event.NopKind
	t *modelToken
}

func (k modelTokenKind) Outcome() (any, bool, error) { return nil, k.t.done, nil }
func (k modelTokenKind) Info() string                { return "token" }

func newModelToken() *modelToken {
	t := &modelToken{}
	t.Init(modelTokenKind{t: t}, nil, 0)
	return t
}

// modelOp is a step in the life of a coroutine: what, and how in detail.
type modelOp struct {
	what, how int
	then      []modelOp   // of a coroutine that it spawns
	at        *modelScope // what it waits for; nil: some
}

const (
	opDelay = iota
	opYield
	opPark
	opProtect
	opSpawn
	opAwaitCompletion
	opAwaitAfter
	opAwaitFirst
	opAwaitScope
	opAwaitCoroutine
	opEnd
	opCancelSelf
	opFail
	opPanic
	opKinds
)

// Times of what ends waits, and of what disposes, are kept apart, so that it is never by chance what comes first.
const (
	modelDelays = iota * 3
	modelLimits
	modelDisposals
)

// after is a duration until n periods from now, at the time in the period that is of the kind.
func (m *model) after(n, kind int) time.Duration {
	if m.real {
		return time.Duration(1+n) * ms
	}
	now := int(m.s.Reactor().Elapsed() / ms)
	next := now/10*10 + kind
	for next <= now {
		next += 10
	}
	return time.Duration(next+10*n-now) * ms
}

// sync tells the model of what has happened without any user code: the ends of coroutines that never began, and of the scopes
// that are left in the end.
func (m *model) sync() {
	m.batches++
	m.batch = m.batches
	defer func() { m.batch = 0 }()
	for _, c := range m.cos {
		if !c.begun && !c.gone && c.co.Completed() {
			m.toldOfEnd(c, c.co.Error())
			if !c.asked {
				m.errorf("coroutine %d ended without having begun: %v", c.number, c.co.Error())
			}
			m.tellAwaiters(c, nil)
			m.finalize(c.in, c.in, c.finally)
			c.finally = nil
			m.remove(c)
		}
	}
	if m.ending {
		m.complete()
	}
}

// tellAwaiters wakes who awaits c, and reports whether somebody has got its failure.
func (m *model) tellAwaiters(c *modelCo, f *modelFailure) (awaited bool) {
	for _, w := range m.waits {
		if w.kind != modelTarget || w.target != c || !w.parked {
			continue
		}
		if w.woken == modelAsleep {
			awaited = true
			if f != nil {
				w.failures = append(w.failures, []*modelFailure{f})
			}
		}
		w.wake(modelHappened)
	}
	return awaited
}

// live is the body of c.
func (m *model) live(c *modelCo, co *scheduler.Coroutine, script []modelOp) error {
	m.resumed++
	m.sync()
	if c.begun || c.asked || c.gone {
		m.errorf("coroutine %d begins: begun %v, cancelled %v, gone %v", c.number, c.begun, c.asked, c.gone)
	}
	c.begun, c.inside = true, true
	var failure *modelFailure
	defer func() { m.over(c, failure) }()
	for _, op := range script {
		switch {
		case c.asked && !c.stub:
			return co.Err()
		case op.what == opFail || op.what == opPanic:
			failure = m.failure(c)
			if op.what == opPanic {
				panic(failure)
			}
			return failure
		}
		m.do(c, co, op)
	}
	return nil
}

// over is the end of a body.
func (m *model) over(c *modelCo, failure *modelFailure) {
	m.sync()
	c.inside, c.over = false, true
	if !m.tellAwaiters(c, failure) && failure != nil {
		m.fail(c.in, []*modelFailure{failure})
	}
	m.finalize(c.in, c.in, c.finally)
	c.finally = nil
	m.remove(c)
}

func (m *model) do(c *modelCo, co *scheduler.Coroutine, op modelOp) {
	if !c.inside || m.s.Current() != co || !co.Running() {
		m.errorf("coroutine %d runs although it should not", c.number)
	}
	w := &modelWait{co: c}
	switch op.what {
	case opDelay:
		w.kind = modelTime
		m.suspend(w, nil, func() error { return co.Delay(m.after(op.how%3, modelDelays)) })
	case opYield:
		w.kind = modelTime
		m.suspend(w, nil, co.Yield)
	case opPark:
		m.park(w, op.how)
	case opProtect:
		before := c.asked
		err := co.Protect(func(context.Context) error {
			c.shield = true
			switch op.how % 3 {
			case 0:
				m.do(c, co, modelOp{what: opYield})
			case 1:
				m.do(c, co, modelOp{what: opDelay})
			case 2:
				if !m.ending { // nobody would wake it
					m.do(c, co, modelOp{what: opPark})
				}
			}
			c.shield = false
			return nil
		})
		m.toldOfEnd(c, err)
		if (err != nil) != (c.asked && !before) {
			m.errorf("coroutine %d: cancelled %v, and Protect answers %v", c.number, c.asked, err)
		}
	case opSpawn:
		if m.ending { // nobody would serve what it waits for
			return
		}
		in := c.in
		if op.how%2 == 1 {
			in = m.scopeAt(op.how / 2)
		}
		m.spawn(in, co, op.then, op.how%5 == 0, op.how%3 == 0)
	case opAwaitCompletion, opAwaitScope:
		m.awaitCompletion(w, op)
	case opAwaitFirst:
		m.awaitFirst(w, op.how)
	case opAwaitAfter:
		m.awaitAfter(w, op)
	case opAwaitCoroutine:
		m.awaitCoroutine(w, op.how)
	case opEnd:
		m.endScope(m.scopeAt(op.how/8), op.how%8)
	case opCancelSelf:
		m.cancelCo(c)
	}
}

// Waiting in a line.

func (w *modelWait) Leave(*scheduler.Coroutine) {}
func (w *modelWait) Info() string               { return "model" }

func (m *model) park(w *modelWait, how int) {
	co := w.co.co
	opts := m.options(w, how)
	m.suspend(w, nil, func() error {
		if err := co.Enter("model"); err != nil {
			return err
		}
		m.lie(w)
		return co.Park("model", w, opts...)
	})
}

// options bound some of the waits.
func (m *model) options(w *modelWait, how int) (opts []scheduler.WaitOption) {
	if how%4 == 1 && !m.real {
		d := m.after(how/4%3, modelLimits)
		opts = append(opts, scheduler.Timeout(d))
		end := m.s.Reactor().NewDeadline(func() { m.sync(); w.wake(modelTimeout) })
		end.SetHidden(true)
		_ = end.Start(d)
		m.deadlines = append(m.deadlines, end)
	}
	if how%3 == 1 {
		w.token = m.tokens[how/3%len(m.tokens)]
		opts = append(opts, scheduler.Token(w.token))
	}
	return opts
}

// lie is the begin of a wait.
func (m *model) lie(w *modelWait) {
	w.parked, w.woken = true, modelAsleep
	if w.token != nil && w.token.done {
		w.wake(modelFired)
	}
}

// suspend makes a call that waits, and compares what it answers. atOnce, if it is not nil, says whether it answers without waiting,
// and with what.
func (m *model) suspend(w *modelWait, atOnce func() (bool, func(error) bool), call func() error) {
	c := w.co
	was := c.asked && !c.shield
	var now bool
	var right func(error) bool
	if atOnce != nil && !was {
		now, right = atOnce()
	}
	c.wait, c.inside = w, false
	m.waits = append(m.waits, w)
	before := m.resumed
	err := call()
	if now && m.resumed != before && !m.real {
		m.errorf("coroutine %d suspended although it need not", c.number)
	}
	m.resumed++
	m.sync()
	i := slices.Index(m.waits, w)
	m.waits = slices.Delete(m.waits, i, i+1)
	if w.kind == modelAfter && len(w.scopes) > 0 {
		sc := w.scopes[0]
		if i := slices.Index(sc.waits, w); i >= 0 {
			sc.waits = slices.Delete(sc.waits, i, i+1)
		}
	}
	c.wait, c.inside = nil, true
	m.toldOfEnd(c, err)
	switch {
	case m.dead:
	case now:
		if !right(err) {
			m.errorf("coroutine %d: the wait answers %v", c.number, err)
		}
	default:
		m.answered(w, err)
	}
}

// toldOfEnd notes the cancellation of those that are left when no active one is.
func (m *model) toldOfEnd(c *modelCo, err error) {
	if m.ending && !m.shut && !c.asked && errors.Is(err, scheduler.ErrRunOver) && m.all().Active == 0 {
		m.shutdown(scheduler.ErrRunOver)
	}
}

// answered compares the answer of a wait that may have suspended.
func (m *model) answered(w *modelWait, err error) {
	c := w.co
	asked := c.asked && !c.shield
	var cancelled *event.CancelledError
	is := errors.As(err, &cancelled)
	bad := func() {
		m.errorf("coroutine %d: kind %d, parked %v, woken %d, cancelled %v (%v), %d failures, and the wait answers %v",
			c.number, w.kind, w.parked, w.woken, asked, c.reason, len(w.failures), err)
	}
	for _, f := range slices.Concat(w.failures...) {
		if !errors.Is(err, f) {
			m.errorf("coroutine %d: failure %d got lost in a wait that answers %v", c.number, f.number, err)
		}
	}
	switch {
	case w.returned != nil:
		if !errors.Is(err, w.returned) {
			bad()
		}
	case w.kind == modelAfter && !w.parked && w.entered:
		if err != nil || !w.scopes[0].done {
			bad()
		}
	case asked:
		if !is || cancelled.Token && w.woken != modelFired || c.reason != nil && !errors.Is(err, c.reason) {
			bad()
		}
	case w.kind == modelTime:
		if err != nil {
			bad()
		}
	case w.woken == modelAsleep:
		bad()
	case w.woken == modelTimeout:
		if !errors.Is(err, event.ErrTimeout) {
			bad()
		}
	case w.woken == modelFired:
		if !is || !cancelled.Token {
			bad()
		}
	case w.kind == modelAfter && len(w.failures) > 0: // checked above
	case w.kind == modelAfter:
		if err != nil || !w.scopes[0].done {
			bad()
		}
	case w.kind == modelTarget:
		if err != w.target.co.Error() {
			bad()
		}
	default:
		if err != nil {
			bad()
		}
	}
}

func modelNil(err error) bool { return err == nil }

func modelUsage(err error) bool { return errors.Is(err, event.ErrUsage) }

func (m *model) awaitCompletion(w *modelWait, op modelOp) {
	co := w.co.co
	sc := op.at
	if sc == nil {
		sc = m.scopeAt(op.how / 12)
	}
	w.kind, w.scopes = modelCompletion, []*modelScope{sc}
	opts := m.options(w, op.how)
	m.suspend(w, func() (bool, func(error) bool) {
		switch {
		case w.co.in.within(sc):
			return true, modelUsage
		case sc.finished():
			return true, modelNil
		}
		m.lie(w)
		return false, nil
	}, func() (err error) {
		if op.what == opAwaitScope {
			_, err = co.Await(sc.s, opts...)
			return err
		}
		return sc.s.AwaitCompletion(co, opts...)
	})
}

func (m *model) awaitFirst(w *modelWait, how int) {
	co := w.co.co
	n := how/12%2 + 2
	var list []event.Event
	for i := range n {
		sc := m.scopeAt(how/24 + 7*i*i + i)
		w.scopes = append(w.scopes, sc)
		list = append(list, sc.s)
	}
	w.kind = modelCompletion
	opts := m.options(w, how)
	fired, want := 0, -1
	m.suspend(w, func() (bool, func(error) bool) {
		for i, sc := range w.scopes {
			switch {
			case w.co.in.within(sc):
				return true, modelUsage
			case sc.finished():
				want = i
				return true, modelNil
			}
		}
		m.lie(w)
		return false, nil
	}, func() (err error) {
		fired, _, err = co.AwaitFirst(list, opts...)
		m.sync()
		if err != nil && fired != -1 {
			m.errorf("AwaitFirst answers %d and %v", fired, err)
		}
		if err == nil && want >= 0 && fired != want {
			m.errorf("AwaitFirst answers %d, not %d", fired, want)
		}
		if err == nil && want < 0 && !slices.Contains(w.fired, fired) {
			m.errorf("AwaitFirst answers %d, not one of %v", fired, w.fired)
		}
		return err
	})
}

func (m *model) awaitCoroutine(w *modelWait, how int) {
	c := m.cos[how/12%len(m.cos)]
	w.kind, w.target = modelTarget, c
	opts := m.options(w, how)
	m.suspend(w, func() (bool, func(error) bool) {
		switch {
		case c == w.co:
			return true, modelUsage
		case c.gone:
			return true, func(err error) bool { return err == c.co.Error() }
		}
		m.lie(w)
		return false, nil
	}, func() error {
		_, err := w.co.co.Await(c.co, opts...)
		return err
	})
}

func (m *model) awaitAfter(w *modelWait, op modelOp) {
	co := w.co.co
	sc := op.at
	if sc == nil {
		sc = m.scopeAt(op.how / 48)
	}
	w.kind, w.scopes = modelAfter, []*modelScope{sc}
	opts := m.options(w, op.how)
	kind := op.how / 12 % 4
	var onError func(err error, s *scope.Scope) error
	if kind > 0 {
		onError = func(err error, s *scope.Scope) error {
			m.sync()
			if len(w.failures) == 0 || !modelExplains(m.in(err), w.failures[0]) || !s.Same(sc.s) || m.s.Current() != co {
				m.errorf("the handler of a wait is called with %v; expected are %v", err, w.failures)
				return nil
			}
			w.parked = false
			if kind == 2 {
				_ = co.Yield()
				m.resumed++
				m.sync()
			}
			w.failures = w.failures[1:]
			if kind == 3 {
				w.returned = m.failure(w.co)
				return w.returned
			}
			if len(w.failures) == 0 && !sc.done {
				m.lie(w)
			}
			return nil
		}
	}
	m.suspend(w, func() (bool, func(error) bool) {
		switch {
		case w.co.in.within(sc), !sc.ending() && !sc.done:
			return true, modelUsage
		case sc.done:
			return true, modelNil
		}
		m.lie(w)
		w.entered = true
		sc.waits = append(sc.waits, w)
		return false, nil
	}, func() error { return sc.s.AwaitAfterCancellation(co, onError, opts...) })
}

// Things that bodies and the machine do.

// scopeAt is one of the scopes, mostly one that has not ended.
func (m *model) scopeAt(n int) *modelScope {
	if n%8 != 7 {
		var open []*modelScope
		for _, sc := range m.scopes {
			if !sc.done {
				open = append(open, sc)
			}
		}
		if len(open) > 0 {
			return open[n/8%len(open)]
		}
	}
	return m.scopes[n/8%len(m.scopes)]
}

func (m *model) spawn(in *modelScope, by *scheduler.Coroutine, script []modelOp, hidden, stub bool) {
	c := &modelCo{in: in, hidden: hidden, stub: stub}
	var opts []scheduler.SpawnOption
	if hidden {
		opts = append(opts, scheduler.Hidden())
	}
	var spawner scheduler.Spawner = by
	if in.s != nil {
		spawner = in.s
	}
	co, err := spawner.Spawn(func(co *scheduler.Coroutine) error { return m.live(c, co, script) }, opts...)
	if in.sealed {
		if !modelUsage(err) || co != nil {
			m.errorf("scope %d takes no more, and Spawn answers %v", in.number, err)
		}
		return
	}
	if err != nil {
		m.errorf("Spawn in scope %d: %v", in.number, err)
		return
	}
	c.co, c.number = co, m.number()
	m.cos = append(m.cos, c)
	in.cos = append(in.cos, c)
}

func (m *model) cancelCo(c *modelCo) {
	reason := error(fmt.Errorf("reason %d", m.number()))
	m.cancel(c, reason)
	m.ok(c.co.Cancel(reason))
}

// endScope ends a scope, but never the main one.
func (m *model) endScope(sc *modelScope, how int) {
	if sc == m.scopes[0] {
		return
	}
	m.endAny(sc, how)
}

func (m *model) endAny(sc *modelScope, how int) {
	switch how {
	case 0, 1:
		reason := error(fmt.Errorf("reason %d", m.number()))
		m.end(sc, modelByFlag, reason)
		m.ok(sc.s.Cancel(reason))
	case 2, 3:
		m.dispose(sc, modelForcibly, scope.ErrDisposed)
		m.ok(sc.s.Dispose())
	case 4:
		m.dispose(sc, modelSafely, nil)
		m.ok(sc.s.DisposeSafely())
	case 5:
		switch {
		case sc.disposed || sc.done || sc.ending():
		case sc.safe:
			m.dispose(sc, modelSafely, nil)
		default:
			m.dispose(sc, modelForcibly, scope.ErrScopeClosed)
		}
		m.ok(sc.s.Close())
	case 6, 7:
		d := hour
		if how == 7 {
			d = 0
		} else if !m.real {
			d = m.after(m.number()%3, modelDisposals)
		}
		m.disposeAfter(sc, d)
		m.ok(sc.s.DisposeAfterTimeout(d))
	}
}

func (m *model) disposeAfter(sc *modelScope, d time.Duration) {
	sc.stopLimit()
	m.seal(sc)
	m.settleDown(sc)
	switch {
	case sc.done:
	case d == 0:
		m.dispose(sc, modelForcibly, scope.ErrTimeLimit)
	default:
		sc.limit = m.s.Reactor().NewDeadline(func() {
			sc.limit = nil
			m.sync()
			m.dispose(sc, modelForcibly, scope.ErrTimeLimit)
		})
		sc.limit.SetHidden(true)
		m.ok(sc.limit.Start(d))
	}
}

// handler is what a scope gets for failures.
func (m *model) handler(name string, sc *modelScope) scope.Handler {
	return func(s *scope.Scope, _ *scheduler.Coroutine, err error) error {
		m.sync()
		who := fmt.Sprint(name, " of scope ", sc.number)
		if m.heard == len(m.expected) {
			m.errorf("%s is told %v, unexpectedly", who, err)
			return nil
		}
		told := m.expected[m.heard]
		m.heard++
		if who != told.who || !s.Same(sc.s) || !modelExplains(m.in(err), told.failures) {
			m.errorf("%s is told %v; expected was %s with %v", who, err, told.who, told.failures)
		}
		if told.answer == nil {
			return nil
		}
		return told.answer
	}
}

// addFinally registers a finally handler with register, which calls it at once when what it is of has ended.
func (m *model) addFinally(f *modelFinally, over bool, register func(run func(self *scheduler.Coroutine) error) error) {
	err := register(func(self *scheduler.Coroutine) error { return m.finallyRuns(f, self, over) })
	switch {
	case over && f.ran != 1:
		m.errorf("%s: what it is of has ended, and it did not run at once", f.what)
	case !over:
		m.ok(err)
	}
}

func (m *model) finallyRuns(f *modelFinally, self *scheduler.Coroutine, atOnce bool) (err error) {
	m.sync()
	if f.by == nil && !atOnce { // because the run is over, which ends what is left
		m.toldOfEnd(&modelCo{}, scheduler.ErrRunOver)
	}
	f.ran++
	if atOnce {
		return nil
	}
	c := f.by
	if c == nil || f.ran > 1 || len(c.calls) == 0 || c.calls[0] != f || m.s.Current() != self {
		m.errorf("%s runs: times %d, due %v", f.what, f.ran, c != nil)
		return nil
	}
	c.co, c.begun = self, true
	switch f.kind {
	case 1:
		m.finallyYields(f, self)
	case 2:
		failure := m.failure(c)
		c.failed = append(c.failed, failure)
		err = failure
	case 3:
		m.spawn(c.in, self, []modelOp{{what: opYield}, {what: opDelay}}, false, false)
	case 4: // whose failure leaves the handlers alone
		m.spawn(c.in, self, []modelOp{{what: opFail}}, false, false)
		m.finallyYields(f, self)
		m.finallyYields(f, self)
	}
	c.calls = c.calls[1:]
	if len(c.calls) == 0 {
		c.over = true
		if len(c.failed) > 0 {
			m.fail(c.origin, c.failed)
		}
		m.remove(c)
	}
	return err
}

func (m *model) finallyYields(f *modelFinally, self *scheduler.Coroutine) {
	if err := self.Yield(); err != nil && !f.by.asked {
		m.errorf("%s: Yield answers %v", f.what, err)
	}
	m.resumed++
	m.sync()
}
