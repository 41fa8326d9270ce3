package channel_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// A producer and a consumer, and the end of their work.
func Example() {
	loop := simreactor.New(1)
	defer loop.Close()
	err := scheduler.New(loop, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		words, err := channel.New[string](co, 2)
		if err != nil {
			return err
		}
		_, err = co.Spawn(func(co *scheduler.Coroutine) error {
			for _, word := range []string{"to", "be", "or", "not"} {
				if err := words.Send(co, word); err != nil {
					return err
				}
			}
			return words.Close()
		})
		if err != nil {
			return err
		}
		for word, err := range words.All(co) {
			if err != nil {
				return err
			}
			fmt.Println(word)
		}
		return nil
	})
	fmt.Println("ended:", err)
	// Output:
	// to
	// be
	// or
	// not
	// ended: <nil>
}

// One coroutine serves several channels.
func ExampleSelect() {
	loop := simreactor.New(1)
	defer loop.Close()
	err := scheduler.New(loop, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		orders, err := channel.New[string](co, 1)
		if err != nil {
			return err
		}
		quit, err := channel.New[struct{}](co, 0)
		if err != nil {
			return err
		}
		var order string
		serve := []channel.Case{orders.RecvCase(&order), quit.RecvCase(nil), channel.Default}
		for _, act := range []func(){func() {}, func() { orders.TrySend("tea") }, func() { quit.TrySend(struct{}{}) }} {
			act()
			which, err := channel.Select(co, serve)
			if err != nil {
				return err
			}
			fmt.Println([]string{"one " + order, "closing", "nothing to do"}[which])
		}
		return nil
	})
	fmt.Println("ended:", err)
	// Output:
	// nothing to do
	// one tea
	// closing
	// ended: <nil>
}

// A pipeline that stops early: who has enough closes the channel, and who sends takes that for the end of its work.
func Example_earlyStop() {
	loop := simreactor.New(1)
	defer loop.Close()
	err := scheduler.New(loop, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		numbers, err := channel.New[int](co, 1)
		if err != nil {
			return err
		}
		_, err = co.Spawn(func(co *scheduler.Coroutine) error {
			for n := 0; ; n++ {
				if err := numbers.Send(co, n); errors.Is(err, channel.ErrCloseCalled) {
					return nil
				} else if err != nil {
					return err
				}
			}
		})
		if err != nil {
			return err
		}
		for n, err := range numbers.All(co) {
			if err != nil {
				return err
			}
			fmt.Println(n)
			if n == 2 {
				numbers.Close()
				break
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0
	// 1
	// 2
	// <nil>
}
