package scope_test

import (
	"context"
	"errors"
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

// The first that succeeds is enough; the others are cancelled.
func ExampleGroup_Any() {
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		g, err := scope.NewGroup[string](co)
		if err != nil {
			return err
		}
		for i, mirror := range []string{"far", "near", "broken"} {
			_, err := g.Spawn(co, func(co *uvasync.Coroutine) (string, error) {
				if mirror == "broken" {
					return "", errors.New("no answer")
				}
				return "from the " + mirror + " one", co.Delay(time.Duration(50-45*i) * time.Millisecond)
			})
			if err != nil {
				return err
			}
		}
		first, err := g.Any()
		if err != nil {
			return err
		}
		answer, err := first.Await(co)
		if err != nil {
			return err
		}
		fmt.Println(answer)
		g.SuppressErrors() // of the broken one; a cancellation is no failure
		if err := g.Cancel(nil); err != nil {
			return err
		}
		return g.AwaitCompletion(co)
	})
	fmt.Println(err)
	// Output:
	// from the near one
	// <nil>
}

// A set can live as long as a server: what it has handed out it forgets.
func ExampleSet() {
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		s, err := scope.NewSet[int](co, scope.GroupConfig{Concurrency: 2})
		if err != nil {
			return err
		}
		for i, takes := range []time.Duration{30, 10, 40} {
			_, err := s.Spawn(co, func(co *uvasync.Coroutine) (int, error) {
				return i * i, co.Delay(takes * time.Millisecond)
			})
			if err != nil {
				return err
			}
		}
		if err := s.Close(); err != nil { // the loop ends with the last task
			return err
		}
		for task, err := range s.Outcomes(co) {
			if err != nil {
				return err
			}
			fmt.Println(task.Key, task.Value, task.Err, "left:", s.Count())
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 1 <nil> left: 2
	// 0 0 <nil> left: 1
	// 2 4 <nil> left: 0
	// <nil>
}

// A failure that the scope's handler deals with leaves the others alone.
func ExampleScope_OnError() {
	err := uvasync.Run(context.Background(), func(co *uvasync.Coroutine) error {
		s := scope.New(co)
		err := s.OnError(func(_ *scope.Scope, co *uvasync.Coroutine, err error) error {
			fmt.Println(co.Name(), "failed:", err)
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range []string{"one", "two"} {
			_, err := s.Spawn(func(co *uvasync.Coroutine) error {
				if name == "one" {
					return errors.New("no cache")
				}
				err := co.Delay(10 * time.Millisecond)
				fmt.Println(name, "ended:", err)
				return err
			}, uvasync.Named(name))
			if err != nil {
				return err
			}
		}
		if err := s.DisposeAfterTimeout(time.Second); err != nil {
			return err
		}
		return s.AwaitCompletion(co)
	})
	fmt.Println(err)
	// Output:
	// one failed: no cache
	// two ended: <nil>
	// <nil>
}
