package channel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestChannel_SendAndRecvAllocateNothing(t *testing.T) {
	for name, config := range map[string]channel.Config{"plain": {}, "timed": {NoProducerTimeout: 1e12, NoConsumerTimeout: 1e12}} {
		t.Run(name, func(t *testing.T) {
			cotest.EachMain(t, func(t *testing.T, co *scheduler.Coroutine) {
				tr := &trace{t: t}
				buffered := newChannel[int](t, co, 64, config)
				assert.Zero(t, testing.AllocsPerRun(100, func() {
					_ = buffered.Send(co, 1)
					_, _ = buffered.Recv(co)
					buffered.TrySend(1)
					buffered.TryRecv()
				}), "without waiting")

				rendezvous := newChannel[int](t, co, 0, config)
				back := newChannel[int](t, co, 1, config)
				echo := tr.spawn(co, func(co *scheduler.Coroutine) error {
					for v, err := range rendezvous.All(co) {
						if err != nil {
							return err
						}
						if err := back.Send(co, v); err != nil {
							return err
						}
					}
					return nil
				})
				settle(t, co)
				assert.Zero(t, testing.AllocsPerRun(100, func() {
					_ = rendezvous.Send(co, 1)
					_, _ = back.Recv(co)
				}), "with waiting")
				require.NoError(t, rendezvous.Close())
				_, err := co.Await(echo)
				require.NoError(t, err)

				k := []channel.Case{buffered.SendCase(1), channel.Default}
				l := []channel.Case{buffered.RecvCase(nil)}
				assert.Zero(t, testing.AllocsPerRun(100, func() {
					_, _ = channel.Select(co, k)
					_, _ = channel.Select(co, l)
				}), "a Select that does not wait")
			})
		})
	}
}
