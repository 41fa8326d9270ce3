package uvasync_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/cosync"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/uvtest"
)

// everything is one run of random coroutines that use everything and are cancelled, timed out, closed at random. It returns
// a trace, and what does not add up.
func everything(t uvtest.T, seed uint64, n int) (trace []string) {
	r := rand.New(rand.NewPCG(seed, 7))
	bad := func(format string, args ...any) { t.Errorf("seed %d: "+format, append([]any{seed}, args...)...) }
	uvtest.Run(t, func(co *uvasync.Coroutine) error {
		start := time.Time{}
		_ = start
		note := func(format string, args ...any) { trace = append(trace, fmt.Sprintf(format, args...)) }
		var mutex cosync.Mutex
		var rw cosync.RWMutex
		var once cosync.Once
		var group cosync.WaitGroup
		cond := cosync.NewCond(&mutex)
		sem := cosync.NewSemaphore(3)
		held, writers, readers, used := 0, 0, 0, 0
		chans := make([]*channel.Channel[int], 4)
		for i := range chans {
			chans[i], _ = channel.New[int](co, i%3)
		}
		sent, got := map[int]int{}, map[int]int{}
		maybe := map[int]bool{}
		next := 0
		completers := []*future.Completer[int]{}
		futures := []*future.Future[int]{}
		for range 8 {
			c, f := future.New[int](co)
			completers, futures = append(completers, c), append(futures, f)
			f.Ignore()
		}
		asyncs := []*future.Future[int]{}
		cos := []*uvasync.Coroutine{}
		body := func(id int) func(co *uvasync.Coroutine) error {
			return func(co *uvasync.Coroutine) error {
				for step := range 6 {
					var opts []uvasync.WaitOption
					switch r.IntN(4) {
					case 0:
						opts = append(opts, uvasync.Timeout(time.Duration(1+r.IntN(5))*time.Millisecond))
					case 1:
						opts = append(opts, uvasync.Token(futures[r.IntN(len(futures))]))
					case 2:
						opts = append(opts, uvasync.Timeout(time.Duration(1+r.IntN(5))*time.Millisecond), uvasync.Token(futures[r.IntN(len(futures))]))
					}
					op := r.IntN(16)
					ch := chans[r.IntN(len(chans))]
					var err error
					nap := func(co *uvasync.Coroutine) error {
						if r.IntN(2) == 0 {
							return co.Yield()
						}
						return co.Delay(time.Duration(r.IntN(3)) * time.Millisecond)
					}
					switch op {
					case 0, 1:
						err = mutex.With(co, func(co *uvasync.Coroutine) error {
							if held++; held != 1 {
								bad("mutex held by %d", held)
							}
							err := nap(co)
							held--
							if r.IntN(3) == 0 {
								err = cond.Wait(co, opts...)
								if mutex.Stats().Holder != co {
									bad("cond.Wait without the mutex")
								}
							}
							return err
						}, opts...)
					case 2:
						if r.IntN(2) == 0 {
							cond.Signal()
						} else {
							cond.Broadcast()
						}
					case 3:
						err = rw.With(co, func(co *uvasync.Coroutine) error {
							if writers++; writers != 1 || readers != 0 {
								bad("rw")
							}
							defer func() { writers-- }()
							return nap(co)
						}, opts...)
					case 4:
						err = rw.RWith(co, func(co *uvasync.Coroutine) error {
							if readers++; writers != 0 {
								bad("rw")
							}
							defer func() { readers-- }()
							return nap(co)
						}, opts...)
					case 5, 6:
						k := 1 + r.IntN(3)
						err = sem.With(co, k, func(co *uvasync.Coroutine) error {
							if used += k; used > 3 {
								bad("semaphore %d", used)
							}
							defer func() { used -= k }()
							return nap(co)
						}, opts...)
					case 7, 8:
						next++
						v := next
						if err = ch.Send(co, v, opts...); err == nil {
							sent[v]++
						} else if ch.Cap() == 0 && errors.Is(err, context.Canceled) {
							maybe[v] = true
						}
					case 9:
						var v int
						if v, err = ch.Recv(co, opts...); err == nil {
							got[v]++
						}
					case 10:
						other := chans[r.IntN(len(chans))]
						var v int
						next++
						w := next
						cases := []channel.Case{ch.RecvCase(&v), other.SendCase(w)}
						if r.IntN(4) == 0 {
							cases = append(cases, channel.Default)
						}
						var i int
						i, err = channel.Select(co, cases, opts...)
						switch {
						case err == nil && i == 0:
							got[v]++
						case err == nil && i == 1:
							sent[w]++
						case err != nil && other.Cap() == 0:
							maybe[w] = true
						}
					case 11:
						if f, e := ch.RecvAsync(co); e == nil {
							asyncs = append(asyncs, f)
							f.Ignore()
							if r.IntN(2) == 0 {
								err = nap(co)
								f.Cancel(nil)
							}
						}
					case 12:
						i := r.IntN(len(futures))
						if r.IntN(2) == 0 {
							_, err = futures[i].Await(co, opts...)
						} else {
							_, _, err = future.AwaitAnyOf(co, 1+r.IntN(2), future.Of(futures[i], futures[r.IntN(len(futures))]), opts...)
						}
					case 13:
						i := r.IntN(len(futures))
						if r.IntN(2) == 0 {
							_ = completers[i].Complete(id)
						} else {
							_ = completers[i].Fail(errors.New("failed"))
						}
						c, f := future.New[int](co)
						f.Ignore()
						completers[i], futures[i] = c, f
					case 14:
						target := cos[r.IntN(len(cos))]
						if r.IntN(2) == 0 {
							err = co.WithTimeout(time.Duration(1+r.IntN(4))*time.Millisecond, func(co *uvasync.Coroutine) error {
								_, err := co.Await(target, opts...)
								return err
							})
						} else if r.IntN(3) == 0 {
							_ = target.Cancel(errors.New("cancelled"))
						}
					case 15:
						err = once.Do(co, func(co *uvasync.Coroutine) error {
							if err := nap(co); err != nil {
								return err
							}
							if r.IntN(3) > 0 {
								return errors.New("not done")
							}
							return nil
						}, opts...)
						if r.IntN(20) == 0 {
							ch.Close()
						}
					}
					note("%v %d.%d op %d: %v", co.Scheduler().Reactor().Now().Nanosecond(), id, step, op, err)
					if co.Err() != nil && r.IntN(2) == 0 {
						return co.Err()
					}
				}
				return nil
			}
		}
		for i := range n {
			c, err := group.Go(co, body(i))
			if err != nil {
				return err
			}
			cos = append(cos, c)
		}
		// Whatever waits for something that never comes is freed in the end.
		for range 200 {
			if err := co.Delay(10 * time.Millisecond); err != nil {
				return err
			}
			if group.Stats().Count == 0 {
				break
			}
			for i := range completers {
				_ = completers[i].Complete(0)
				c, f := future.New[int](co)
				f.Ignore()
				completers[i], futures[i] = c, f
			}
			cond.Broadcast()
			if r.IntN(5) == 0 {
				for _, c := range cos {
					_ = c.Cancel(errors.New("the end"))
				}
			}
		}
		if err := group.Wait(co); err != nil {
			return err
		}
		if s := sem.Stats(); s.Held+s.Promised+s.Waiting != 0 {
			bad("semaphore %+v", s)
		}
		if s := mutex.Stats(); s.Holder != nil || s.Waiting != 0 {
			bad("mutex %+v", s)
		}
		if s := rw.Stats(); s.Writer != nil || s.Readers+s.Waiting != 0 {
			bad("rw %+v", s)
		}
		if s := cond.Stats(); s.Waiting+s.Signalled != 0 {
			bad("cond %+v", s)
		}
		for _, ch := range chans {
			for v, ok := ch.TryRecv(); ok; v, ok = ch.TryRecv() {
				got[v]++
			}
			if s := ch.Stats(); s.Len+s.ReservedReceivers+s.ReservedSenders+s.WaitingSenders != 0 {
				bad("channel %+v", s)
			}
		}
		for _, f := range asyncs {
			if v, ok, err := f.Result(); ok && err == nil {
				got[v]++
			}
		}
		for v, k := range got {
			if k != 1 {
				bad("value %d received %d times", v, k)
			}
			if sent[v] == 0 && !maybe[v] {
				bad("value %d received and not sent", v)
			}
		}
		for v := range sent {
			if got[v] != 1 {
				bad("value %d sent and lost", v)
			}
		}
		return nil
	}, uvtest.Seed(seed), uvtest.Shuffle())
	return trace
}

func TestEverything_NothingIsLostInAnyOrder(t *testing.T) {
	until := time.Now().Add(time.Second)
	for seed := uint64(0); time.Now().Before(until) && !t.Failed(); seed++ {
		everything(t, seed, 12)
	}
}

func TestEverything_TheSameSeedGivesTheSameRun(t *testing.T) {
	for seed := range uint64(50) {
		a, b := everything(t, seed, 10), everything(t, seed, 10)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Fatalf("seed %d: step %d: %s / %s", seed, i, a[i], b[min(i, len(b)-1)])
				}
			}
			t.Fatal("length")
		}
	}
}

var _ = event.ErrTimeout
var _ = scheduler.ErrEnded
