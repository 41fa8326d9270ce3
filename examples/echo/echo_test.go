package main

import (
	"fmt"
	"net"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEchoOfOneByte(t *testing.T) {
	t.Parallel()
	p := start(t)
	dial(t, p).roundTrip("x")
	assert.Equal(t, result{served: 1, peak: 1, echoed: 1}, p.terminate())
}

func TestEchoOfTenMegabytes(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	p := start(t)
	c := dial(t, p)
	sent := make(chan error, 1)
	go func() {
		if err := c.sendPattern(size); err != nil {
			sent <- err
			return
		}
		sent <- c.CloseWrite()
	}()
	c.expectPattern(size)
	c.expectEnd()
	require.NoError(t, <-sent)
	assert.Equal(t, result{served: 1, peak: 1, echoed: size}, p.terminate())
}

func TestThousandConnectionsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 1_000
	p := start(t)
	clients := make([]*client, n)
	echoed := 0
	for i := range clients {
		clients[i] = dial(t, p)
		_, err := fmt.Fprint(clients[i], i)
		require.NoError(t, err)
	}
	for i, c := range clients {
		c.expect(fmt.Sprint(i))
		echoed += len(fmt.Sprint(i))
	}
	for _, c := range clients {
		require.NoError(t, c.CloseWrite())
	}
	for _, c := range clients {
		c.expectEnd()
	}
	assert.Equal(t, result{served: n, peak: n, echoed: echoed}, p.terminate())
}

func TestIPv6(t *testing.T) {
	t.Parallel()
	probe, err := net.Listen("tcp6", "[::1]:0")
	if err != nil { // there is none: the program says so
		p := launch(t, nil, "-addr", "[::1]:0")
		assert.Equal(t, exitFailure, p.exit())
		assert.Contains(t, p.errs.String(), "echo: listen on [::1]:0: ")
		return
	}
	require.NoError(t, probe.Close())
	p := start(t, "-addr", "[::1]:0")
	assert.Regexp(t, `^\[::1\]:\d+$`, p.addr)
	dial(t, p).roundTrip("six")
	assert.Equal(t, result{served: 1, peak: 1, echoed: 3}, p.terminate())
}

func TestAfterHalfCloseTheRestIsEchoed(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := dialSlow(t, p)
	sent := c.stuff()
	require.NoError(t, c.CloseWrite())
	c.expectPattern(sent)
	c.expectEnd()
	assert.Equal(t, result{served: 1, peak: 1, echoed: sent}, p.terminate())
}

func TestResetEndsOnlyItsConnection(t *testing.T) {
	t.Parallel()
	p := start(t)
	innocent, idle, owing := dial(t, p), dial(t, p), dialSlow(t, p)
	innocent.roundTrip("before")
	idle.roundTrip("x")
	stuffed := owing.stuff()
	idle.reset()
	owing.reset()
	p.out.await(t, regexp.MustCompile(`\n1 open, 3 served`))
	innocent.roundTrip("after")
	got := p.terminate()
	assert.Equal(t, 2, got.broken, p.out.String())
	assert.Equal(t, 3, got.served)
	assert.Zero(t, got.cutOff)
	assert.Less(t, got.echoed, stuffed)
	assert.Regexp(t, "the last with: (connection reset by peer|broken pipe)", p.out.String())
}

func TestLineASecond(t *testing.T) {
	t.Parallel()
	quiet := start(t, "-quiet") // first, so that its second is over first
	p := start(t)
	dial(t, quiet).roundTrip("hello")
	dial(t, p).roundTrip("hello")
	p.out.await(t, regexp.MustCompile(`\n1 open, 1 served, 5 B echoed, \d B/s\n`))
	quiet.terminate()
	assert.Len(t, quiet.out.lines(), 3, "the address, the ending, the summary")
	p.terminate()
}
