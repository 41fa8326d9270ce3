package main

import (
	"net"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var ending = regexp.MustCompile(`: ending.*\n`)

func TestSignalsEndItInOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := start(t)
			idle := []*client{dial(t, p), dial(t, p), dial(t, p)}
			for _, c := range idle {
				c.roundTrip("hello")
			}
			p.signal(sig)
			for _, c := range idle {
				c.expectEnd()
			}
			require.Equal(t, 0, p.exit(), p.errs.String())
			assert.Equal(t, result{served: 3, peak: 3, echoed: 15}, p.result(), "nobody had to be cut off")
			assert.Contains(t, p.out.String(), sig.String()+": ending; 3 connections may finish, for 1s at most\n")
			assert.Empty(t, p.errs.String())
		})
	}
}

func TestWhileDrainingNobodyNewIsLetIn(t *testing.T) {
	t.Parallel()
	p := start(t)
	dialSlow(t, p).stuff()
	p.signal(syscall.SIGTERM)
	p.out.await(t, ending)
	require.Eventually(t, func() bool {
		c, err := net.DialTimeout("tcp", p.addr, testPatience)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, drainTime, time.Millisecond)
	require.Equal(t, 0, p.exit())
}

func TestDrainingSendsBackWhatHasArrived(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := dialSlow(t, p)
	sent := c.stuff()
	// Only so much is taken that all has arrived, which leaves the server with as much as it can hold.
	for c.unacknowledged() > 0 {
		c.expectPattern(32 << 10)
	}
	require.NoError(t, c.SetReadBuffer(1<<20)) // the rest has a second
	p.signal(syscall.SIGTERM)
	p.out.await(t, ending)
	c.expectPattern(sent - c.got)
	c.expectEnd()
	require.Equal(t, 0, p.exit())
	assert.Equal(t, result{served: 1, peak: 1, echoed: sent}, p.result())
}

func TestSecondSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t)
	dialSlow(t, p).stuff()
	p.signal(syscall.SIGINT)
	p.out.await(t, ending)
	p.signal(syscall.SIGINT)
	assert.Equal(t, exitFailure, p.exit())
	assert.Equal(t, "echo: ended by a second signal\n", p.errs.String())
	assert.Equal(t, 1, p.result().cutOff)
}
