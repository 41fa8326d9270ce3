package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// client is the other end of a connection to a program.
type client struct {
	*net.TCPConn
	t   *testing.T
	got int // bytes of the pattern that have come back
}

func dial(t *testing.T, p *program) *client {
	t.Helper()
	return dialWith(t, p, net.Dialer{})
}

// dialSlow is for a client that will not read: the less it takes on its behalf, the sooner the server feels it.
func dialSlow(t *testing.T, p *program) *client {
	t.Helper()
	return dialWith(t, p, net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		controlErr := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
		if controlErr != nil {
			return controlErr
		}
		return err
	}})
}

func dialWith(t *testing.T, p *program, d net.Dialer) *client {
	t.Helper()
	d.Timeout = testPatience
	conn, err := d.Dial("tcp", p.addr)
	require.NoError(t, err)
	c := &client{TCPConn: conn.(*net.TCPConn), t: t}
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(testPatience)))
	return c
}

// roundTrip sends data and waits for it to come back.
func (c *client) roundTrip(data string) {
	c.t.Helper()
	_, err := c.Write([]byte(data))
	require.NoError(c.t, err)
	c.expect(data)
}

func (c *client) expect(data string) {
	c.t.Helper()
	got := make([]byte, len(data))
	_, err := io.ReadFull(c, got)
	require.NoError(c.t, err)
	require.Equal(c.t, data, string(got))
}

// expectEnd waits for the server to close the connection.
func (c *client) expectEnd() {
	c.t.Helper()
	n, err := c.Read(make([]byte, 1))
	require.Equal(c.t, io.EOF, err)
	require.Zero(c.t, n)
}

// reset ends the connection the hard way.
func (c *client) reset() {
	c.t.Helper()
	require.NoError(c.t, c.SetLinger(0))
	require.NoError(c.t, c.Close())
}

// enough is more than kernels buffer; a server that takes so much without giving it back has no back-pressure.
const enough = 64 << 20

// stuff sends without reading until nothing goes any more, and returns how much went.
func (c *client) stuff() (sent int) {
	c.t.Helper()
	// Nothing tells that it is stuck but that it stays so.
	const stuck = 500 * time.Millisecond
	for sent < enough {
		require.NoError(c.t, c.SetWriteDeadline(time.Now().Add(stuck)))
		n, err := c.Write(patternFrom(sent, 1<<20))
		sent += n
		if n == 0 {
			require.ErrorIs(c.t, err, os.ErrDeadlineExceeded)
			require.NoError(c.t, c.SetDeadline(time.Now().Add(testPatience)))
			return sent
		}
	}
	require.FailNow(c.t, "the server takes everything and gives nothing back")
	return sent
}

// sendPattern sends the first n bytes of the pattern.
func (c *client) sendPattern(n int) error {
	for sent := 0; sent < n; {
		more, err := c.Write(patternFrom(sent, n-sent))
		if err != nil {
			return err
		}
		sent += more
	}
	return nil
}

// expectPattern reads the next n bytes of the pattern.
func (c *client) expectPattern(n int) {
	c.t.Helper()
	buf := make([]byte, 64<<10)
	for end := c.got + n; c.got < end; {
		want := patternFrom(c.got, min(end-c.got, len(buf)))
		_, err := io.ReadFull(c, buf[:len(want)])
		require.NoError(c.t, err, "after %d bytes", c.got)
		require.True(c.t, bytes.Equal(want, buf[:len(want)]), "wrong data after %d bytes", c.got)
		c.got += len(want)
	}
}

// unacknowledged is how much of what was sent the server's kernel does not have yet.
func (c *client) unacknowledged() (n int32) {
	c.t.Helper()
	raw, err := c.SyscallConn()
	require.NoError(c.t, err)
	var errno syscall.Errno
	require.NoError(c.t, raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&n)))
	}))
	require.Zero(c.t, errno)
	return n
}

// pattern is data in which nothing can be missing, doubled or moved without being seen: it does not repeat within itself,
// and when it starts anew that is at no round number.
var pattern = func() (data [1<<20 - 3]byte) {
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	return data
}()

// patternFrom is the pattern from an offset on, not more than n bytes of it and at least one.
func patternFrom(offset, n int) []byte {
	i := offset % len(pattern)
	return pattern[i:min(i+n, len(pattern))]
}
