package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

var (
	_ scheduler.Reactor = (*reactor.Loop)(nil)
	_ scheduler.Reactor = (*simreactor.Reactor)(nil)
)

func bench(b *testing.B, main func(co *scheduler.Coroutine) error) {
	l, err := reactor.New(reactor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	if err := scheduler.New(l, scheduler.Options{}).Run(context.Background(), main); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkYield(b *testing.B) {
	for _, n := range []int{1, 2, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bench(b, func(co *scheduler.Coroutine) error {
				for range n {
					_, err := co.Spawn(func(co *scheduler.Coroutine) error {
						for range b.N / n {
							if err := co.Yield(); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

func BenchmarkSpawn(b *testing.B) {
	bench(b, func(co *scheduler.Coroutine) error {
		n := 0
		for i := range b.N {
			if _, err := co.Spawn(func(*scheduler.Coroutine) error { n++; return nil }); err != nil {
				return err
			}
			if i%64 == 63 {
				if err := co.Yield(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func BenchmarkSpawnYield(b *testing.B) {
	bench(b, func(co *scheduler.Coroutine) error {
		n := 0
		for i := range b.N {
			if _, err := co.Spawn(func(co *scheduler.Coroutine) error { n++; return co.Yield() }); err != nil {
				return err
			}
			if i%64 == 63 {
				if err := co.Yield(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func BenchmarkDelay(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bench(b, func(co *scheduler.Coroutine) error {
				for i := range n {
					_, err := co.Spawn(func(co *scheduler.Coroutine) error {
						for range b.N / n {
							if err := co.Delay(time.Duration(1+i%50) * time.Millisecond); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

func BenchmarkParkUnpark(b *testing.B) {
	bench(b, func(co *scheduler.Coroutine) error {
		var line nobody
		_, err := co.Spawn(func(other *scheduler.Coroutine) error {
			for range b.N / 2 {
				if err := co.Unpark(); err != nil {
					return err
				}
				if err := other.Park("bench: wait", line); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		var peer *scheduler.Coroutine
		for _, c := range co.Scheduler().Coroutines() {
			if c != co {
				peer = c
			}
		}
		for range b.N / 2 {
			if err := co.Park("bench: wait", line); err != nil {
				return err
			}
			if err := peer.Unpark(); err != nil {
				return err
			}
		}
		return nil
	})
}

type nobody struct{}

func (nobody) Leave(*scheduler.Coroutine) {}
func (nobody) Info() string               { return "bench" }
