package future_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// run stands for uvasync.Run.
func run(main func(co *scheduler.Coroutine) error) {
	r := simreactor.New(1)
	err := errors.Join(scheduler.New(r, scheduler.Options{}).Run(context.Background(), main), r.Close())
	if err != nil {
		fmt.Println(err)
	}
}

func fetch(co *scheduler.Coroutine, name string, takes time.Duration) *future.Future[string] {
	return future.Go(co, func(co *scheduler.Coroutine) (string, error) {
		if err := co.Delay(takes); err != nil {
			return "", err
		}
		return name, nil
	})
}

func Example() {
	run(func(co *scheduler.Coroutine) error {
		user := fetch(co, "ada", 20*time.Millisecond)
		length := future.Map(user, func(name string) (int, error) { return len(name), nil })

		name, err := user.Await(co, scheduler.Timeout(time.Second))
		if err != nil {
			return err
		}
		n, err := length.Await(co)
		fmt.Println(name, n, err)
		return nil
	})
	// Output: ada 3 <nil>
}

func ExampleAwaitAllOrFail() {
	run(func(co *scheduler.Coroutine) error {
		names, err := future.AwaitAllOrFail(co, future.Of(
			fetch(co, "ada", 30*time.Millisecond),
			fetch(co, "grace", 10*time.Millisecond),
		))
		fmt.Println(names.Values(), err)
		return nil
	})
	// Output: [ada grace] <nil>
}

func ExampleAwaitFirstSuccess() {
	run(func(co *scheduler.Coroutine) error {
		mirrors := map[string]*future.Future[string]{
			"near": future.Failed[string](co, errors.New("refused")),
			"far":  fetch(co, "page", 50*time.Millisecond),
		}
		page, ok, errs, err := future.AwaitFirstSuccess(co, future.OfMap(mirrors), scheduler.Timeout(time.Second))
		if err != nil {
			return err
		}
		fmt.Println(page, ok, errs.Map())
		return nil
	})
	// Output: page true map[near:refused]
}

func ExampleForEach() {
	run(func(co *scheduler.Coroutine) error {
		urls := []string{"a", "b", "c"}
		return future.ForEach(co, slices.Values(urls), func(co *scheduler.Coroutine, url string) error {
			page, err := fetch(co, "page "+url, 10*time.Millisecond).Await(co)
			fmt.Println(page)
			return err
		}, future.Concurrency(2))
	})
	// Output:
	// page a
	// page b
	// page c
}

func ExampleNewRemote() {
	run(func(co *scheduler.Coroutine) error {
		completer, answer := future.NewRemote[int](co)
		// Usually a goroutine that calls a blocking library does this.
		if err := completer.Complete(42); err != nil {
			return err
		}
		v, err := answer.Await(co)
		fmt.Println(v, err)
		return nil
	})
	// Output: 42 <nil>
}
