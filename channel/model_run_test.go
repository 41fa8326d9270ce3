package channel_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/scheduler"
)

// world is the model beside the real thing.
type world struct {
	*model
	c        *channel.Channel[int]
	started  int
	routines map[string]*scheduler.Coroutine
	futures  map[string]*future.Future[int]
	real     map[string]string
}

func (w *world) name(kind string) string {
	w.started++
	return fmt.Sprintf("%s%03d", kind, w.started)
}

// spawn starts a coroutine that does op, once.
func (w *world) spawn(co *scheduler.Coroutine, who, kind string, timed bool, op func(co *scheduler.Coroutine, opts []scheduler.WaitOption) (string, error)) error {
	w.wake(who, kind)
	w.timed[who] = timed
	w.real[who] = "never"
	var err error
	w.routines[who], err = co.Spawn(func(co *scheduler.Coroutine) error {
		var opts []scheduler.WaitOption
		if timed {
			opts = append(opts, scheduler.Timeout(time.Millisecond))
		}
		w.real[who] = ""
		outcome, err := op(co, opts)
		if err != nil {
			outcome = short(err)
		}
		w.real[who] = outcome
		return nil
	})
	return err
}

func (w *world) receiver(co *scheduler.Coroutine, timed bool) error {
	return w.spawn(co, w.name("r"), "receive", timed, func(co *scheduler.Coroutine, opts []scheduler.WaitOption) (string, error) {
		v, err := w.c.Recv(co, opts...)
		return fmt.Sprint("got ", v), err
	})
}

func (w *world) sender(co *scheduler.Coroutine, timed bool) error {
	who := w.name("s")
	v := w.started
	w.value[who] = v
	return w.spawn(co, who, "send", timed, func(co *scheduler.Coroutine, opts []scheduler.WaitOption) (string, error) {
		return "sent", w.c.Send(co, v, opts...)
	})
}

func (w *world) receiveAsync(co *scheduler.Coroutine) error {
	who := w.name("f")
	f, err := w.c.RecvAsync(co)
	if err != nil {
		return err
	}
	w.futures[who] = f
	w.future[who] = true
	w.model.step(task{who, "receive"})
	return nil
}

// cancelOneOf cancels one of those who have not ended.
func (w *world) cancelOneOf(there []string, pick int) {
	if len(there) == 0 {
		return
	}
	who := there[pick%len(there)]
	w.leave(who, "cancelled")
	if f := w.futures[who]; f != nil {
		f.Cancel(nil)
	} else {
		w.routines[who].Cancel(nil)
	}
}

func (w *world) do(co *scheduler.Coroutine, op, pick int) error {
	switch op {
	case 0, 1:
		return w.receiver(co, pick%3 == 0)
	case 2, 3:
		return w.sender(co, pick%3 == 0)
	case 4:
		v := 1000 + w.started
		w.started++
		if got, want := w.c.TrySend(v), w.trySend(v); got != want {
			return fmt.Errorf("TrySend %v; in the model %v", got, want)
		}
	case 5:
		got, ok := w.c.TryRecv()
		if want, wantOK := w.receive(); got != want || ok != wantOK {
			return fmt.Errorf("TryRecv %v %v; in the model %v %v", got, ok, want, wantOK)
		}
	case 6:
		return w.receiveAsync(co)
	case 7, 8:
		w.cancelOneOf(w.there(), pick)
	case 9, 10, 11:
		w.run()
		return co.Yield()
	case 12:
		return w.delay(co)
	case 13:
		if pick%16 == 0 {
			w.close()
			return w.c.Close()
		}
	case 14, 15:
		w.cancelOneOf(slices.Concat(w.takers, w.fillers), pick)
	}
	return nil
}

// delay lets everybody run until all are parked, and then those with a limit leave.
func (w *world) delay(co *scheduler.Coroutine) error {
	for len(w.ready) > 0 {
		w.run()
		if err := co.Yield(); err != nil {
			return err
		}
	}
	for _, who := range w.there() { // named in the order in which they began
		if w.timed[who] {
			w.leave(who, timeout)
		}
	}
	for len(w.ready) > 0 {
		w.run()
	}
	return co.Delay(time.Second)
}

// compare says where the two differ.
func (w *world) compare() error {
	want := channel.Stats{
		Len: w.len(), Cap: w.cap, Closed: w.closed,
		WaitingReceivers: len(w.receiving), WaitingSenders: len(w.sending),
		ReservedReceivers: len(w.takers), ReservedSenders: len(w.fillers),
	}
	if got := w.c.Stats(); got != want {
		return fmt.Errorf("%+v; in the model %+v", got, want)
	}
	return nil
}

// finish drains the channel, and compares how each one ended.
func (w *world) finish(co *scheduler.Coroutine) error {
	w.close()
	if err := w.c.Close(); err != nil {
		return err
	}
	for len(w.ready) > 0 {
		w.run()
		if err := co.Yield(); err != nil {
			return err
		}
	}
	for {
		got, ok := w.c.TryRecv()
		want, wantOK := w.receive()
		if got != want || ok != wantOK {
			return fmt.Errorf("left: %v %v; in the model %v %v", got, ok, want, wantOK)
		}
		if !ok {
			break
		}
	}
	for who, f := range w.futures {
		if v, err := f.Await(co); err != nil {
			w.real[who] = short(err)
		} else {
			w.real[who] = fmt.Sprint("got ", v)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(w.real)) {
		if w.real[who] != w.outcome[who] {
			return fmt.Errorf("%s: %s; in the model %s", who, w.real[who], w.outcome[who])
		}
	}
	return nil
}

func TestChannel_ModelOfCancellationsClosesAndTimeouts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(0, 3).Draw(rt, "capacity")
		ops := rapid.SliceOfN(rapid.IntRange(0, 15), 100, 100).Draw(rt, "ops")
		picks := rapid.SliceOfN(rapid.IntRange(0, 1<<20), len(ops), len(ops)).Draw(rt, "picks")
		r := simreactor.New(1)
		defer r.Close()
		err := scheduler.New(r, scheduler.Options{}).Run(t.Context(), func(co *scheduler.Coroutine) error {
			c, err := channel.New[int](co, capacity)
			if err != nil {
				return err
			}
			w := &world{
				model: newModel(capacity), c: c, routines: map[string]*scheduler.Coroutine{},
				futures: map[string]*future.Future[int]{}, real: map[string]string{},
			}
			for i, op := range ops {
				if err := w.do(co, op, picks[i]); err != nil {
					return fmt.Errorf("step %d: %w", i, err)
				}
				if err := w.compare(); err != nil {
					return fmt.Errorf("after step %d: %w", i, err)
				}
			}
			return w.finish(co)
		})
		require.NoError(rt, err)
	})
}
