package cuv_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
)

func TestError_CarriesCodeNameAndMessageAndUnwrapsToTheErrno(t *testing.T) {
	for _, c := range []struct {
		code          int
		name, message string
		errno         syscall.Errno
	}{
		{-int(syscall.EPERM), "EPERM", "operation not permitted", syscall.EPERM},
		{-int(syscall.EBADF), "EBADF", "bad file descriptor", syscall.EBADF},
		{-int(syscall.EEXIST), "EEXIST", "file already exists", syscall.EEXIST},
		{-int(syscall.EBUSY), "EBUSY", "resource busy or locked", syscall.EBUSY},
		{-int(syscall.ECONNREFUSED), "ECONNREFUSED", "connection refused", syscall.ECONNREFUSED},
		{-int(syscall.ENOENT), "ENOENT", "no such file or directory", syscall.ENOENT},
		{-4095, "EOF", "end of file", 0},
		{-3008, "EAI_NONAME", "unknown node or service", 0},
		{-4080, "ECHARSET", "invalid Unicode character", 0},
	} {
		err := cuv.NewError("uv_call", c.code)
		var typed *cuv.Error
		require.True(t, errors.As(err, &typed))
		assert.Equal(t, cuv.Error{Op: "uv_call", Code: c.code, Name: c.name, Message: c.message}, *typed)
		assert.Equal(t, "uv_call: "+c.name+": "+c.message, err.Error())
		if c.errno != 0 {
			assert.ErrorIs(t, err, c.errno)
			assert.NotErrorIs(t, err, c.errno+1)
		} else {
			assert.NoError(t, errors.Unwrap(err), "no errno of the system")
		}
	}
	assert.ErrorIs(t, cuv.NewError("uv_call", -int(syscall.EPERM)), fs.ErrPermission)
	assert.ErrorIs(t, cuv.NewError("uv_call", -int(syscall.ENOENT)), fs.ErrNotExist)
	for _, code := range []int{0, 1, 100} {
		assert.NoError(t, cuv.NewError("uv_call", code), "no error")
	}
	assert.ErrorContains(t, cuv.NewError("uv_call", -999), "999", "a code that libuv does not know")
}

func TestKind_CountsPerLoopAndPerProcess(t *testing.T) {
	assert.Equal(t, []string{"timer", "poll", "signal", "async"}, names())
	before := cuv.ProcessHandles()
	a, b := newLoop(t), newLoop(t)
	r, _ := pipe(t)
	var timers [3]cuv.Timer
	var poll cuv.Poll
	var asyncs [2]cuv.Async
	o := &owner{}
	for i := range timers {
		require.NoError(t, timers[i].Start(a, o, 3_600_000*ms, false))
	}
	require.NoError(t, poll.Open(a, o, r))
	for i := range asyncs {
		require.NoError(t, asyncs[i].Open(b, o, false))
	}
	a.Flush()
	assert.Equal(t, cuv.HandleCount{Opened: 3}, a.Handles(cuv.KindTimer))
	assert.Equal(t, cuv.HandleCount{Opened: 1}, a.Handles(cuv.KindPoll))
	assert.Zero(t, a.Handles(cuv.KindAsync), "the loop's own wake-up is not counted")
	assert.Equal(t, cuv.HandleCount{Opened: 2}, b.Handles(cuv.KindAsync))
	assert.Equal(t, map[string]int{"timer": 3, "poll": 1}, a.Walk())
	assert.Equal(t, map[string]int{"async": 2}, b.Walk())

	timers[0].Close(a)
	turn(t, a, false)
	assert.Equal(t, cuv.HandleCount{Opened: 3, Closed: 1}, a.Handles(cuv.KindTimer))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	after := cuv.ProcessHandles()
	for k, n := range map[cuv.Kind]uint64{cuv.KindTimer: 3, cuv.KindPoll: 1, cuv.KindAsync: 2, cuv.KindSignal: 0} {
		assert.Equal(t, n, after[k].Opened-before[k].Opened, "%v", k)
		assert.Equal(t, n, after[k].Closed-before[k].Closed, "%v", k)
	}
}

func names() []string {
	var list []string
	for _, k := range cuv.Kinds {
		list = append(list, k.String())
	}
	return list
}
