package reactor_test

import (
	"net"
	"syscall"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// pipe returns the two ends of a pipe as plain descriptors, closed with the test if they are still there.
func pipe(t tester) (r, w *descriptor) {
	t.Helper()
	var fds [2]int
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK))
	return own(t, fds[0]), own(t, fds[1])
}

// socketpair returns two connected stream sockets.
func socketpair(t tester) (a, b *descriptor) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	require.NoError(t, err)
	return own(t, fds[0]), own(t, fds[1])
}

// tcpPair returns the two ends of a TCP connection.
func tcpPair(t tester) (a, b *descriptor) {
	t.Helper()
	listener := socket(t, syscall.SOCK_STREAM)
	addr := bind(t, listener)
	require.NoError(t, syscall.Listen(listener.fd, 1))
	a = socket(t, syscall.SOCK_STREAM)
	require.NoError(t, syscall.Connect(a.fd, addr))
	fd, _, err := syscall.Accept4(listener.fd, syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
	require.NoError(t, err)
	b = own(t, fd)
	listener.close()
	require.NoError(t, syscall.SetNonblock(a.fd, true))
	return a, b
}

// socket returns an IPv4 socket in blocking mode.
func socket(t tester, kind int) *descriptor {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, kind|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	return own(t, fd)
}

// bind gives a socket a free port on the loopback interface.
func bind(t tester, d *descriptor) syscall.Sockaddr {
	t.Helper()
	require.NoError(t, syscall.Bind(d.fd, &syscall.SockaddrInet4{Addr: [4]byte(net.IPv4(127, 0, 0, 1).To4())}))
	addr, err := syscall.Getsockname(d.fd)
	require.NoError(t, err)
	return addr
}

// descriptor closes itself once.
type descriptor struct {
	t      tester
	fd     int
	closed bool
}

func own(t tester, fd int) *descriptor {
	d := &descriptor{t: t, fd: fd}
	t.Cleanup(d.close)
	return d
}

func (d *descriptor) close() {
	if !d.closed {
		d.closed = true
		assert.NoError(d.t, syscall.Close(d.fd))
	}
}

// disown says that somebody else closes it.
func (d *descriptor) disown() { d.closed = true }

// takeNumber makes the closed descriptor's number stand for what source stands for.
func (d *descriptor) takeNumber(source *descriptor) *descriptor {
	d.t.Helper()
	require.True(d.t, d.closed)
	if source.fd == d.fd {
		return source // it was the first that is free
	}
	require.NoError(d.t, syscall.Dup3(source.fd, d.fd, syscall.O_CLOEXEC))
	source.close()
	return own(d.t, d.fd)
}

func write(t tester, d *descriptor, data string) {
	t.Helper()
	n, err := syscall.Write(d.fd, []byte(data))
	require.NoError(t, err)
	require.Equal(t, len(data), n)
}

func read(t tester, d *descriptor) string {
	t.Helper()
	buf := make([]byte, 1<<16)
	n, err := syscall.Read(d.fd, buf)
	require.NoError(t, err)
	return string(buf[:n])
}

// fill writes until the descriptor is not writable any more.
func fill(t tester, d *descriptor) {
	t.Helper()
	chunk := make([]byte, 1<<16)
	for {
		if _, err := syscall.Write(d.fd, chunk); err == syscall.EAGAIN {
			break
		} else {
			require.NoError(t, err)
		}
	}
	for {
		if _, err := syscall.Write(d.fd, chunk[:1]); err == syscall.EAGAIN {
			return
		} else {
			require.NoError(t, err)
		}
	}
}

func nonblocking(t tester, d *descriptor) bool {
	t.Helper()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(d.fd), syscall.F_GETFL, 0)
	require.Zero(t, errno)
	return flags&syscall.O_NONBLOCK != 0
}

func newPoll(t tester, l *reactor.Loop, d *descriptor, mask reactor.Readiness) *reactor.Poll {
	t.Helper()
	p, err := l.NewPoll(d.fd, mask)
	require.NoError(t, err)
	return p
}

func startPoll(t tester, l *reactor.Loop, d *descriptor, mask reactor.Readiness) *reactor.Poll {
	t.Helper()
	p := newPoll(t, l, d, mask)
	require.NoError(t, p.Start())
	return p
}

func newProxy(t tester, p *reactor.Poll, mask reactor.Readiness) *reactor.PollProxy {
	t.Helper()
	proxy, err := p.NewProxy(mask)
	require.NoError(t, err)
	return proxy
}

// onReady subscribes fn to a poll.
func onReady(t tester, p *reactor.Poll, fn func(p *reactor.Poll, fired reactor.Readiness, err error)) *event.Callback {
	t.Helper()
	cb, err := p.Subscribe(func(_ *event.Base, _ *event.Callback, result any, err error) {
		fn(p, result.(reactor.Readiness), err)
	})
	require.NoError(t, err)
	return cb
}

// told collects what a poll was told.
type told struct {
	fired []reactor.Readiness
	errs  []error
}

func collect(t tester, p *reactor.Poll) *told {
	t.Helper()
	c := &told{}
	onReady(t, p, func(_ *reactor.Poll, fired reactor.Readiness, err error) {
		c.fired = append(c.fired, fired)
		c.errs = append(c.errs, err)
	})
	return c
}

// readByte and writeByte are for loops that are measured.
func readByte(fd int, buf []byte) error {
	_, err := syscall.Read(fd, buf[:1])
	return err
}

func writeByte(fd int, buf []byte) error {
	_, err := syscall.Write(fd, buf[:1])
	return err
}
