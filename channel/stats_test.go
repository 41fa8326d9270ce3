package channel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestChannel_EVT16_InfoSaysWhatItIsDoing(t *testing.T) {
	cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
		c, tr := newChannel[int](t, co, 2, channel.Config{Name: "jobs"}), &trace{t: t}
		assert.Equal(t, "channel jobs 0/2, receivers 0 waiting 0 reserved, senders 0 waiting 0 reserved", c.Info())
		for range 3 {
			tr.receiver(co, c, "r")
		}
		settle(t, co)
		require.NoError(t, c.Send(co, 1))
		assert.Equal(t, "channel jobs 1/2, receivers 2 waiting 1 reserved, senders 0 waiting 0 reserved", c.Info())
		assert.Equal(t, c.Info(), c.AsEvent().Info())
		require.NoError(t, c.Close())
		assert.Equal(t, "channel jobs 1/2, receivers 0 waiting 1 reserved, senders 0 waiting 0 reserved, closed", c.Info())

		c = newChannel[int](t, co, 1)
		require.True(t, c.TrySend(1))
		for i := range 3 {
			tr.sender(co, c, "s", i)
		}
		settle(t, co)
		_, _ = c.TryRecv()
		assert.Equal(t, "channel 0/1, receivers 0 waiting 0 reserved, senders 2 waiting 1 reserved", c.Info())
		require.NoError(t, c.Close())
	})
}

func TestChannel_DEAD10_AReportSaysWhatIsWaitedFor(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			c, tr := newChannel[int](t, co, 1, channel.Config{Name: "jobs"}), &trace{t: t}
			full := newChannel[int](t, co, 1)
			require.True(t, full.TrySend(1))
			tr.sender(co, full, "s", 1)
			tr.spawn(co, func(co *scheduler.Coroutine) error {
				_, err := channel.Select(co, []channel.Case{c.RecvCase(nil), full.SendCase(1)})
				return err
			})
			_, err := c.Recv(co)
			return err
		})
		require.Error(t, err)
		for _, want := range []string{"channel jobs 0/1: receive", "channel 1/1: send", "select of channel jobs 0/1: receive, channel 1/1: send"} {
			assert.Contains(t, err.Error(), want)
		}
	})
}
