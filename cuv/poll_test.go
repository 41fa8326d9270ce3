package cuv_test

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/internal/foreign"
)

// pipe returns the descriptors of a pipe, in blocking mode.
func pipe(t *testing.T) (r, w int) {
	t.Helper()
	var fds [2]int
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC))
	for _, fd := range fds {
		t.Cleanup(func() { _ = syscall.Close(fd) }) // some tests close them earlier
	}
	return fds[0], fds[1]
}

func writeByte(t *testing.T, fd int) {
	t.Helper()
	_, err := syscall.Write(fd, []byte("x"))
	require.NoError(t, err)
}

func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	require.Zero(t, errno)
	return flags&syscall.O_NONBLOCK != 0
}

func TestPoll_OpenFailsAtOnceWithATypedError(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	regular, err := os.CreateTemp(t.TempDir(), "regular")
	require.NoError(t, err)
	defer regular.Close()
	theirs, code := foreign.NewPoll(l.Handle(), r)
	require.Zero(t, code)
	require.Zero(t, theirs.Start(1))

	for fd, errno := range map[int]syscall.Errno{
		-1: syscall.EBADF, 1 << 20: syscall.EBADF, int(regular.Fd()): syscall.EPERM, r: syscall.EEXIST,
	} {
		var p cuv.Poll
		err := p.Open(l, &owner{}, fd)
		var typed *cuv.Error
		require.True(t, errors.As(err, &typed), "%v", err)
		assert.Equal(t, "uv_poll_init", typed.Op)
		assert.ErrorIs(t, err, errno)
		assert.False(t, p.IsOpen())
		p.Close(l, false)
		p.Watch(l, cuv.Readable, true, false) // does nothing
	}
	theirs.Close()
	turn(t, l, false)
	theirs.Free()
	assert.Empty(t, l.Walk())
	assert.Zero(t, l.Handles(cuv.KindPoll).Opened)
}

func TestPoll_WatchTellsWhatCameTrue(t *testing.T) {
	l := newLoop(t)
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer syscall.Close(fds[0])
	defer syscall.Close(fds[1])
	var p cuv.Poll
	var o owner
	require.NoError(t, p.Open(l, &o, fds[0]))
	watch := func(mask cuv.Readiness) uint64 {
		o.payloads = nil
		p.Watch(l, mask, true, false)
		turn(t, l, false)
		if len(o.payloads) == 0 {
			return 0
		}
		require.Len(t, o.payloads, 1)
		return o.payloads[0]
	}
	assert.Zero(t, watch(cuv.Readable))
	assert.EqualValues(t, cuv.Writable, watch(cuv.Writable))
	writeByte(t, fds[1])
	assert.EqualValues(t, cuv.Readable|cuv.Writable, watch(cuv.Readable|cuv.Writable|cuv.Disconnect))
	require.NoError(t, syscall.Shutdown(fds[1], syscall.SHUT_WR))
	assert.EqualValues(t, cuv.Disconnect, watch(cuv.Disconnect))
	assert.Zero(t, watch(0), "stopped")
	p.Close(l, false)
}

func TestPoll_CloseActsBeforeItReturnsAndPutsTheModeBack(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	var p cuv.Poll
	require.NoError(t, p.Open(l, &owner{}, r))
	assert.True(t, nonblocking(t, r))
	p.Watch(l, cuv.Readable, true, false)
	turn(t, l, false)
	p.Close(l, false)
	assert.False(t, nonblocking(t, r))
	p.Close(l, false)

	require.NoError(t, syscall.SetNonblock(r, true))
	require.NoError(t, p.Open(l, &owner{}, r), "the number is free for another handle")
	p.Close(l, false)
	assert.True(t, nonblocking(t, r), "it was so before")
}

func TestPoll_CloseWithTheDescriptor(t *testing.T) {
	l := newLoop(t)
	r, w := pipe(t)
	var p cuv.Poll
	require.NoError(t, p.Open(l, &owner{}, r))
	p.Watch(l, cuv.Readable, true, false)
	turn(t, l, false)
	p.Close(l, true)
	turn(t, l, false)
	_, err := syscall.Write(w, []byte("x"))
	assert.Equal(t, syscall.EPIPE, err)
}

func TestAsync_SendFromManyGoroutinesUntilClose(t *testing.T) {
	l := newLoop(t)
	var a cuv.Async
	assert.False(t, a.Send(), "not open")
	var o owner
	require.NoError(t, a.Open(l, &o, false))
	assert.True(t, a.Send())
	assert.True(t, a.Send())
	turn(t, l, true)
	assert.Len(t, o.statuses, 1)

	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for a.Send() {
			}
		})
	}
	for range 100 {
		turn(t, l, true)
	}
	a.Close(l)
	before := len(o.statuses)
	group.Wait() // each has been told
	a.Close(l)
	turn(t, l, false)
	assert.Len(t, o.statuses, before)
	assert.False(t, a.Send())
	turn(t, l, false)
	assert.Empty(t, l.Walk())
}
