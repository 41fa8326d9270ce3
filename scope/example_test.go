package scope_test

import (
	"context"
	"fmt"
	"time"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/scope"
)

// A scope that is closed while it has work to do.
func Example() {
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		s := scope.New(co)
		_, err := s.Spawn(func(co *uvasync.Coroutine) error {
			err := co.Delay(10 * time.Millisecond)
			fmt.Println("the mail is sent:", err == nil)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		if err := s.AwaitCompletion(co); err != nil { // does not wait for zombies
			return err
		}
		fmt.Println(s.Info())
		return s.AwaitAfterCancellation(co, nil) // does
	})
	fmt.Println(err)
	// Output:
	// scope: 0 active, 1 zombie, closed
	// the mail is sent: true
	// <nil>
}

// Of many tasks, two run at once.
func ExampleGroup() {
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		g, err := scope.NewKeyedGroup[string, int](co, scope.GroupConfig{Concurrency: 2})
		if err != nil {
			return err
		}
		for i, name := range []string{"ada", "grace", "barbara", "frances"} {
			err := g.SpawnKey(co, name, func(co *uvasync.Coroutine) (int, error) {
				return len(name), co.Delay(time.Duration(5-i) * time.Millisecond)
			})
			if err != nil {
				return err
			}
		}
		if err := g.Close(); err != nil {
			return err
		}
		lengths, err := g.All().Await(co)
		fmt.Println(lengths.Keys(), lengths.Values())
		return err
	})
	fmt.Println(err)
	// Output:
	// [ada grace barbara frances] [3 5 7 7]
	// <nil>
}
