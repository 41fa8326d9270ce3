package pool_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// walk is a moody pool, those who use it, and who makes things happen.
type walk struct {
	moody
	in      *scope.Scope // that the pool belongs to
	workers []*worker
	mine    []pool.Handle[*ware]
}

// worker uses the pool some times.
type worker struct {
	*walk
	co        *scheduler.Coroutine
	rnd       *rand.Rand
	cancelled bool
}

var moodyHooks = []string{"Create", "Destroy", "BeforeAcquire", "BeforeRelease", "HealthCheck", "Strategy"}

// open makes the pool; bits choose the configuration.
func (w *walk) open(co *scheduler.Coroutine, bits int) (err error) {
	bit := func() bool { bits >>= 1; return bits&1 == 1 }
	w.main = co
	w.moods = map[string]*mood{}
	w.requests = map[*scheduler.Coroutine]*request{}
	w.gate = cotest.NewGate(nil)
	w.in = scope.New(co)
	cfg := pool.Config[*ware]{
		Scope: w.in, Max: 1 + bits%4, Create: w.create, Destroy: w.destroy, OnError: w.told, OnStateChange: w.changed,
	}
	bits /= 4
	if bit() {
		w.guarded = true
		cfg.BeforeAcquire = w.look("BeforeAcquire", accepted, inPool)
	}
	if bit() {
		cfg.BeforeRelease = w.look("BeforeRelease", returning, returning)
	}
	if bit() {
		cfg.HealthCheck, cfg.HealthInterval = w.look("HealthCheck", inPool, inPool), 3*w.unit
	}
	if bit() {
		cfg.Min = cfg.Max / 2
	}
	if bit() {
		w.atOnce = 1 + cfg.Max%2
		cfg.Strategy = nervous{&pool.ConsecutiveFailures{Failures: 2, CoolDown: 2 * w.unit, MaxProbes: w.atOnce}, &w.moody}
	}
	if bit() {
		w.limited = true
		cfg.MaxLifetime, cfg.MaxIdleTime = 10*w.unit, 2*w.unit
	}
	if bits&6 == 6 {
		cfg.AcquireTimeout = 3 * w.unit
	}
	w.calm = true // New asks for the first resources before there is a pool to look at
	if cfg.Min > 0 {
		cfg.Create = func(co *scheduler.Coroutine) (*ware, error) {
			if w.p != nil {
				return w.create(co)
			}
			made := &ware{id: len(w.wares) + 1, at: inPool}
			w.wares = append(w.wares, made)
			return made, nil
		}
	}
	w.p, err = pool.New(co, cfg)
	w.calm = false
	return err
}

func (w *walk) spawn(co *scheduler.Coroutine, seed int) (err error) {
	one := &worker{walk: w, rnd: rand.New(rand.NewPCG(uint64(seed), 1))}
	w.workers = append(w.workers, one)
	one.co, err = co.Spawn(func(co *scheduler.Coroutine) error {
		for range 1 + one.rnd.IntN(4) {
			one.round(co)
			w.check()
		}
		return nil
	})
	return err
}

// round gets a resource, has it for some time, and gives it back.
func (w *worker) round(co *scheduler.Coroutine) {
	w.comes(co)
	var h pool.Handle[*ware]
	var err error
	got, timed, call := true, w.rnd.IntN(3) == 0, "Acquire"
	if w.rnd.IntN(5) == 0 {
		call = "TryAcquire"
		w.requests[co].late = w.shuffled // its Create may take a while there
		h, got, err = w.p.TryAcquire(co)
	} else {
		var opts []scheduler.WaitOption
		if timed {
			opts = append(opts, scheduler.Timeout(w.unit*time.Duration(1+w.rnd.IntN(3))))
		}
		h, err = w.p.Acquire(co, opts...)
	}
	w.goes(co, h.Value())
	if err != nil || !got {
		w.refused(co, call, err)
		return
	}
	if w.rnd.IntN(4) > 0 {
		w.pause(co)
	}
	if h.Value().at != held {
		w.errorf("resource %d is held, and %s", h.Value().id, h.Value().at)
	}
	w.giveBack(co, h, w.rnd.IntN(8))
}

func (w *worker) pause(co *scheduler.Coroutine) {
	if w.rnd.IntN(2) == 0 {
		_ = co.Yield()
	} else {
		_ = co.Delay(w.unit * time.Duration(1+w.rnd.IntN(3)))
	}
}

func (w *walk) giveBack(co *scheduler.Coroutine, h pool.Handle[*ware], how int) {
	switch how {
	case 0:
		w.end(co, h, func() error { return h.Destroy(co) })
	case 1:
		w.end(co, h, func() error {
			_, err := h.Hijack()
			w.move(h.Value(), co, hijacked, returning)
			return err
		})
	default:
		w.end(co, h, func() error { return h.Release(co) })
	}
}

// refused: there is a reason for each error.
func (w *worker) refused(co *scheduler.Coroutine, call string, err error) {
	waits := call == "Acquire"
	for tag, ok := range map[string]bool{
		"": !waits, "timeout": waits, "cancelled": w.cancelled, "closed": waits && w.closed, "unavailable": waits && w.tripped,
		"Create": w.failed, "nothing": w.failed, "Destroy": w.failed,
	} {
		if ok && tags(err) == tag {
			return
		}
	}
	if !w.cancelled || !event.IsCancellation(co.Err()) {
		w.errorf("%s fails with %v", call, err)
	}
}

func (w *walk) cancelOne(pick int) {
	var there, woken []*worker
	for _, one := range w.workers {
		switch {
		case one.co.Completed() || one.cancelled:
		case w.requests[one.co] != nil && one.co.Queued():
			woken = append(woken, one)
		default:
			there = append(there, one)
		}
	}
	if len(woken) > 0 && pick%4 > 0 {
		there = woken
	}
	if len(there) > 0 {
		one := there[pick/4%len(there)]
		one.cancelled = true
		_ = one.co.Cancel(nil)
	}
}

func (w *walk) takeAll(co *scheduler.Coroutine) error {
	all, err := w.p.AcquireAllIdle()
	for _, h := range all {
		w.move(h.Value(), co, held, inPool)
	}
	w.mine = append(w.mine, all...)
	return err
}

func (w *walk) giveMine(co *scheduler.Coroutine, pick int) {
	if len(w.mine) > 0 {
		i := pick % len(w.mine)
		h := w.mine[i]
		w.mine = slices.Delete(w.mine, i, i+1)
		w.giveBack(co, h, pick/4%8)
	}
}

func (w *walk) reset(co *scheduler.Coroutine) error {
	w.resets++
	w.limbo = w.p.Stats().Constructing - w.creating
	if err := w.p.Reset(co); err != nil && !w.failed {
		return err
	}
	return nil
}

func (w *walk) closeIt(co *scheduler.Coroutine, how int) error {
	w.closed = true
	switch how % 3 {
	case 0:
		if err := w.p.Close(co); err != nil && !w.failed {
			return err
		}
	case 1:
		w.p.AsEvent().Dispose()
	case 2:
		return w.in.Dispose()
	}
	return nil
}

// do is one step. It reports the first thing that is wrong.
func (w *walk) do(co *scheduler.Coroutine, op, pick int) (err error) {
	switch op {
	case 0: // so that what is not needed for a failure is easily seen
	case 1, 2, 3, 4:
		err = w.spawn(co, pick)
	case 5, 6, 7:
		err = co.Yield()
	case 8, 9, 10:
		err = co.Delay(w.unit * time.Duration(1+pick%3))
	case 11, 12, 13:
		w.cancelOne(pick)
	case 14, 15, 16, 17:
		hook := moodyHooks[pick%len(moodyHooks)]
		pick /= len(moodyHooks)
		w.moods[hook] = &mood{calls: 1 + pick%4, pause: pick / 4 % 4, verdict: pick / 16 % 6}
		switch {
		case hook == "Strategy":
			w.moods[hook].pause = 0
		case pick/96%8 < 2:
			w.moods[hook].twist = 1
		case pick/96%64 == 2:
			w.moods[hook].twist = 2
		}
	case 18:
		w.gate.Open(nil, nil)
	case 19:
		err = [](func() error){w.p.Deactivate, w.p.Recover, w.p.Activate, w.p.Activate}[pick%4]()
	case 20:
		if pick%8 == 0 {
			err = w.reset(co)
		}
	case 21:
		if pick%4 == 0 {
			err = w.takeAll(co)
		}
	case 22:
		w.giveMine(co, pick)
	case 23:
		if pick%32 == 0 {
			err = w.closeIt(co, pick/32)
		}
	}
	w.check()
	if w.err != nil {
		return w.err
	}
	return err
}
