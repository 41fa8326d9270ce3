package waitq_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// model is what a queue of tickets is, without coroutines.
type model struct {
	free              int
	waiting, reserved []string
	timed             map[string]bool
	outcome           map[string]string // of those that have run
}

func (m *model) put() {
	if len(m.waiting) == 0 {
		m.free++
		return
	}
	m.reserved = append(m.reserved, m.waiting[0])
	m.waiting = m.waiting[1:]
}

// run is what happens when every coroutine that is ready runs.
func (m *model) run() {
	for _, name := range m.reserved {
		m.outcome[name] = "took"
	}
	m.reserved = nil
}

func (m *model) leave(name, outcome string) {
	m.outcome[name] = outcome
	if i := slices.Index(m.waiting, name); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
		return
	}
	i := slices.Index(m.reserved, name)
	m.reserved = slices.Delete(m.reserved, i, i+1)
	m.put()
}

// world is the model and the real thing.
type world struct {
	model
	k       *tickets
	takers  map[string]*scheduler.Coroutine
	real    map[string]string
	started int
}

func (w *world) step(co *scheduler.Coroutine, op, pick int) error {
	switch op {
	case 0, 1, 2: // arrives; a third of them with a limit
		return w.arrive(co, op == 2)
	case 3, 4:
		w.k.put()
		w.put()
	case 5:
		there := append(slices.Clone(w.waiting), w.reserved...)
		if len(there) > 0 {
			name := there[pick%len(there)]
			w.takers[name].Cancel(nil)
			w.leave(name, "cancelled")
		}
	case 6:
		if took := w.k.tryTake(); took != (w.free > 0) {
			return fmt.Errorf("a try took: %v, with %d free", took, w.free)
		}
		w.free = max(0, w.free-1)
	case 7:
		w.k.queue.RejectAll(errClosed)
		for _, name := range w.waiting {
			w.outcome[name] = "closed"
		}
		w.waiting = nil
	case 8:
		w.run()
		return co.Yield()
	case 9:
		w.run()
		for _, name := range slices.Clone(w.waiting) {
			if w.timed[name] {
				w.leave(name, "timeout")
			}
		}
		return co.Delay(time.Second)
	}
	return nil
}

func (w *world) arrive(co *scheduler.Coroutine, timed bool) error {
	name := fmt.Sprint(w.started)
	w.started++
	w.run()
	if w.free > 0 {
		w.free--
		w.outcome[name] = "took"
	} else {
		w.waiting = append(w.waiting, name)
		w.timed[name] = timed
	}
	var err error
	w.takers[name], err = co.Spawn(func(co *scheduler.Coroutine) error {
		var opts []scheduler.WaitOption
		if timed {
			opts = append(opts, scheduler.Timeout(time.Millisecond))
		}
		switch err := w.k.take(co, name, opts...); {
		case err == nil:
			w.real[name] = "took"
		case errors.Is(err, event.ErrTimeout):
			w.real[name] = "timeout"
		default:
			w.real[name] = err.Error()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return co.Yield()
}

// compare says where the two differ.
func (w *world) compare() error {
	if w.k.free != w.free || w.k.queue.Reserved() != len(w.reserved) || w.k.queue.Waiting() != len(w.waiting) ||
		!slices.Equal(w.k.waiting(), w.waiting) {
		return fmt.Errorf("free %d, reserved %d, waiting %d %v; in the model %d, %v, %v",
			w.k.free, w.k.queue.Reserved(), w.k.queue.Waiting(), w.k.waiting(), w.free, w.reserved, w.waiting)
	}
	return nil
}

func TestQueue_ModelOfCancellationsBetweenWakeUpAndRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.IntRange(0, 9), 100, 100).Draw(rt, "ops")
		picks := rapid.SliceOfN(rapid.IntRange(0, 1<<20), len(ops), len(ops)).Draw(rt, "picks")
		simulate(rt, func(co *scheduler.Coroutine) error {
			w := &world{k: newTickets(0), takers: map[string]*scheduler.Coroutine{}, real: map[string]string{}}
			w.timed, w.outcome = map[string]bool{}, map[string]string{}
			for i, op := range ops {
				if err := w.step(co, op, picks[i]); err != nil {
					return fmt.Errorf("step %d: %w", i, err)
				}
				if err := w.compare(); err != nil {
					return fmt.Errorf("after step %d: %w", i, err)
				}
			}
			for len(w.waiting) > 0 {
				w.k.put()
				w.put()
			}
			w.run()
			if err := co.Yield(); err != nil {
				return err
			}
			if !maps.Equal(w.outcome, w.real) {
				return fmt.Errorf("outcomes %v; in the model %v", w.real, w.outcome)
			}
			return nil
		})
	})
}
