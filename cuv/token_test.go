package cuv_test

import (
	"runtime"
	"testing"
	"time"

	pointer "github.com/mattn/go-pointer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/cuv"
	"github.com/uvasync/uvasync/internal/foreign"
)

func TestToken_DataOfAHandleLeadsToItsOwner(t *testing.T) {
	l := newLoop(t)
	r, _ := pipe(t)
	var timer cuv.Timer
	var poll cuv.Poll
	var async cuv.Async
	owners := map[cuv.Owner]bool{}
	own := func() *owner { o := &owner{}; owners[o] = true; return o }
	require.NoError(t, timer.Start(l, own(), 3_600_000*ms, false))
	require.NoError(t, poll.Open(l, own(), r))
	require.NoError(t, async.Open(l, own(), false))
	l.Flush()
	data := foreign.Data(l.Handle())
	require.Len(t, data, 3)
	var tokens []*cuv.Token
	for _, d := range data {
		token, ok := pointer.Restore(d).(*cuv.Token)
		require.True(t, ok)
		assert.True(t, owners[token.Owner()])
		delete(owners, token.Owner())
		tokens = append(tokens, token)
	}
	assert.Empty(t, owners, "one token each")

	timer.Close(l)
	poll.Close(l, false)
	async.Close(l)
	turn(t, l, false)
	turn(t, l, false)
	for _, token := range tokens {
		assert.Nil(t, token.Owner(), "after the close callback")
	}
	assert.Empty(t, foreign.Data(l.Handle()))
	require.NoError(t, l.Close())
	for _, d := range data {
		assert.Nil(t, pointer.Restore(d), "the token was given back")
	}
}

func TestToken_KeepsTheOwnerAliveUntilTheCloseCallback(t *testing.T) {
	l := newLoop(t)
	var timer cuv.Timer
	gone := make(chan struct{})
	start := func() {
		o := &owner{}
		runtime.AddCleanup(o, func(c chan struct{}) { close(c) }, gone)
		require.NoError(t, timer.Start(l, o, 3_600_000*ms, false))
	}
	start()
	turn(t, l, false)
	for range 3 {
		runtime.GC()
		select {
		case <-gone:
			t.Fatal("collected while C can reach it")
		case <-time.After(time.Millisecond):
		}
	}
	timer.Close(l)
	turn(t, l, false)
	turn(t, l, false)
	for end := time.Now().Add(time.Minute); ; {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatal("not collected after the close callback")
		}
	}
}
