package cosync_test

import (
	"context"
	"fmt"
	"time"

	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// A conversation on one connection is not to be mixed with another.
func Example() {
	loop := simreactor.New(1)
	defer loop.Close()
	err := scheduler.New(loop, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		var line cosync.Mutex
		var callers cosync.WaitGroup
		for _, name := range []string{"Ann", "Ben"} {
			_, err := callers.Go(co, func(co *scheduler.Coroutine) error {
				if err := line.Lock(co, scheduler.Timeout(time.Minute)); err != nil {
					return err
				}
				defer line.Unlock()
				fmt.Println(name, "asks")
				if err := co.Delay(time.Second); err != nil { // the answer takes its time
					return err
				}
				fmt.Println(name, "is answered")
				return nil
			})
			if err != nil {
				return err
			}
		}
		return callers.Wait(co)
	})
	fmt.Println("ended:", err)
	// Output:
	// Ann asks
	// Ann is answered
	// Ben asks
	// Ben is answered
	// ended: <nil>
}
