package simreactor_test

import (
	"fmt"
	"time"

	"github.com/uvasync/uvasync/internal/simreactor"
)

// A week passes in no time, and a retry that waits for a minute is seen to do so.
func Example() {
	r := simreactor.New(1)
	defer r.Close()

	say := func(what string) { fmt.Println(r.Now().Format("Jan _2 15:04:05"), what) }
	week := r.NewDeadline(func() { say("a week is over") })
	retry := r.NewDeadline(func() { say("try again") })
	_ = week.Start(7 * 24 * time.Hour)
	_ = retry.Start(time.Minute)

	for r.Live() > 0 {
		if _, err := r.Tick(true); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// Jan  1 00:01:00 try again
	// Jan  8 00:00:00 a week is over
}
