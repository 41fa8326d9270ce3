// First is the first program of the README: two results fetched at once, handed through a channel to a third coroutine,
// and a time limit that strikes.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/future"
)

func main() {
	if err := uvasync.Run(context.Background(), first); err != nil {
		log.Fatal(err)
	}
}

func first(co *uvasync.Coroutine) error {
	// Two coroutines that take their time, at once.
	names, err := future.AwaitAllOrFail(co, future.Of(
		fetch(co, "ada", 20*time.Millisecond),
		fetch(co, "grace", 10*time.Millisecond),
	), uvasync.Timeout(time.Second))
	if err != nil {
		return err
	}
	fmt.Println(names.Values())

	// A coroutine that hands values over, and one (this) that takes them.
	numbers, err := channel.New[int](co, 1)
	if err != nil {
		return err
	}
	_, err = co.Spawn(func(co *uvasync.Coroutine) error {
		defer numbers.Close()
		for n := range 3 {
			if err := numbers.Send(co, n*n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for n, err := range numbers.All(co) {
		if err != nil {
			return err
		}
		fmt.Println(n)
	}

	// A block with a time limit: its suspension points fail when the limit is over.
	err = co.WithTimeout(10*time.Millisecond, func(co *uvasync.Coroutine) error {
		return co.Delay(time.Hour)
	})
	fmt.Println(err)
	return nil
}

func fetch(co *uvasync.Coroutine, name string, takes time.Duration) *future.Future[string] {
	return future.Go(co, func(co *uvasync.Coroutine) (string, error) {
		return name, co.Delay(takes)
	})
}
