package pool_test

import (
	"time"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// mood is what a hook does, for the next some calls.
type mood struct {
	calls   int
	pause   int // 1: a turn, 2: some time, 3: until the gate opens
	verdict int // 3: no (of Create: nothing), 4: an error, 5: a panic; otherwise yes
	twist   int // 1: it uses the pool itself, 2: it closes the pool
}

// moody is a pool whose hooks have moods.
type moody struct {
	ledger
	moods    map[string]*mood
	gate     *cotest.Gate
	unit     time.Duration
	main     *scheduler.Coroutine
	limbo    int // Creates that had been started and had not begun when the pool was reset
	creating int
	calm     bool // in the end
	inside   int  // hooks that use the pool themselves
	failed   bool // some hook has
	tripped  bool // the breaker was not active at some time
	closed   bool
}

func (m *moody) act(co *scheduler.Coroutine, hook string) (verdict int, err error) {
	mo := m.moods[hook]
	if mo == nil || mo.calls == 0 || m.calm || m.inside > 0 {
		return 0, nil
	}
	mo.calls--
	switch pause := mo.pause; {
	case pause == 1:
		err = co.Yield()
	case pause == 2, pause == 3 && co == m.main:
		err = co.Delay(m.unit)
	case pause == 3:
		_, err = co.Await(m.gate)
	}
	m.twist(co, mo)
	if err != nil {
		return 4, err
	}
	switch mo.verdict {
	case 4:
		m.failed = true
		return 4, mishap(hook)
	case 5:
		m.failed = true
		panic(mishap(hook))
	}
	return mo.verdict, nil
}

// twist: GEN-10, hooks may re-enter the pool.
func (m *moody) twist(co *scheduler.Coroutine, mo *mood) {
	twist := mo.twist
	mo.twist = 0
	switch twist {
	case 1:
		m.inside++
		if h, ok, _ := m.p.TryAcquire(co); ok {
			w := h.Value()
			m.move(w, co, held, inPool, accepted)
			m.end(co, h, func() error { return h.Release(co) })
		}
		m.inside--
	case 2:
		m.closed = true
		_ = m.p.Close(co)
	}
}

func (m *moody) create(co *scheduler.Coroutine) (*ware, error) {
	m.check()
	resets := m.resets
	if m.limbo > 0 {
		m.limbo--
		resets--
	}
	m.creating++
	defer func() { m.creating-- }()
	verdict, err := m.act(co, "Create")
	m.check()
	switch {
	case err != nil:
		return nil, err
	case verdict == 3:
		m.failed = true
		return nil, nil
	}
	w := &ware{id: len(m.wares) + 1, at: inPool, resets: resets}
	m.wares = append(m.wares, w)
	return w, nil
}

// look is one of the hooks that look at a resource.
func (m *moody) look(hook string, good place, from ...place) func(*scheduler.Coroutine, *ware) (bool, error) {
	return func(co *scheduler.Coroutine, w *ware) (ok bool, err error) {
		m.move(w, co, looked, from...)
		defer m.hook(co, false)()
		defer func() {
			at := good
			if !ok || err != nil {
				at = unwanted
			}
			m.move(w, co, at, looked)
		}()
		ok = false // also when it panics
		verdict, err := m.act(co, hook)
		if hook != "BeforeAcquire" {
			m.shielded(co, hook, err)
		}
		ok = verdict != 3 && verdict != 4
		return ok, err
	}
}

// shielded: these hooks do not notice cancellations (POOL-41).
func (m *moody) shielded(co *scheduler.Coroutine, hook string, err error) {
	if co.Err() != nil || err != nil && err != mishap(hook) {
		m.errorf("%s is cancelled: %v, %v", hook, co.Err(), err)
	}
}

func (m *moody) destroy(co *scheduler.Coroutine, w *ware) error {
	if w.at == inPool && !m.closed && !m.limited && w.resets == m.resets {
		m.errorf("resource %d, which is good, is destroyed", w.id)
	}
	m.move(w, co, destroying, inPool, unwanted, returning)
	defer m.hook(co, true)()
	defer func() { m.move(w, co, destroyed, destroying) }()
	_, err := m.act(co, "Destroy")
	m.shielded(co, "Destroy", err)
	return err
}

// end ends the holding of a resource. After a Release that has not destroyed it, it is in the pool.
func (m *moody) end(co *scheduler.Coroutine, h pool.Handle[*ware], how func() error) {
	w := h.Value()
	m.move(w, co, returning, held)
	err := how()
	if w.at == returning {
		m.move(w, co, inPool, returning)
	}
	if err != nil && tags(err) != "Destroy" {
		m.errorf("giving back resource %d: %v", w.id, err)
	}
	if got := tags(h.Release(co)); got != "usage" {
		m.errorf("resource %d is given back twice: %s", w.id, got)
	}
}

// nervous is a strategy that looks at the books, and fails sometimes.
type nervous struct {
	*pool.ConsecutiveFailures
	m *moody
}

func (s nervous) ReportSuccess(src pool.Source) {
	s.m.books()
	s.ConsecutiveFailures.ReportSuccess(src)
	_, _ = s.m.act(s.m.main, "Strategy")
}

func (s nervous) ReportFailure(src pool.Source, err error) {
	s.m.books()
	s.ConsecutiveFailures.ReportFailure(src, err)
	_, _ = s.m.act(s.m.main, "Strategy")
}

func (m *moody) changed(_, to pool.State) {
	m.books()
	m.tripped = m.tripped || to != pool.Active
}

func (m *moody) told(err error) {
	m.books()
	switch got := tags(err); got {
	case "cancelled", "timeout": // of an acquisition, in its BeforeAcquire
	default:
		if !m.failed {
			m.errorf("OnError hears of %v", err)
		}
	}
}
