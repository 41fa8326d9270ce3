package cosync_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/scheduler"
)

// size is the number of permits of what is modelled. A read-write mutex is the same as a semaphore of which a reader takes
// one, and a writer all, as long as there are not more readers than permits.
const size = 100

// lock is what is compared with the model.
type lock interface {
	acquire(co *coroutine, n int, opts ...option) error
	try(co *coroutine, n int) bool
	release(n int)
	state() (taken, waiting int) // taken: with what is set aside
	weight(n int) int            // a legal number near n
}

type semaphoreLock struct{ *cosync.Semaphore }

func (l semaphoreLock) acquire(co *coroutine, n int, opts ...option) error {
	return l.Acquire(co, n, opts...)
}
func (l semaphoreLock) try(co *coroutine, n int) bool { return l.TryAcquire(co, n) }
func (l semaphoreLock) release(n int)                 { l.Release(n) }
func (l semaphoreLock) weight(n int) int              { return n }
func (l semaphoreLock) state() (taken, waiting int) {
	s := l.Stats()
	return s.Held + s.Promised, s.Waiting
}

type rwLock struct{ *cosync.RWMutex }

func (l rwLock) acquire(co *coroutine, n int, opts ...option) error {
	if n == size {
		return l.Lock(co, opts...)
	}
	return l.RLock(co, opts...)
}

func (l rwLock) try(co *coroutine, n int) bool {
	if n == size {
		return l.TryLock(co)
	}
	return l.TryRLock(co)
}

func (l rwLock) release(n int) {
	if n == size {
		l.Unlock()
	} else {
		l.RUnlock()
	}
}

func (l rwLock) weight(n int) int {
	if n > size/2 {
		return size
	}
	return 1
}

func (l rwLock) state() (taken, waiting int) {
	s := l.Stats()
	if s.Writer != nil {
		return size, s.Waiting
	}
	return s.Readers, s.Waiting
}

// model is what a semaphore is, without coroutines.
type model struct {
	weight   map[string]int
	timed    map[string]bool
	waiting  []string          // in order
	reserved []string          // woken, in order
	holding  map[string]string // those that have run: "has it"
	outcome  map[string]string // those that have ended
	taken    int
}

func (m *model) serve() {
	for len(m.waiting) > 0 && m.taken+m.weight[m.waiting[0]] <= size {
		m.taken += m.weight[m.waiting[0]]
		m.reserved = append(m.reserved, m.waiting[0])
		m.waiting = m.waiting[1:]
	}
}

// run is what happens when every coroutine that is ready runs.
func (m *model) run() {
	for _, name := range m.reserved {
		m.holding[name] = "has it"
	}
	m.reserved = nil
}

func (m *model) leave(name, outcome string) {
	m.outcome[name] = outcome
	if i := slices.Index(m.waiting, name); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	} else {
		i := slices.Index(m.reserved, name)
		m.reserved = slices.Delete(m.reserved, i, i+1)
		m.taken -= m.weight[name]
	}
	m.serve()
}

func (m *model) release(name string) {
	delete(m.holding, name)
	m.outcome[name] = "gave back"
	m.taken -= m.weight[name]
	m.serve()
}

// world is the model and the real thing.
type world struct {
	model
	lock    lock
	actors  map[string]*actor
	real    map[string]string // holding
	results map[string]string // outcome
}

type actor struct {
	co   *coroutine
	gate gate
}

func newWorld(l lock) *world {
	return &world{
		lock: l, actors: map[string]*actor{}, real: map[string]string{}, results: map[string]string{},
		model: model{weight: map[string]int{}, timed: map[string]bool{}, holding: map[string]string{}, outcome: map[string]string{}},
	}
}

func (w *world) step(co *coroutine, op, pick int) error {
	switch op {
	case 0, 1, 2: // somebody arrives; a third of them with a limit
		return w.arrive(co, w.lock.weight(1+pick%size), op == 2)
	case 3: // small ones
		return w.arrive(co, w.lock.weight(1+pick%3), false)
	case 4, 5, 6: // a holder gives back: when it runs, after those that are ready already
		if names := slices.Sorted(maps.Keys(w.holding)); len(names) > 0 {
			name := names[pick%len(names)]
			w.actors[name].gate.open()
			w.run()
			w.release(name)
			return co.Yield()
		}
	case 7, 8: // one is cancelled that waits or has been woken
		if there := append(slices.Clone(w.waiting), w.reserved...); len(there) > 0 {
			name := there[pick%len(there)]
			w.leave(name, "cancelled")
			return w.actors[name].co.Cancel(nil)
		}
	case 9:
		n := w.lock.weight(1 + pick%size)
		want := len(w.waiting) == 0 && w.taken+n <= size
		if got := w.lock.try(co, n); got != want {
			return fmt.Errorf("a try for %d: %v", n, got)
		} else if got {
			w.lock.release(n)
		}
	case 10:
		w.run()
		return co.Yield()
	case 11:
		w.run()
		return w.elapse(co)
	}
	return nil
}

// elapse lets all limits pass, in the order in which the coroutines arrived; what is woken by that runs, too.
func (w *world) elapse(co *coroutine) error {
	for _, name := range slices.Clone(w.waiting) {
		if w.timed[name] && slices.Contains(w.waiting, name) {
			w.leave(name, "timeout late")
		}
	}
	w.run()
	return co.Delay(time.Second)
}

func (w *world) arrive(co *coroutine, n int, timed bool) error {
	name := fmt.Sprintf("%03d", len(w.actors))
	w.run()
	w.weight[name], w.timed[name] = n, timed
	if len(w.waiting) == 0 && w.taken+n <= size {
		w.taken += n
		w.holding[name] = "has it"
	} else {
		w.waiting = append(w.waiting, name)
	}
	a := &actor{}
	w.actors[name] = a
	var err error
	a.co, err = co.Spawn(func(co *coroutine) error { return w.act(co, name, n, timed, &a.gate) })
	if err != nil {
		return err
	}
	return co.Yield()
}

func (w *world) act(co *coroutine, name string, n int, timed bool, g *gate) error {
	var opts []option
	if timed {
		opts = append(opts, scheduler.Timeout(time.Millisecond))
	}
	if err := w.lock.acquire(co, n, opts...); err != nil {
		w.results[name] = short(err)
		return nil
	}
	w.real[name] = "has it"
	if err := g.pass(co); err != nil {
		return err
	}
	delete(w.real, name)
	w.results[name] = "gave back"
	w.lock.release(n)
	return nil
}

// compare says where the two differ.
func (w *world) compare() error {
	taken, waiting := w.lock.state()
	if taken != w.taken || waiting != len(w.waiting) || !maps.Equal(w.real, w.holding) {
		return fmt.Errorf("taken %d, waiting %d, holding %v; in the model %d, %v, %v, woken %v",
			taken, waiting, slices.Sorted(maps.Keys(w.real)), w.taken, w.waiting, slices.Sorted(maps.Keys(w.holding)), w.reserved)
	}
	return nil
}

// finish lets everybody through.
func (w *world) finish(co *coroutine) error {
	w.run()
	if err := co.Yield(); err != nil {
		return err
	}
	for len(w.holding) > 0 {
		if err := w.step(co, 4, 0); err != nil {
			return err
		}
		if err := w.step(co, 10, 0); err != nil {
			return err
		}
		if err := w.compare(); err != nil {
			return err
		}
	}
	if err := co.Yield(); err != nil {
		return err
	}
	if w.taken != 0 || len(w.waiting) > 0 || !maps.Equal(w.outcome, w.results) {
		return fmt.Errorf("outcomes %v; in the model %v; %d taken, waiting %v", w.results, w.outcome, w.taken, w.waiting)
	}
	return nil
}

func modelled(t *testing.T, make func() lock) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.IntRange(0, 11), 1, 80).Draw(rt, "ops")
		picks := rapid.SliceOfN(rapid.IntRange(0, 1<<20), len(ops), len(ops)).Draw(rt, "picks")
		simulate(rt, func(co *coroutine) error {
			w := newWorld(make())
			for i, op := range ops {
				if err := w.step(co, op, picks[i]); err != nil {
					return fmt.Errorf("step %d: %w", i, err)
				}
				if err := w.compare(); err != nil {
					return fmt.Errorf("after step %d, %d: %w", i, op, err)
				}
			}
			return w.finish(co)
		})
	})
}

func TestSemaphore_GEN01_ModelOfCancellationsBetweenWakeUpAndRun(t *testing.T) {
	modelled(t, func() lock { return semaphoreLock{cosync.NewSemaphore(size)} })
}

func TestRWMutex_GEN01_ModelOfCancellationsBetweenWakeUpAndRun(t *testing.T) {
	modelled(t, func() lock { return rwLock{&cosync.RWMutex{}} })
}
