package channel_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/reactor"
	"github.com/uvasync/uvasync/scheduler"
)

func benchChannel(b *testing.B, capacity int) {
	r, err := reactor.New(reactor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	err = scheduler.New(r, scheduler.Options{}).Run(context.Background(), func(co *scheduler.Coroutine) error {
		c, err := channel.New[int](co, capacity)
		if err != nil {
			return err
		}
		_, err = co.Spawn(func(co *scheduler.Coroutine) error {
			for _, err := range c.All(co) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := c.Send(co, i); err != nil {
				return err
			}
		}
		return c.Close()
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkChannel_Buffered64(b *testing.B) { benchChannel(b, 64) }
func BenchmarkChannel_Rendezvous(b *testing.B) { benchChannel(b, 0) }

func benchGo(b *testing.B, capacity int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c, done := make(chan int, capacity), make(chan struct{})
	go func() {
		for range c {
		}
		close(done)
	}()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c <- i
	}
	close(c)
	<-done
}

func BenchmarkGo_Buffered64(b *testing.B) { benchGo(b, 64) }
func BenchmarkGo_Rendezvous(b *testing.B) { benchGo(b, 0) }
