package waitq_test

import (
	"context"
	"fmt"

	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

// lock is the smallest owner of a queue: what it sets aside is itself.
type lock struct {
	held    bool
	waiters waitq.Queue[struct{}]
}

func (l *lock) acquire(co *scheduler.Coroutine) error {
	const call = "lock: acquire"
	if err := co.Enter(call); err != nil {
		return err
	}
	if !l.held {
		l.held = true
		co.Lucky()
		return nil
	}
	w := l.waiters.Push(co, struct{}{})
	err := w.Park(call)
	w.Free()
	return err
}

func (l *lock) release() {
	if w := l.waiters.First(); w != nil {
		l.waiters.Reserve(w) // it stays held: by the one who is woken
		return
	}
	l.held = false
}

func (l *lock) Departed(_ *waitq.Waiter[struct{}], reserved bool) {
	if reserved {
		l.release()
	}
}

func (l *lock) WaitInfo() string { return "lock: acquire" }

// A lock whose first waiter is cancelled after it was woken: the second one has it.
func Example() {
	loop := simreactor.New(1)
	defer loop.Close()
	err := scheduler.New(loop, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		l := &lock{held: true}
		l.waiters.Init(l)
		waiter := func(name string) *scheduler.Coroutine {
			w, err := co.Spawn(func(co *scheduler.Coroutine) error {
				err := l.acquire(co)
				fmt.Println(name, "acquired:", err)
				return err
			})
			if err != nil {
				panic(err)
			}
			return w
		}
		first := waiter("first")
		waiter("second")
		if err := co.Yield(); err != nil {
			return err
		}
		l.release()
		_ = first.Cancel(nil)
		fmt.Println("waiting", l.waiters.Waiting(), "reserved", l.waiters.Reserved())
		return co.Yield()
	})
	fmt.Println("ended:", err)
	// Output:
	// waiting 0 reserved 1
	// first acquired: cancelled
	// second acquired: <nil>
	// ended: <nil>
}
