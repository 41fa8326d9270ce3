package pool_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

const limitOfModel = time.Millisecond

// What the hooks may be told to do, once; what is there twice is more likely.
var answersOf = map[string][]string{
	"Create":        {"yes", "wait", "wait", "error", "panic", "nothing"},
	"BeforeAcquire": {"no", "no", "error", "panic"},
	"BeforeRelease": {"no", "no", "error", "panic"},
	"Destroy":       {"error", "panic"},
	"ShouldRecover": {"recover", "recover", "panic"},
	"report":        {"deactivate", "deactivate", "panic", "activate"},
}

var hooksOfModel = []string{"Create", "BeforeAcquire", "BeforeRelease", "Destroy", "ShouldRecover", "report"}

// visit starts a coroutine that acquires once.
func (w *modelled) visit(co *scheduler.Coroutine, timed bool) (err error) {
	v := &exactVisit{name: len(w.did), timed: timed || w.limited, stage: "begins"}
	d := &deed{outcome: "never"}
	w.visits = append(w.visits, v)
	w.did[v] = d
	w.ready = append(w.ready, exactTask{visit: v})
	d.co, err = co.Spawn(func(co *scheduler.Coroutine) (err error) {
		var opts []scheduler.WaitOption
		if timed {
			opts = append(opts, scheduler.Timeout(limitOfModel))
		}
		d.outcome = ""
		if d.h, err = w.p.Acquire(co, opts...); err != nil {
			d.outcome = tags(err)
			return nil
		}
		d.outcome = fmt.Sprint("got ", d.h.Value().id)
		_, err = co.Await(w.end)
		return err
	})
	v.outcome = "never"
	return err
}

// cancelOne cancels one of those that are at one of the stages.
func (w *modelled) cancelOne(pick int, stages ...string) {
	var there []*exactVisit
	for _, v := range w.visits {
		if slices.Contains(stages, v.stage) {
			there = append(there, v)
		}
	}
	if len(there) > 0 {
		v := there[pick%len(there)]
		w.leave(v, "cancelled")
		_ = w.did[v].co.Cancel(nil)
	}
}

// giveOne ends the holding of one of the resources that are out.
func (w *modelled) giveOne(co *scheduler.Coroutine, pick int, how string) error {
	if len(w.held) == 0 {
		return nil
	}
	hold := w.held[pick%len(w.held)]
	h := w.holds[hold]
	if h.Value().id != hold.id {
		return fmt.Errorf("the handle of resource %d has %d", hold.id, h.Value().id)
	}
	w.used = append(w.used, h)
	delete(w.holds, hold)
	var want string
	var err error
	switch how {
	case "release":
		want = w.release(hold)
		err = h.Release(co)
	case "destroy":
		want = w.destroyHeld(hold, "destroyed")
		err = h.Destroy(co)
	case "discard":
		want = w.destroyHeld(hold, "worn out")
		err = h.Discard(co, mishap("worn out"))
	case "hijack":
		w.hijack(hold)
		_, err = h.Hijack()
	}
	return differ(how, err, want)
}

func differ(what string, err error, want string) error {
	if got := tags(err); got != want {
		return fmt.Errorf("%s: %q; in the model %q", what, got, want)
	}
	return nil
}

// misuse gives back once more what is given back (and may be somebody else's).
func (w *modelled) misuse(co *scheduler.Coroutine, pick int) (err error) {
	if len(w.used) == 0 {
		return nil
	}
	h := w.used[pick/4%len(w.used)]
	switch pick % 4 {
	case 0, 1:
		err = h.Release(co)
	case 2:
		err = h.Destroy(co)
	case 3:
		_, err = h.Hijack()
	}
	return differ("given back twice", err, "usage")
}

func (w *modelled) tryOne(co *scheduler.Coroutine) error {
	v := w.exact.tryAcquire()
	h, ok, err := w.p.TryAcquire(co)
	got := tags(err)
	switch {
	case ok:
		got = fmt.Sprint("got ", h.Value().id)
		w.holds[v.holding] = h
	case err == nil:
		got = "none"
	}
	if got != v.outcome {
		return fmt.Errorf("TryAcquire: %q; in the model %q", got, v.outcome)
	}
	return nil
}

func (w *modelled) takeAll() error {
	all, err := w.p.AcquireAllIdle()
	for i, hold := range w.acquireAllIdle() {
		if i >= len(all) || all[i].Value().id != hold.id {
			return fmt.Errorf("AcquireAllIdle: %v; in the model number %d is %d", all, i, hold.id)
		}
		w.holds[hold] = all[i]
	}
	return err
}

// openOne lets one of the Creates go on that wait.
func (w *modelled) openOne(pick int) {
	var there []*exactBuild
	for _, b := range w.builds {
		if b.parked {
			there = append(there, b)
		}
	}
	if len(there) == 0 {
		return
	}
	b := there[pick%len(there)]
	b.parked, b.opened = false, []string{"yes", "yes", "yes", "error", "nothing"}[pick/8%5]
	w.ready = append(w.ready, exactTask{build: b})
	w.gates[b.call].Open(b.opened, nil)
}

func (w *modelled) closeIt(co *scheduler.Coroutine, pick int) error {
	w.byScope = w.byScope || pick%3 == 2 && !w.closed
	want := w.close(pick%3 > 0)
	switch pick % 3 {
	case 0:
		return differ("Close", w.p.Close(co), want)
	case 1:
		w.p.AsEvent().Dispose()
		return nil
	}
	return w.in.Dispose()
}

func (w *modelled) switchTo(pick int) error {
	to := []pool.State{pool.Active, pool.Inactive, pool.Recovering, pool.Active}[pick%4]
	w.become(to)
	return [](func() error){pool.Active: w.p.Activate, pool.Inactive: w.p.Deactivate, pool.Recovering: w.p.Recover}[to]()
}

// yields lets everybody run until all are parked.
func (w *modelled) yields(co *scheduler.Coroutine) error {
	for len(w.ready) > 0 {
		w.run()
		if err := co.Yield(); err != nil {
			return err
		}
	}
	return nil
}

// delay lets those leave, too, who have a limit.
func (w *modelled) delay(co *scheduler.Coroutine) error {
	if err := w.yields(co); err != nil {
		return err
	}
	for _, v := range slices.Clone(w.line) {
		if v.timed {
			w.leave(v, "timeout")
		}
	}
	for len(w.ready) > 0 {
		w.run()
	}
	return co.Delay(time.Second)
}

func (w *modelled) do(co *scheduler.Coroutine, op, pick int) error {
	switch op {
	case 0: // so that what is not needed for a failure is easily seen
	case 1, 2, 3, 24:
		return w.visit(co, pick%3 == 0)
	case 4, 5, 6, 7:
		return w.giveOne(co, pick, "release")
	case 8:
		return w.giveOne(co, pick, []string{"destroy", "discard", "hijack"}[pick/8%3])
	case 9:
		return w.tryOne(co)
	case 10:
		w.cancelOne(pick, "begins", "waits", "refused")
	case 11:
		w.cancelOne(pick, "served")
	case 12, 13, 14:
		w.run()
		return co.Yield()
	case 15:
		return w.delay(co)
	case 16, 17:
		w.openOne(pick)
	case 18, 19:
		hook := hooksOfModel[pick%len(hooksOfModel)]
		all := answersOf[hook]
		answer := all[pick/len(hooksOfModel)%len(all)]
		w.answers.arm(hook, answer)
		w.real.arm(hook, answer)
	case 20:
		w.answers.slow = !w.answers.slow
		w.real.slow = w.answers.slow
	case 21:
		return w.misuse(co, pick)
	case 22:
		return w.switchTo(pick)
	case 23:
		switch {
		case pick%16 == 0:
			return w.closeIt(co, pick/16)
		case pick%16 < 8:
			want := w.reset()
			return differ("Reset", w.p.Reset(co), want)
		default:
			return w.takeAll()
		}
	}
	return nil
}
