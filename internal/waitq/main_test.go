package waitq_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/leak"
	"github.com/uvasync/uvasync/internal/simreactor"
	"github.com/uvasync/uvasync/internal/waitq"
	"github.com/uvasync/uvasync/scheduler"
)

func TestMain(m *testing.M) { leak.Main(m) }

var errClosed = errors.New("closed")

// tickets hands out a number of tickets: the simplest owner of a queue.
type tickets struct {
	free     int
	queue    waitq.Queue[string]
	departed []string
}

func newTickets(free int) *tickets {
	k := &tickets{free: free}
	k.queue.Init(k)
	return k
}

func (k *tickets) tryTake() bool {
	if k.free == 0 {
		return false
	}
	k.free--
	return true
}

func (k *tickets) take(co *scheduler.Coroutine, name string, opts ...scheduler.WaitOption) error {
	if err := co.Enter("tickets: take"); err != nil {
		return err
	}
	if k.tryTake() {
		return nil
	}
	w := k.queue.Push(co, name)
	err := w.Park("tickets: take", opts...)
	w.Free()
	return err
}

func (k *tickets) put() {
	if w := k.queue.First(); w != nil {
		k.queue.Reserve(w)
	} else {
		k.free++
	}
}

func (k *tickets) Departed(w *waitq.Waiter[string], reserved bool) {
	k.departed = append(k.departed, w.Data)
	if reserved {
		k.put()
	}
}

func (k *tickets) WaitInfo() string { return "tickets: take" }

// waiting returns the names of those in line.
func (k *tickets) waiting() []string {
	names := []string{}
	for w := k.queue.First(); w != nil; w = w.Behind() {
		names = append(names, w.Data)
	}
	return names
}

// simulate runs main in a run of its own.
func simulate(t require.TestingT, main func(co *scheduler.Coroutine) error) {
	r := simreactor.New(1)
	defer func() { assert.NoError(t, r.Close()) }()
	require.NoError(t, scheduler.New(r, scheduler.Options{}).Run(context.Background(), main))
}

// takers starts a coroutine for each name, which takes a ticket; done gets its name and its error when it has run.
func takers(t testing.TB, co *scheduler.Coroutine, k *tickets, done *[]string, names ...string) map[string]*scheduler.Coroutine {
	all := map[string]*scheduler.Coroutine{}
	for _, name := range names {
		taker, err := co.Spawn(func(co *scheduler.Coroutine) error {
			if err := k.take(co, name); err != nil {
				name += ": " + err.Error()
			}
			*done = append(*done, name)
			return nil
		})
		require.NoError(t, err)
		all[name] = taker
	}
	require.NoError(t, co.Yield())
	require.Equal(t, names, k.waiting()[max(0, k.queue.Waiting()-len(names)):])
	return all
}

func yields(t testing.TB, co *scheduler.Coroutine) {
	require.NoError(t, co.Yield())
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}
