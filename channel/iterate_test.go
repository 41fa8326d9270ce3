package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// iterator starts a coroutine that ranges over c until the end.
func (tr *trace) iterator(s scheduler.Spawner, c *channel.Channel[int], opts ...scheduler.WaitOption) *scheduler.Coroutine {
	return tr.spawn(s, func(co *scheduler.Coroutine) error {
		for v, err := range c.All(co, opts...) {
			if err != nil {
				tr.add("error ", short(err))
			} else {
				tr.add(v)
			}
		}
		tr.add("end")
		return nil
	})
}

func TestChannel_CHAN27_IterationEndsCleanlyWithClose(t *testing.T) {
	for _, capacity := range []int{0, 2} {
		cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
			c, tr := newChannel[int](t, co, capacity), &trace{t: t}
			tr.iterator(co, c)
			settle(t, co)
			for i := range 5 {
				require.NoError(t, c.Send(co, i))
			}
			require.NoError(t, c.Close())
			settle(t, co)
			tr.is("0", "1", "2", "3", "4", "end")

			c = newChannel[int](t, co, capacity)
			tr.iterator(co, c)
			settle(t, co)
			assert.Equal(t, 1, c.Stats().WaitingReceivers)
			require.NoError(t, c.Close(), "while it is parked")
			settle(t, co)
			tr.is("end")
		})
	}
}

func TestChannel_CHAN27_ABreakLeavesTheRest(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c := newChannel[int](t, co, 3)
		for i := range 3 {
			require.NoError(t, c.Send(co, i))
		}
		for v, err := range c.All(co) {
			require.NoError(t, err)
			if v == 1 {
				break
			}
		}
		assert.Equal(t, 1, c.Len())
	})
}

func TestChannel_CHAN28_IterationSaysWhatEndedIt(t *testing.T) {
	for want, end := range map[string]func(t *testing.T, co *scheduler.Coroutine, tr *trace){
		"cancelled boom": func(t *testing.T, co *scheduler.Coroutine, tr *trace) {
			it := tr.iterator(co, newChannel[int](t, co, 0))
			settle(t, co)
			it.Cancel(errBoom)
		},
		"closed by-close cancelled": func(t *testing.T, co *scheduler.Coroutine, tr *trace) {
			c := newChannel[int](t, co, 0)
			it := tr.iterator(co, c)
			settle(t, co)
			require.NoError(t, c.Close())
			it.Cancel(nil)
		},
		"closed no-producers": func(t *testing.T, co *scheduler.Coroutine, tr *trace) {
			it := tr.iterator(co, newChannel[int](t, co, 0, channel.Config{NoProducerTimeout: time.Millisecond, Hard: true}))
			_, err := co.Await(it)
			require.NoError(t, err)
		},
		"closed scope-disposed": func(t *testing.T, co *scheduler.Coroutine, tr *trace) {
			scope, err := co.Scope().New()
			require.NoError(t, err)
			tr.iterator(co, newChannel[int](t, scope, 0))
			settle(t, co)
			scope.Cancel(nil)
		},
		"timeout": func(t *testing.T, co *scheduler.Coroutine, tr *trace) {
			it := tr.iterator(co, newChannel[int](t, co, 0), scheduler.Timeout(time.Millisecond))
			_, err := co.Await(it)
			require.NoError(t, err)
		},
	} {
		t.Run(want, func(t *testing.T) {
			cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
				tr := &trace{t: t}
				end(t, co, tr)
				settle(t, co)
				tr.is("error "+want, "end")
			})
		})
	}
}
