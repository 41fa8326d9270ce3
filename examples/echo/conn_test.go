package main

import (
	"io"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/uvasync/uvasync/reactor"
)

// From outside nobody sees whether the end of the input came while something was owed; here every turn is the test's.
func TestEndOfInputWhileSomethingIsOwed(t *testing.T) {
	s, peer := pair(t)
	sent := pattern[:blockSize/2]
	n, err := syscall.Write(peer, sent)
	require.NoError(t, err)
	require.Len(t, sent, n)
	require.NoError(t, syscall.Shutdown(peer, syscall.SHUT_WR))

	var c *conn
	for c = range s.conns {
	}
	for !c.ended {
		turn(t, s)
	}
	require.False(t, c.backlog.empty())
	require.Len(t, s.conns, 1)

	var got []byte
	for buf := make([]byte, 1000); ; {
		n, err := syscall.Read(peer, buf)
		if err == syscall.EAGAIN {
			turn(t, s)
			continue
		}
		require.NoError(t, err)
		if n == 0 {
			break
		}
		got = append(got, buf[:n]...)
	}
	assert.Equal(t, sent, got)
	assert.Empty(t, s.conns)
	assert.NoError(t, s.stats.lastError)
}

// pair is a server that has one connection, whose socket takes only little, and the other end of it.
func pair(t *testing.T) (s *server, peer int) {
	t.Helper()
	loop, err := reactor.New(reactor.Options{})
	require.NoError(t, err)
	s = &server{loop: loop, out: io.Discard, errs: io.Discard, conns: map[*conn]struct{}{}}
	s.listener, err = newListener(s, netip.MustParseAddrPort("127.0.0.1:0"))
	require.NoError(t, err)
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.SetsockoptInt(fds[0], syscall.SOL_SOCKET, syscall.SO_SNDBUF, 1))
	s.welcome(fds[0])
	require.Len(t, s.conns, 1)
	t.Cleanup(func() {
		s.cutOff()
		s.listener.close()
		assert.NoError(t, syscall.Close(fds[1]))
		assert.NoError(t, loop.Close())
	})
	return s, fds[1]
}

// turn is for a loop that has something to do.
func turn(t *testing.T, s *server) {
	t.Helper()
	_, err := s.loop.Tick(true)
	require.NoError(t, err)
}
