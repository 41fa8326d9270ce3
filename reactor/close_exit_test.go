package reactor_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/reactor"
)

// What was posted runs in Close at the latest. Whatever it does, the loop is closed.
func TestLoop_CloseIsCompleteWhateverWasPosted(t *testing.T) {
	for name, do := range map[string]func(){"panic": func() { panic("posted") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			l, err := reactor.New(reactor.Options{})
			require.NoError(t, err)
			startDeadline(t, l, ms, func() {})
			ran := 0
			require.NoError(t, l.Post(do))
			require.NoError(t, l.Post(func() { ran++ }))
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				_ = l.Close()
			}()
			<-done
			assert.Equal(t, 1, ran)
			_, err = l.NewTimer(ms)
			assert.ErrorIs(t, err, event.ErrClosed)
			assert.NoError(t, l.Close())
			for kind, n := range l.Stats().Handles {
				assert.Equal(t, n.Opened, n.Closed, kind)
			}
		})
	}
}
