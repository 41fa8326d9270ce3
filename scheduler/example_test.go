package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// inRun stands for uvasync.Run, in virtual time.
func inRun(main func(co *scheduler.Coroutine) error) error {
	r := simreactor.New(1)
	return errors.Join(scheduler.New(r, scheduler.Options{}).Run(context.Background(), main), r.Close())
}

// Two coroutines take turns; the first to finish is known.
func Example() {
	err := inRun(func(co *scheduler.Coroutine) error {
		walk := func(name string, step time.Duration) (*scheduler.Coroutine, error) {
			return co.Spawn(func(co *scheduler.Coroutine) error {
				for n := range 2 {
					if err := co.Delay(step); err != nil {
						return err
					}
					fmt.Println(name, n)
				}
				return nil
			}, scheduler.Named(name))
		}
		hare, err := walk("hare", 10*time.Millisecond)
		if err != nil {
			return err
		}
		tortoise, err := walk("tortoise", 15*time.Millisecond)
		if err != nil {
			return err
		}
		first, _, err := co.AwaitFirst([]event.Event{hare, tortoise}, scheduler.Timeout(time.Second))
		fmt.Println("the winner has index", first)
		return err
	})
	fmt.Println(err)
	// Output:
	// hare 0
	// tortoise 0
	// hare 1
	// the winner has index 0
	// tortoise 1
	// <nil>
}

// Clean-up that has to wait goes into Protect.
func ExampleCoroutine_Protect() {
	err := inRun(func(co *scheduler.Coroutine) error {
		worker, err := co.Spawn(func(co *scheduler.Coroutine) error {
			err := co.Delay(time.Hour)
			fmt.Println("told:", err)
			_ = co.Protect(func(context.Context) error {
				fmt.Println("clean-up can wait:", co.Delay(50*time.Millisecond))
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
		if err := co.Yield(); err != nil {
			return err
		}
		if err := worker.Cancel(errors.New("not needed any more")); err != nil {
			return err
		}
		_, err = co.Await(worker)
		fmt.Println("awaited:", err)
		return nil
	})
	fmt.Println(err)
	// Output:
	// told: cancelled: not needed any more
	// clean-up can wait: <nil>
	// awaited: cancelled: not needed any more
	// <nil>
}
