package scope_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// A model of a group: counters and FIFO lists. Coroutines tell it what they do in the step in which they do it, so that it knows
// at every instant what the group must say, in whatever order the ready ones run.

type groupModelTask struct {
	key      int
	state    string // "queued", "running", "ended"
	begun    bool
	told     *groupModelEnd // how it is to end
	outcome  groupOutcome
	seen     bool
	stubborn bool // it has a result though it is cancelled
}

type groupModelEnd struct {
	value int
	err   error
}

type groupModelSpawner struct {
	name  string
	co    *scheduler.Coroutine
	state string // "born", "waiting", "woken", "left", "closed", "added"
	err   error  // that it must get
	token *future.Completer[int]
	done  bool
}

type groupModelFuture struct {
	kind   string
	ints   *future.Future[int]
	keyed  *future.Future[future.Keyed[int, int]]
	want   *groupModelEnd // of ints, once it must have settled
	all    []groupOutcome // of keyed
	errs   []error        // that the composite must have
	closed bool           // settled
}

type groupModel struct {
	rt    *rapid.T
	co    *scheduler.Coroutine
	limit int
	queue int
	g     *scope.Group[int, int]

	tasks    []*groupModelTask
	spawners []*groupModelSpawner
	line     []*groupModelSpawner // waiting and woken, in order
	ended    []*groupModelTask    // in order
	closed   bool
	reason   error // of a cancel
	futures  []*groupModelFuture
	loops    []*groupModelLoop
	names    int
	answers  map[bool]*groupModelTask // of any, and of race
	problems []string
}

type groupModelLoop struct {
	got  []groupOutcome
	done bool
}

func (m *groupModel) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

func (m *groupModel) count(state string) (n int) {
	for _, t := range m.tasks {
		if t.state == state {
			n++
		}
	}
	return n
}

func (m *groupModel) inLine(state string) (n int) {
	for _, s := range m.line {
		if s.state == state {
			n++
		}
	}
	return n
}

func (m *groupModel) places() int {
	if m.limit == 0 {
		return 1 << 30
	}
	return m.limit + m.queue
}

func (m *groupModel) room() bool {
	return m.count("running")+m.count("queued")+m.inLine("woken") < m.places()
}

// pump starts tasks and wakes spawners.
func (m *groupModel) pump() {
	for _, t := range m.tasks {
		if t.state == "queued" && (m.limit == 0 || m.count("running") < m.limit) {
			t.state = "running"
		}
	}
	for _, s := range m.line {
		if s.state == "waiting" && m.room() {
			s.state = "woken"
		}
	}
}

// add is what follows when a spawner gets its place.
func (m *groupModel) add(t *groupModelTask) {
	t.key, t.state = len(m.tasks), "queued"
	m.tasks = append(m.tasks, t)
	m.pump()
}

func (m *groupModel) leave(s *groupModelSpawner, err error) {
	s.state, s.err = "left", err
	m.line = slices.DeleteFunc(m.line, func(o *groupModelSpawner) bool { return o == s })
	m.pump()
}

// end notes what a task has ended with, and what follows for who waits.
func (m *groupModel) end(t *groupModelTask, value int, err error) {
	t.state = "ended"
	t.outcome = groupOutcome{Key: t.key, Value: value, Err: err}
	m.ended = append(m.ended, t)
	m.pump()
	m.tell()
}

func (m *groupModel) drop() {
	for _, t := range m.tasks {
		if t.state == "queued" {
			t.state = "ended"
			t.outcome = groupOutcome{Key: t.key, Err: &event.CancelledError{Reason: m.reason}}
			m.ended = append(m.ended, t)
		}
	}
}

func (m *groupModel) failures() (errs []error) {
	for _, t := range m.tasks {
		if t.state == "ended" && t.outcome.Err != nil {
			errs = append(errs, t.outcome.Err)
		}
	}
	return errs
}

func (m *groupModel) seeAll() {
	for _, t := range m.tasks {
		if t.state == "ended" {
			t.seen = true
		}
	}
}

// first is the task that race, or any, answers with now: the same as before, once somebody was told.
func (m *groupModel) first(success bool) *groupModelTask {
	if t := m.answers[success]; t != nil {
		return t
	}
	for _, t := range m.tasks {
		if t.state == "ended" && (!success || t.outcome.Err == nil) {
			return t
		}
	}
	return nil
}

func (m *groupModel) idle() bool {
	return m.count("running")+m.count("queued") == 0 && (m.inLine("woken") == 0 || m.closed)
}

// tell settles futures that can be settled.
func (m *groupModel) tell() {
	for _, f := range m.futures {
		if f.closed {
			continue
		}
		switch f.kind {
		case "race", "any":
			if t := m.first(f.kind == "any"); t != nil {
				f.closed, t.seen = true, true
				m.answers[f.kind == "any"] = t
				f.want = &groupModelEnd{t.outcome.Value, t.outcome.Err}
			} else if f.kind == "any" && m.idle() {
				f.closed, f.errs = true, m.failures()
				m.seeAll()
			}
		case "all":
			if m.idle() {
				f.closed = true
				if f.errs = m.failures(); len(f.errs) == 0 {
					for _, t := range m.tasks {
						f.all = append(f.all, t.outcome)
					}
				}
				m.seeAll()
			}
		}
	}
}

// body is what a task does.
func (m *groupModel) body(t *groupModelTask) groupFn[int] {
	return func(co *scheduler.Coroutine) (value int, err error) {
		t.begun = true
		if t.state != "running" {
			m.problem("task %d begins and is %s", t.key, t.state)
		}
		for t.told == nil {
			if err := co.Yield(); err != nil {
				if t.stubborn {
					t.told = &groupModelEnd{-1, nil}
				} else {
					t.told = &groupModelEnd{0, err}
				}
			}
		}
		if t.told.err != nil {
			m.end(t, 0, t.told.err)
		} else {
			m.end(t, t.told.value, nil)
		}
		return t.told.value, t.told.err
	}
}

func (m *groupModel) newTask() *groupModelTask {
	return &groupModelTask{stubborn: rapid.Bool().Draw(m.rt, "stubborn")}
}

func (m *groupModel) trySpawn(*rapid.T) {
	t := m.newTask()
	key, err := m.g.TrySpawn(m.body(t))
	switch {
	case m.closed:
		if !errors.Is(err, event.ErrUsage) {
			m.problem("TrySpawn on a closed group: %v", err)
		}
	case len(m.line) > 0 || !m.room():
		if err != scope.ErrQueueFull {
			m.problem("TrySpawn on a full group: %v", err)
		}
	default:
		m.add(t)
		if err != nil || key != t.key {
			m.problem("TrySpawn: %d, %v; want %d", key, err, t.key)
		}
	}
}

func (m *groupModel) spawn(*rapid.T) {
	t := m.newTask()
	m.names++
	s := &groupModelSpawner{name: fmt.Sprint("s", m.names), state: "born"}
	var opts []scheduler.WaitOption
	if rapid.Bool().Draw(m.rt, "token") {
		var token *future.Future[int]
		s.token, token = future.New[int](m.co)
		opts = append(opts, scheduler.Token(token))
	}
	var err error
	s.co, err = m.co.Spawn(func(co *scheduler.Coroutine) error {
		defer func() { s.done = true }()
		switch {
		case m.closed:
			_, err := m.g.Spawn(co, m.body(t), opts...)
			if !errors.Is(err, event.ErrUsage) {
				m.problem("%s: Spawn on a closed group: %v", s.name, err)
			}
			return nil
		case len(m.line) == 0 && m.room():
			s.state = "added"
			m.add(t)
			m.added(s, t, co, opts)
			return nil
		}
		s.state = "waiting"
		m.line = append(m.line, s)
		key, err := m.g.Spawn(co, m.body(t), opts...)
		m.line = slices.DeleteFunc(m.line, func(o *groupModelSpawner) bool { return o == s })
		switch s.state {
		case "woken":
			s.state = "added"
			m.add(t)
			if err != nil || key != t.key {
				m.problem("%s: %d, %v; want %d", s.name, key, err, t.key)
			}
		case "left", "closed":
			if !errors.Is(err, s.err) {
				m.problem("%s: %v; want %v", s.name, err, s.err)
			}
			if errors.Is(err, event.ErrClosed) != (s.state == "closed") {
				m.problem("%s: %v", s.name, err)
			}
		default:
			m.problem("%s: %s and %d, %v", s.name, s.state, key, err)
		}
		return nil
	})
	require.NoError(m.rt, err)
	m.spawners = append(m.spawners, s)
}

// added is a Spawn that must not wait.
func (m *groupModel) added(s *groupModelSpawner, t *groupModelTask, co *scheduler.Coroutine, opts []scheduler.WaitOption) {
	key, err := m.g.Spawn(co, m.body(t), opts...)
	if err != nil || key != t.key {
		m.problem("%s: %d, %v; want %d at once", s.name, key, err, t.key)
	}
}

func (m *groupModel) pickSpawner(state ...string) *groupModelSpawner {
	var of []*groupModelSpawner
	for _, s := range m.line {
		if slices.Contains(state, s.state) {
			of = append(of, s)
		}
	}
	if len(of) == 0 {
		m.rt.Skip()
	}
	return rapid.SampledFrom(of).Draw(m.rt, "spawner")
}

func (m *groupModel) cancelSpawner(*rapid.T) {
	s := m.pickSpawner("waiting", "woken")
	woken := s.state == "woken"
	m.leave(s, errStop)
	if woken {
		m.tell() // nobody may be left to use the place
	}
	require.NoError(m.rt, s.co.Cancel(errStop))
}

func (m *groupModel) fireToken(*rapid.T) {
	s := m.pickSpawner("waiting", "woken")
	if s.token == nil {
		m.rt.Skip()
	}
	if s.state == "waiting" {
		m.leave(s, errOther)
	}
	if err := s.token.Fail(errOther); err != nil {
		m.rt.Skip()
	}
}

func (m *groupModel) finish(*rapid.T) {
	var of []*groupModelTask
	for _, t := range m.tasks {
		if t.state == "running" && t.begun && t.told == nil {
			of = append(of, t)
		}
	}
	if len(of) == 0 {
		m.rt.Skip()
	}
	t := rapid.SampledFrom(of).Draw(m.rt, "task")
	t.told = &groupModelEnd{value: 100 + t.key}
	if rapid.IntRange(0, 2).Draw(m.rt, "fails") == 0 {
		t.told = &groupModelEnd{err: fmt.Errorf("task %d", t.key)}
	}
}

func (m *groupModel) shut(err error) {
	m.closed = true
	// Those that were woken for a place count until they run.
	m.line = slices.DeleteFunc(m.line, func(s *groupModelSpawner) bool {
		waiting := s.state == "waiting"
		s.state, s.err = "closed", err
		return waiting
	})
}

func (m *groupModel) close(*rapid.T) {
	if !m.closed {
		m.shut(event.ErrClosed)
	}
	m.tell()
	require.NoError(m.rt, m.g.Close())
}

func (m *groupModel) unbegun() bool {
	return slices.ContainsFunc(m.tasks, func(t *groupModelTask) bool { return t.state == "running" && !t.begun })
}

func (m *groupModel) cancel(*rapid.T) {
	// A task that has not begun never does then, and when the scheduler finds out is not for the model to say.
	for n := 0; m.unbegun(); n++ {
		if n == 100 {
			m.rt.Skip()
		}
		_ = m.co.Yield()
	}
	first := m.reason == nil
	if first {
		m.reason = errors.New("reason")
	}
	if !m.closed {
		m.shut(m.reason)
	}
	if first {
		m.drop()
		m.tell()
	}
	require.NoError(m.rt, m.g.Cancel(m.reason))
}

func (m *groupModel) race(*rapid.T)     { m.newFuture("race") }
func (m *groupModel) any(*rapid.T)      { m.newFuture("any") }
func (m *groupModel) all(rt *rapid.T)   { m.newFuture("all") }
func (m *groupModel) run(*rapid.T)      { _ = m.co.Yield() }
func (m *groupModel) errors(*rapid.T)   { m.checkErrors(m.g.Errors()); m.seeAll() }
func (m *groupModel) suppress(*rapid.T) { m.g.SuppressErrors(); m.seeAll() }
func (m *groupModel) outcomes(*rapid.T) { m.newLoop() }

func (m *groupModel) checkErrors(got future.Keyed[int, error]) {
	for _, t := range m.tasks {
		err, ok := got.Get(t.key)
		if ok != (t.state == "ended" && t.outcome.Err != nil) {
			m.problem("the error of task %d: %v", t.key, ok)
		} else if ok && err.Error() != t.outcome.Err.Error() {
			m.problem("the error of task %d: %v, want %v", t.key, err, t.outcome.Err)
		}
	}
}

func (m *groupModel) newFuture(kind string) {
	f := &groupModelFuture{kind: kind}
	var err error
	switch kind {
	case "race":
		f.ints, err = m.g.Race()
	case "any":
		f.ints, err = m.g.Any()
	case "all":
		f.keyed = m.g.All()
	}
	if kind != "all" && len(m.tasks) == 0 {
		if !errors.Is(err, event.ErrUsage) {
			m.problem("%s of an empty group: %v", kind, err)
		}
		return
	}
	require.NoError(m.rt, err)
	m.futures = append(m.futures, f)
	m.tell()
}

func (m *groupModel) newLoop() {
	if len(m.loops) >= 3 {
		m.rt.Skip()
	}
	l := &groupModelLoop{}
	m.loops = append(m.loops, l)
	_, err := m.co.Spawn(func(co *scheduler.Coroutine) error {
		defer func() { l.done = true }()
		for o, err := range m.g.Outcomes(co) {
			if err != nil {
				return err
			}
			m.tasks[o.Key].seen = true
			l.got = append(l.got, o)
		}
		return nil
	})
	require.NoError(m.rt, err)
}

// check compares what the group says with the model.
func (m *groupModel) check(rt *rapid.T) {
	st := m.g.Stats()
	var succeeded, failed, unhandled int
	for _, t := range m.tasks {
		switch {
		case t.state != "ended":
		case t.outcome.Err == nil:
			succeeded++
		default:
			failed++
			if !t.seen && !event.IsCancellation(t.outcome.Err) {
				unhandled++
			}
		}
	}
	want := scope.GroupStats{
		Queued: m.count("queued"), Running: m.count("running"), Succeeded: succeeded, Failed: failed,
		SpawnersWaiting: len(m.line), Unhandled: unhandled, Closed: m.closed,
	}
	if st != want {
		m.problem("stats %+v, want %+v", st, want)
	}
	if m.g.Count() != len(m.tasks) {
		m.problem("count %d, want %d", m.g.Count(), len(m.tasks))
	}
	if got := m.g.IsFinished(); got != m.idle() {
		m.problem("finished %v, want %v", got, m.idle())
	}
	if m.g.IsClosed() != m.closed {
		m.problem("closed %v, want %v", m.g.IsClosed(), m.closed)
	}
	for _, f := range m.futures {
		m.checkFuture(f)
	}
	for i, l := range m.loops {
		for j, o := range l.got {
			if j >= len(m.ended) || o.Key != m.ended[j].key || o.Value != m.ended[j].outcome.Value {
				m.problem("loop %d got %+v as number %d", i, o, j)
			}
		}
	}
	if len(m.problems) > 0 {
		rt.Fatalf("%v", m.problems)
	}
}

func (m *groupModel) checkFuture(f *groupModelFuture) {
	var completed bool
	if f.keyed != nil {
		completed = f.keyed.Completed()
	} else {
		completed = f.ints.Completed()
	}
	if completed != f.closed {
		m.problem("%s: completed %v, want %v", f.kind, completed, f.closed)
		return
	}
	if !completed {
		return
	}
	var err error
	if f.keyed != nil {
		var values future.Keyed[int, int]
		values, _, err = f.keyed.Result()
		if err == nil {
			if values.Len() != len(f.all) {
				m.problem("all: %d values, want %d", values.Len(), len(f.all))
			}
			for i, key := range values.Keys() {
				if o := f.all[i]; o.Key != key || o.Value != values.Values()[i] {
					m.problem("all: key %d at %d", key, i)
				}
			}
		}
	} else {
		var v int
		v, _, err = f.ints.Result()
		if f.want != nil && (v != f.want.value || fmt.Sprint(err) != fmt.Sprint(f.want.err)) {
			m.problem("%s: %d, %v; want %+v", f.kind, v, err, *f.want)
		}
	}
	if f.want != nil {
		return
	}
	if len(f.errs) == 0 {
		if err != nil {
			m.problem("%s: %v", f.kind, err)
		}
		return
	}
	var composite *event.CompositeError
	if !errors.As(err, &composite) || len(composite.Errors) != len(f.errs) {
		m.problem("%s: %v, want all of %v", f.kind, err, f.errs)
		return
	}
	for i := range f.errs {
		if composite.Errors[i].Error() != f.errs[i].Error() {
			m.problem("%s: error %d is %v, want %v", f.kind, i, composite.Errors[i], f.errs[i])
		}
	}
}

// conclude closes the group, and lets everything end.
func (m *groupModel) conclude(rt *rapid.T) {
	m.rt = rt
	m.close(rt)
	for range 200 {
		for _, t := range m.tasks {
			if t.begun && t.told == nil {
				t.told = &groupModelEnd{value: 100 + t.key}
			}
		}
		_ = m.co.Yield()
		m.check(rt)
	}
	for _, s := range m.spawners {
		if !s.done {
			m.problem("%s is left", s.name)
		}
	}
	for i, l := range m.loops {
		if !l.done || len(l.got) != len(m.tasks) {
			m.problem("loop %d: done %v, %d of %d", i, l.done, len(l.got), len(m.tasks))
		}
	}
	if !m.idle() || !m.g.IsFinished() {
		m.problem("not finished: %s", m.g.Info())
	}
	if err := m.g.AwaitCompletion(m.co, scheduler.Timeout(ms)); err != nil {
		m.problem("AwaitCompletion: %v", err)
	}
	m.check(rt)
}

// groupSimulate runs body in a simulated run, in a scope that notes failures, and lets what stops a rapid test through.
func groupSimulate(t require.TestingT, shuffle *rand.Rand, body func(co *scheduler.Coroutine, sc *scope.Scope)) (failures []error) {
	r := simreactor.New(1)
	s := scheduler.New(r, scheduler.Options{Rand: shuffle, Slice: hour, Logger: slog.New(slog.DiscardHandler)})
	err := s.Run(context.Background(), func(co *scheduler.Coroutine) error {
		sc := scope.New(co)
		if err := sc.OnError(func(_ *scope.Scope, _ *scheduler.Coroutine, err error) error {
			failures = append(failures, err)
			return nil
		}); err != nil {
			return err
		}
		body(co, sc)
		if err := sc.Dispose(); err != nil {
			return err
		}
		for range 3 {
			if err := co.Yield(); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, r.Close())
	var p *event.PanicError
	if errors.As(err, &p) {
		// From two places, because rapid takes failures of one place for the same failure.
		if fmt.Sprintf("%T", p.Value) == "rapid.invalidData" {
			panic(p.Value)
		}
		panic(p.Value)
	}
	require.NoError(t, err)
	return failures
}

func TestGroup_GEN06_AGroupDoesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var shuffle *rand.Rand
		if rapid.Bool().Draw(rt, "shuffled") {
			shuffle = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		}
		var m *groupModel
		failures := groupSimulate(rt, shuffle, func(co *scheduler.Coroutine, sc *scope.Scope) {
			m = &groupModel{rt: rt, co: co, answers: map[bool]*groupModelTask{}, limit: rapid.IntRange(0, 3).Draw(rt, "limit"), queue: rapid.IntRange(1, 3).Draw(rt, "queue")}
			var err error
			m.g, err = scope.NewGroup[int](sc, groupLimit(m.limit, m.queue))
			require.NoError(rt, err)
			step := func(f func(*rapid.T)) func(*rapid.T) {
				return func(t *rapid.T) { m.rt = t; f(t) }
			}
			rt.Repeat(map[string]func(*rapid.T){
				"":              m.check,
				"trySpawn":      step(m.trySpawn),
				"spawn":         step(m.spawn),
				"spawn2":        step(m.spawn),
				"finish":        step(m.finish),
				"finish2":       step(m.finish),
				"run":           step(m.run),
				"run2":          step(m.run),
				"cancelSpawner": step(m.cancelSpawner),
				"fireToken":     step(m.fireToken),
				"close":         step(m.rarely(m.close)),
				"cancel":        step(m.rarely(m.cancel)),
				"race":          step(m.race),
				"any":           step(m.any),
				"all":           step(m.all),
				"errors":        step(m.errors),
				"suppress":      step(m.suppress),
				"outcomes":      step(m.outcomes),
			})
			m.conclude(rt)
		})
		// What nobody has seen surfaces once, in the order of the spawns.
		var want []error
		for _, t := range m.tasks {
			if t.outcome.Err != nil && !t.seen && !event.IsCancellation(t.outcome.Err) {
				want = append(want, t.outcome.Err)
			}
		}
		var got []error
		for _, err := range failures {
			var c *event.CompositeError
			require.ErrorAs(rt, err, &c)
			for _, err := range c.Errors {
				var failed *scope.TaskError
				require.ErrorAs(rt, err, &failed)
				got = append(got, failed.Err)
			}
		}
		require.Equal(rt, fmt.Sprint(want), fmt.Sprint(got))
	})
}

// rarely makes one of many be done.
func (m *groupModel) rarely(f func(*rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) {
		if rapid.IntRange(0, 5).Draw(t, "rarely") > 0 {
			t.Skip()
		}
		f(t)
	}
}
