package pool_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// thing is a resource of the models.
type thing struct{ id int }

// mishap is what a hook of the models fails with.
type mishap string

func (e mishap) Error() string { return string(e) }

// tags names all that err says.
func tags(err error) string {
	var all []string
	var look func(err error)
	look = func(err error) {
		if err == nil {
			return
		}
		add := func(tag string) { all = append(all, tag) }
		switch e := err.(type) {
		case mishap:
			add(string(e))
		case *event.PanicError:
			add(fmt.Sprint(e.Value))
		case *event.TimeoutError:
			add("timeout")
			return
		case *event.CancelledError:
			add("cancelled")
		case *event.ClosedError:
			add("closed")
			return
		case *event.UsageError:
			add("usage")
		case *pool.UnavailableError:
			add("unavailable")
			return // without the failure at which the breaker has opened
		case interface {
			Unwrap() []error
		}:
			for _, err := range e.Unwrap() {
				look(err)
			}
		}
		for sentinel, tag := range sentinels {
			if err == sentinel {
				add(tag)
			}
		}
		look(errors.Unwrap(err))
	}
	look(err)
	return joined(all...)
}

var sentinels = map[error]string{
	pool.ErrNoResource: "nothing", pool.ErrRejected: "rejected", pool.ErrDestroyed: "destroyed",
}

// modelled is the model beside the real thing.
type modelled struct {
	*exact
	p      *pool.Pool[*thing]
	in     *scope.Scope // that the pool belongs to
	gates  map[int]*cotest.Gate
	ids    int
	calls  int
	real   answers
	heard  []string
	visits []*exactVisit
	did    map[*exactVisit]*deed
	holds  map[*exactHold]pool.Handle[*thing]
	used   []pool.Handle[*thing]
	over   bool         // AwaitClosed has returned
	end    *cotest.Gate // what those wait for who have got something
}

// deed is an Acquire and what has come of it.
type deed struct {
	co      *scheduler.Coroutine
	h       pool.Handle[*thing]
	outcome string
}

func (w *modelled) hear(format string, args ...any) {
	w.heard = append(w.heard, fmt.Sprintf(format, args...))
}

// act does what a hook is to do.
func (w *modelled) act(hook string, id int) (answer string, err error) {
	what := fmt.Sprintf("%s %d", hook, id)
	w.hear("%s", what)
	answer = w.real.next(hook)
	switch answer {
	case "error":
		return answer, mishap(what)
	case "panic":
		panic(mishap(what))
	}
	return answer, nil
}

func (w *modelled) Create(co *scheduler.Coroutine) (*thing, error) {
	w.calls++
	call := w.calls
	answer, err := w.act("Create", call)
	if answer == "wait" {
		g := cotest.NewGate(nil)
		w.gates[call] = g
		var open any
		if open, err = co.Await(g); err != nil {
			return nil, err
		}
		if answer = open.(string); answer == "error" {
			err = mishap(fmt.Sprint("Create ", call))
		}
	}
	if err != nil || answer == "nothing" {
		return nil, err
	}
	w.ids++
	return &thing{w.ids}, nil
}

func (w *modelled) ask(hook string) func(*scheduler.Coroutine, *thing) (bool, error) {
	return func(_ *scheduler.Coroutine, v *thing) (bool, error) {
		answer, err := w.act(hook, v.id)
		return answer == "yes" || answer == "error", err
	}
}

// Probes, ShouldRecover and the reports make it a strategy.
func (w *modelled) Probes() int { return w.places }

func (w *modelled) ShouldRecover(pool.Source) bool {
	w.hear("ShouldRecover")
	answer := w.real.next("ShouldRecover")
	if answer == "panic" {
		panic(mishap("ShouldRecover"))
	}
	return answer == "recover"
}

func (w *modelled) ReportSuccess(src pool.Source) { w.answer(src, "success") }

func (w *modelled) ReportFailure(src pool.Source, err error) { w.answer(src, "failure: "+tags(err)) }

func (w *modelled) answer(src pool.Source, what string) {
	w.hear("%s", what)
	switch w.real.next("report") {
	case "deactivate":
		_ = src.Deactivate()
	case "activate":
		_ = src.Activate()
	case "panic":
		panic(mishap("report"))
	}
}

func (w *modelled) told(err error) {
	if tag := tags(err); !strings.Contains(tag, "cancelled") {
		w.hear("told %s", tag)
	}
}

// open makes the pool.
func (w *modelled) open(co *scheduler.Coroutine) (err error) {
	cfg := pool.Config[*thing]{Create: w.Create, Min: w.min, Max: w.max, OnError: w.told}
	if w.destroys {
		cfg.Destroy = func(_ *scheduler.Coroutine, v *thing) error { _, err := w.act("Destroy", v.id); return err }
	}
	if w.guards {
		cfg.BeforeAcquire = w.ask("BeforeAcquire")
	}
	if w.looks {
		cfg.BeforeRelease = w.ask("BeforeRelease")
	}
	if w.strategic {
		cfg.Strategy = w
	}
	if w.limited {
		cfg.AcquireTimeout = limitOfModel
	}
	w.in = scope.New(co)
	cfg.Scope = w.in
	for range w.min {
		w.create(w.begin())
	}
	if w.p, err = pool.New(co, cfg); err != nil {
		return err
	}
	_, err = co.Spawn(func(co *scheduler.Coroutine) error {
		err := w.p.AwaitClosed(co)
		w.over = true
		return err
	})
	return err
}

// compare says where the two differ.
func (w *modelled) compare() error {
	got, want := w.p.Stats(), w.stats()
	got.Waited = 0
	if got != want {
		return fmt.Errorf("%+v;\nin the model %+v", got, want)
	}
	if w.over && (!w.closed || w.total > 0) {
		return fmt.Errorf("AwaitClosed has returned; in the model: closed %v, and %d are left", w.closed, w.total)
	}
	if !slices.Equal(w.heard, w.trace) {
		return fmt.Errorf("%v; in the model %v", w.heard, w.trace)
	}
	w.heard, w.trace = nil, nil
	for _, v := range w.visits {
		got, want := w.did[v].outcome, v.outcome
		if w.byScope && strings.Contains(want, "cancelled") { // it was cancelled and closed at once, perhaps
			got, want = joined(got, "closed"), joined(want, "closed")
		}
		if got != want {
			return fmt.Errorf("visit %d: %q; in the model %q", v.name, got, want)
		}
		if v.holding != nil {
			w.holds[v.holding] = w.did[v].h
		}
	}
	w.visits = slices.DeleteFunc(w.visits, func(v *exactVisit) bool { return v.stage == "over" })
	return nil
}
