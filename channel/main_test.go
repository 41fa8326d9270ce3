package channel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/leak"
	"github.com/uvasync/uvasync/scheduler"
)

func TestMain(m *testing.M) { leak.Main(m) }

// settle lets the others run until each of them is parked or has ended.
func settle(t *testing.T, co *scheduler.Coroutine) {
	for range 10 {
		require.NoError(t, co.Yield())
	}
}

func newChannel[T any](t *testing.T, owner scheduler.Scoped, capacity int, config ...channel.Config) *channel.Channel[T] {
	c, err := channel.New[T](owner, capacity, config...)
	require.NoError(t, err)
	return c
}

// trace is what happened, in order.
type trace struct {
	t   *testing.T
	got []string
}

func (tr *trace) add(what ...any) { tr.got = append(tr.got, fmt.Sprint(what...)) }

// is compares and begins anew.
func (tr *trace) is(want ...string) {
	tr.t.Helper()
	assert.Equal(tr.t, want, tr.got)
	tr.got = nil
}

func (tr *trace) spawn(s scheduler.Spawner, fn func(co *scheduler.Coroutine) error) *scheduler.Coroutine {
	co, err := s.Spawn(fn)
	require.NoError(tr.t, err)
	return co
}

// receiver starts a coroutine that receives once.
func (tr *trace) receiver(s scheduler.Spawner, c *channel.Channel[int], name string, opts ...scheduler.WaitOption) *scheduler.Coroutine {
	return tr.spawn(s, func(co *scheduler.Coroutine) error {
		v, err := c.Recv(co, opts...)
		if err != nil {
			tr.add(name, ": ", short(err))
		} else {
			tr.add(name, " got ", v)
		}
		return nil
	})
}

// sender starts a coroutine that sends once.
func (tr *trace) sender(s scheduler.Spawner, c *channel.Channel[int], name string, v int, opts ...scheduler.WaitOption) *scheduler.Coroutine {
	return tr.spawn(s, func(co *scheduler.Coroutine) error {
		if err := c.Send(co, v, opts...); err != nil {
			tr.add(name, ": ", short(err))
		} else {
			tr.add(name, " sent ", v)
		}
		return nil
	})
}

// short names what an error is, everything that it is.
func short(err error) string {
	names := ""
	for _, known := range []struct {
		name string
		err  error
	}{
		{"closed", event.ErrClosed}, {"by-close", channel.ErrCloseCalled}, {"no-producers", channel.ErrNoProducers},
		{"no-consumers", channel.ErrNoConsumers}, {"deadlock", channel.ErrDeadlock},
		{"scope-disposed", channel.ErrScopeDisposed}, {"cancelled", context.Canceled}, {"timeout", event.ErrTimeout},
		{"usage", event.ErrUsage}, {"invalid", event.ErrInvalidArgument}, {"boom", errBoom},
	} {
		if errors.Is(err, known.err) {
			names += " " + known.name
		}
	}
	if names == "" {
		return err.Error()
	}
	return names[1:]
}

var errBoom = errors.New("boom")

// tokenFired reports whether err is an OperationCancelled (CANC-23).
func tokenFired(err error) bool {
	var cancelled *event.CancelledError
	return errors.As(err, &cancelled) && cancelled.Token
}
