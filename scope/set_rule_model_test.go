package scope_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// A model of a set: what there is to be handed out, in the order in which it has ended, and who takes it, in one line.

type groupSetTask struct {
	key   int
	told  bool
	err   error
	order int // of its end
}

type groupSetTaker struct {
	kind   string // "next", "any", "loop"
	f      *future.Future[int]
	co     *scheduler.Coroutine
	aside  *groupSetTask
	served bool
	got    *groupSetTask
	errs   []error // of an any that fails
	gone   bool    // the loop is cancelled
	closed bool
}

type groupSetModel struct {
	rt       *rapid.T
	co       *scheduler.Coroutine
	s        *scope.Set[int, int]
	running  []*groupSetTask
	there    []*groupSetTask // to be handed out
	line     []*groupSetTaker
	all      []*groupSetTaker
	next     int
	ends     int
	taken    map[int]int
	problems []string
}

func (m *groupSetModel) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

func (m *groupSetModel) spawn(*rapid.T) {
	t := &groupSetTask{key: m.next}
	m.next++
	m.running = append(m.running, t)
	key, err := m.s.TrySpawn(func(co *scheduler.Coroutine) (int, error) {
		for !t.told {
			if err := co.Yield(); err != nil {
				return 0, err
			}
		}
		m.running = slices.DeleteFunc(m.running, func(o *groupSetTask) bool { return o == t })
		m.ends++
		t.order = m.ends
		m.there = append(m.there, t)
		m.hand()
		return 100 + t.key, t.err
	})
	require.NoError(m.rt, err)
	require.Equal(m.rt, t.key, key)
}

// hand gives what there is to those who wait.
func (m *groupSetModel) hand() {
	for again := true; again; {
		again = false
		for _, w := range m.line {
			if i := slices.IndexFunc(m.there, func(t *groupSetTask) bool { return w.kind != "any" || t.err == nil }); i >= 0 {
				m.give(w, m.there[i])
				again = true
				break
			}
		}
	}
	m.failAnys()
}

func (m *groupSetModel) asides() (n int) {
	for _, w := range m.all {
		if w.aside != nil {
			n++
		}
	}
	return n
}

// failAnys ends those who wait for a success when nothing can come.
func (m *groupSetModel) failAnys() {
	if len(m.running) > 0 || m.asides() > 0 || len(m.there) == 0 || slices.ContainsFunc(m.there, func(t *groupSetTask) bool { return t.err == nil }) {
		return
	}
	for _, w := range m.line {
		if w.kind == "any" {
			slices.SortFunc(m.there, func(a, b *groupSetTask) int { return a.key - b.key })
			for _, t := range m.there {
				w.errs = append(w.errs, t.err)
				m.taken[t.key]++
			}
			m.there, w.served = nil, true
			m.out(w)
			return
		}
	}
}

func (m *groupSetModel) out(w *groupSetTaker) {
	m.line = slices.DeleteFunc(m.line, func(o *groupSetTaker) bool { return o == w })
}

func (m *groupSetModel) give(w *groupSetTaker, t *groupSetTask) {
	m.out(w)
	m.there = slices.DeleteFunc(m.there, func(o *groupSetTask) bool { return o == t })
	if w.kind == "loop" {
		w.aside = t
		return
	}
	w.served, w.got = true, t
	m.taken[t.key]++
}

func (m *groupSetModel) join(kind string) {
	w := &groupSetTaker{kind: kind}
	empty := len(m.running)+len(m.there)+m.asides() == 0
	var err error
	if kind == "next" {
		w.f, err = m.s.JoinNext()
	} else {
		w.f, err = m.s.JoinAny()
	}
	if empty {
		if !errors.Is(err, event.ErrUsage) {
			m.problem("%s of an empty set: %v", kind, err)
		}
		return
	}
	require.NoError(m.rt, err)
	m.line, m.all = append(m.line, w), append(m.all, w)
	m.hand()
}

func (m *groupSetModel) loop(*rapid.T) {
	w := &groupSetTaker{kind: "loop"}
	var err error
	w.co, err = m.co.Spawn(func(co *scheduler.Coroutine) error {
		m.line, m.all = append(m.line, w), append(m.all, w)
		m.hand() // what is there is its own at once, and nobody runs in between
		for o, err := range m.s.Outcomes(co) {
			t := w.aside
			switch {
			case w.gone:
				if !errors.Is(err, errStop) {
					m.problem("a cancelled loop: %+v, %v", o, err)
				}
			case t == nil || err != nil || o.Key != t.key || o.Err != t.err || t.err == nil && o.Value != 100+t.key:
				m.problem("a loop got %+v, %v; want %+v", o, err, t)
			default:
				m.taken[t.key]++
			}
			w.aside, w.served = nil, true
			m.failAnys()
			break
		}
		return nil
	})
	require.NoError(m.rt, err)
}

func (m *groupSetModel) finish(*rapid.T) {
	var of []*groupSetTask
	for _, t := range m.running {
		if !t.told {
			of = append(of, t)
		}
	}
	if len(of) == 0 {
		m.rt.Skip()
	}
	t := rapid.SampledFrom(of).Draw(m.rt, "task")
	t.told = true
	if rapid.Bool().Draw(m.rt, "fails") {
		t.err = fmt.Errorf("task %d", t.key)
	}
}

// cancel ends the wait of a taker: what was set aside for it goes back to where it was, and on to the next.
func (m *groupSetModel) cancel(*rapid.T) {
	var of []*groupSetTaker
	for _, w := range m.all {
		if !w.served && !w.gone {
			of = append(of, w)
		}
	}
	if len(of) == 0 {
		m.rt.Skip()
	}
	w := rapid.SampledFrom(of).Draw(m.rt, "taker")
	w.gone = true
	m.out(w)
	if w.kind != "loop" {
		w.served = true
		require.NoError(m.rt, w.f.Cancel(errStop))
		return
	}
	if t := w.aside; t != nil {
		w.aside = nil
		// Those that ended before it and are still there are in front.
		i := 0
		for i < len(m.there) && m.there[i].order < t.order {
			i++
		}
		m.there = slices.Insert(m.there, i, t)
		m.hand()
	}
	require.NoError(m.rt, w.co.Cancel(errStop))
}

func (m *groupSetModel) joinAll(*rapid.T) {
	if len(m.running) > 0 {
		m.rt.Skip()
	}
	f := m.s.JoinAll()
	values, ok, err := f.Result()
	if !ok {
		m.problem("JoinAll with nothing running is pending")
		return
	}
	var errs []error
	want := map[int]int{}
	slices.SortFunc(m.there, func(a, b *groupSetTask) int { return a.key - b.key })
	for _, t := range m.there {
		m.taken[t.key]++
		if t.err != nil {
			errs = append(errs, t.err)
		} else {
			want[t.key] = 100 + t.key
		}
	}
	m.there = nil
	var composite *event.CompositeError
	switch {
	case len(errs) == 0:
		if err != nil || fmt.Sprint(values.Map()) != fmt.Sprint(want) {
			m.problem("JoinAll: %v, %v; want %v", values.Map(), err, want)
		}
	case !errors.As(err, &composite) || fmt.Sprint(composite.Errors) != fmt.Sprint(errs):
		m.problem("JoinAll: %v, want %v", err, errs)
	}
}

func (m *groupSetModel) check(rt *rapid.T) {
	succeeded, failed := 0, 0
	count := func(t *groupSetTask) {
		if t.err == nil {
			succeeded++
		} else {
			failed++
		}
	}
	for _, t := range m.there {
		count(t)
	}
	for _, w := range m.all {
		if w.aside != nil {
			count(w.aside)
		}
	}
	st := m.s.Stats()
	if st.Running != len(m.running) || st.Succeeded != succeeded || st.Failed != failed {
		m.problem("stats %+v, want %d running, %d succeeded, %d failed", st, len(m.running), succeeded, failed)
	}
	if m.s.Count() != len(m.running)+succeeded+failed {
		m.problem("count %d", m.s.Count())
	}
	if m.s.IsFinished() != (len(m.running) == 0) {
		m.problem("finished %v with %d running", m.s.IsFinished(), len(m.running))
	}
	for _, w := range m.all {
		if w.f == nil || w.gone || w.closed {
			continue
		}
		if w.f.Completed() != w.served {
			m.problem("%s: completed %v, want %v", w.kind, w.f.Completed(), w.served)
			continue
		}
		if !w.served {
			continue
		}
		v, _, err := w.f.Result()
		var composite *event.CompositeError
		switch {
		case w.errs != nil:
			if !errors.As(err, &composite) || fmt.Sprint(composite.Errors) != fmt.Sprint(w.errs) {
				m.problem("any: %v, want %v", err, w.errs)
			}
		case w.got.err != nil:
			if err != w.got.err {
				m.problem("%s: %v, want %v", w.kind, err, w.got.err)
			}
		case v != 100+w.got.key:
			m.problem("%s: %d, %v, want that of %d", w.kind, v, err, w.got.key)
		}
	}
	for key, n := range m.taken {
		if n != 1 {
			m.problem("task %d was handed out %d times", key, n)
		}
	}
	if len(m.problems) > 0 {
		rt.Fatalf("%v", m.problems)
	}
}

// conclude lets all tasks end and takes the rest.
func (m *groupSetModel) conclude(rt *rapid.T) {
	m.rt = rt
	for range 100 {
		for _, t := range m.running {
			t.told = true
		}
		_ = m.co.Yield()
		m.check(rt)
	}
	for _, w := range m.all {
		w.closed = !w.served
	}
	require.NoError(rt, m.s.Close())
	for range 100 { // enough in any order
		_ = m.co.Yield()
	}
	for _, w := range m.all {
		if w.closed && w.f != nil {
			if _, _, err := w.f.Result(); !errors.Is(err, event.ErrClosed) {
				m.problem("%s beyond the last: %v", w.kind, err)
			}
		}
		if w.closed && w.co != nil && !w.co.Completed() {
			m.problem("a loop is left")
		}
	}
	for o, err := range m.s.Outcomes(m.co) {
		require.NoError(rt, err)
		m.taken[o.Key]++
	}
	m.there = nil
	m.check(rt)
	if len(m.taken) != m.next {
		m.problem("%d of %d were handed out", len(m.taken), m.next)
	}
	if err := m.s.AwaitCompletion(m.co, scheduler.Timeout(ms)); err != nil {
		m.problem("AwaitCompletion: %v", err)
	}
	m.check(rt)
}

func TestSet_GEN06_ASetDoesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var shuffle *rand.Rand
		if rapid.Bool().Draw(rt, "shuffled") {
			shuffle = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		}
		failures := groupSimulate(rt, shuffle, func(co *scheduler.Coroutine, sc *scope.Scope) {
			s, err := scope.NewSet[int](sc)
			require.NoError(rt, err)
			m := &groupSetModel{rt: rt, co: co, s: s, taken: map[int]int{}}
			step := func(f func(*rapid.T)) func(*rapid.T) {
				return func(t *rapid.T) { m.rt = t; f(t) }
			}
			rt.Repeat(map[string]func(*rapid.T){
				"":        m.check,
				"spawn":   step(m.spawn),
				"spawn2":  step(m.spawn),
				"finish":  step(m.finish),
				"finish2": step(m.finish),
				"next":    step(func(*rapid.T) { m.join("next") }),
				"any":     step(func(*rapid.T) { m.join("any") }),
				"loop":    step(m.loop),
				"cancel":  step(m.cancel),
				"joinAll": step(m.joinAll),
				"run":     step(func(*rapid.T) { _ = m.co.Yield() }),
				"run2":    step(func(*rapid.T) { _ = m.co.Yield() }),
			})
			m.conclude(rt)
		})
		require.Empty(rt, failures, "everything was handed out")
	})
}
