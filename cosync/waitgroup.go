package cosync

import (
	"math"
	"strconv"

	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// WaitGroup waits for a number of things to be done. It can be used again as soon as the number is 0. The zero value is an
// empty group.
//
// The loop only. Add and Done may be called before the first coroutine uses the group, by whoever made it.
type WaitGroup struct {
	bound bound
	count int                   // loop goroutine only
	line  waitq.Queue[struct{}] // loop goroutine only
}

// Add adds n, which may be negative, to what is still to be done. At 0 everybody in Wait goes on. It panics with an
// *event.UsageError when the number would be negative, or beyond the largest int.
func (g *WaitGroup) Add(n int) { g.add("cosync: WaitGroup.Add", n) }

// Done is Add(-1).
func (g *WaitGroup) Done() { g.add("cosync: WaitGroup.Done", -1) }

func (g *WaitGroup) add(call string, n int) {
	g.bound.check(call)
	switch {
	case n < 0 && g.count < -n || n == math.MinInt:
		panic(usage(call, "only "+strconv.Itoa(g.count)+" are still to be done", "call Add before what is to be done starts, and Done once for each"))
	case n > math.MaxInt-g.count:
		panic(usage(call, strconv.Itoa(n)+" more are too many", "add what is to be done"))
	}
	g.count += n
	if g.count > 0 || n == 0 {
		return
	}
	for w := g.line.First(); w != nil; w = g.line.First() {
		g.line.Release(w)
	}
}

// Go spawns a coroutine that the group waits for: it counts until it has ended, in whatever way, and also if it is cancelled
// and never starts. Its failure goes where that of any coroutine goes. Errors: those of [scheduler.Scope.Spawn];
// *event.UsageError for a spawner of another run.
func (g *WaitGroup) Go(spawner scheduler.Spawner, fn func(co *scheduler.Coroutine) error, opts ...scheduler.SpawnOption) (*scheduler.Coroutine, error) {
	const call = "cosync: WaitGroup.Go"
	s, err := schedulerOf(call, spawner)
	if err != nil {
		return nil, err
	}
	if fn == nil {
		return nil, noFunction(call)
	}
	if err := g.bound.join(call, "wait group", s); err != nil {
		return nil, err
	}
	co, err := spawner.Spawn(fn, opts...)
	if err != nil {
		return nil, err
	}
	g.add(call, 1)
	// A deferred Done would never run in a body that is never called (CANC-02).
	err = co.OnFinally(func(_, _ *scheduler.Coroutine) error {
		g.Done()
		return nil
	})
	return co, err
}

// Wait waits until nothing is left to be done. With nothing to be done it returns at once. Who has been woken goes on
// even if more is added before it runs. Errors: the cancellation of co; ErrTimeout and *event.CancelledError of the options;
// *event.UsageError; *event.InvalidArgumentError. Only the coroutine itself may call it.
func (g *WaitGroup) Wait(co *scheduler.Coroutine, opts ...scheduler.WaitOption) error {
	const call = "cosync: WaitGroup.Wait"
	if err := g.bound.enter(call, "wait group", co); err != nil {
		return err
	}
	if err := scheduler.CheckOptions(call, opts); err != nil {
		return err
	}
	if g.count == 0 {
		co.Lucky()
		return nil
	}
	g.line.Init((*waitGroupLine)(g))
	w := g.line.Push(co, struct{}{})
	err := w.Park(call, opts...)
	w.Free()
	return err
}

// WaitGroupStats is what a wait group is doing.
type WaitGroupStats struct {
	Count   int // what is still to be done
	Waiting int // coroutines in Wait
}

// Stats returns what g is doing.
func (g *WaitGroup) Stats() WaitGroupStats {
	g.bound.check("cosync: WaitGroup.Stats")
	return WaitGroupStats{Count: g.count, Waiting: g.line.Waiting()}
}

// Info describes g for people: "wait group, 2 still to be done".
func (g *WaitGroup) Info() string {
	return "wait group, " + strconv.Itoa(g.count) + " still to be done"
}

// waitGroupLine is the owner of a wait group's line.
type waitGroupLine WaitGroup

func (l *waitGroupLine) Departed(*waitq.Waiter[struct{}], bool) {} // nothing is ever set aside

func (l *waitGroupLine) WaitInfo() string { return (*WaitGroup)(l).Info() }
