package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// simulate runs main in virtual time.
func simulate(main func(co *scheduler.Coroutine) error) {
	loop := simreactor.New(1)
	defer loop.Close()
	if err := scheduler.New(loop, scheduler.Options{}).Run(context.Background(), main); err != nil {
		fmt.Println(err)
	}
}

// Three coroutines and one desk: they get it in the order in which they came, and whoever has no patience leaves.
func Example() {
	simulate(func(co *scheduler.Coroutine) error {
		desks, err := pool.New(co, pool.Config[string]{
			Name:   "desks",
			Max:    1,
			Create: func(*scheduler.Coroutine) (string, error) { return "the desk", nil },
		})
		if err != nil {
			return err
		}
		for i, patience := range []time.Duration{time.Second, 2 * time.Second, time.Minute} {
			_, err := co.Spawn(func(co *scheduler.Coroutine) error {
				desk, err := desks.Acquire(co, scheduler.Timeout(patience))
				if err != nil {
					fmt.Println(i, "leaves:", err)
					return nil
				}
				defer desk.Release(co)
				fmt.Println(i, "has", desk.Value())
				return co.Delay(5 * time.Second)
			})
			if err != nil {
				return err
			}
		}
		if err := co.Delay(time.Hour); err != nil {
			return err
		}
		fmt.Println(desks.Info())
		return desks.Close(co)
	})
	// Output:
	// 0 has the desk
	// 1 leaves: pool: Acquire: timeout after 2s: pool desks 1/1, in use by coroutine 2
	// 2 has the desk
	// pool desks 1/1, idle 1, active 0, reserved 0, waiting 0, breaker closed
}

// A circuit breaker that opens after two failures in a row, and lets a probe through after ten seconds.
func ExampleConsecutiveFailures() {
	simulate(func(co *scheduler.Coroutine) error {
		works := false
		p, err := pool.New(co, pool.Config[string]{
			Create: func(*scheduler.Coroutine) (string, error) {
				if !works {
					return "", errors.New("nobody answers")
				}
				return "a connection", nil
			},
			Strategy:      &pool.ConsecutiveFailures{Failures: 2, CoolDown: 10 * time.Second},
			OnStateChange: func(from, to pool.State) { fmt.Println(from, "->", to) },
		})
		if err != nil {
			return err
		}
		use := func(co *scheduler.Coroutine, v string) error { fmt.Println("using", v); return nil }
		for range 3 {
			fmt.Println(p.With(co, use))
		}
		works = true
		if err := co.Delay(10 * time.Second); err != nil {
			return err
		}
		fmt.Println(p.With(co, use))
		return p.Close(co)
	})
	// Output:
	// pool: Create: nobody answers
	// active -> inactive
	// pool: Create: nobody answers
	// pool is inactive: its circuit breaker is open; try again later (Create: nobody answers)
	// inactive -> recovering
	// using a connection
	// recovering -> active
	// <nil>
}
