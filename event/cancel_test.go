package event_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/event"
)

func TestCancelledError(t *testing.T) {
	plain := &event.CancelledError{}
	assert.EqualError(t, plain, "cancelled")
	assert.ErrorIs(t, plain, context.Canceled)
	assert.NoError(t, plain.Unwrap())

	why := &event.CancelledError{Reason: io.EOF}
	assert.EqualError(t, why, "cancelled: EOF")
	assert.ErrorIs(t, why, io.EOF)

	token := &event.CancelledError{Reason: event.ErrTimeout, Token: true}
	assert.EqualError(t, token, "operation cancelled by its token: event: timeout")
	assert.ErrorIs(t, token, context.Canceled)
	assert.ErrorIs(t, token, context.DeadlineExceeded)
}

func TestTimeoutError(t *testing.T) {
	err := error(&event.TimeoutError{Call: "scheduler: Await", Limit: time.Second})
	assert.EqualError(t, err, "scheduler: Await: timeout after 1s")
	assert.ErrorIs(t, err, event.ErrTimeout)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotErrorIs(t, err, context.Canceled)
	var net interface{ Timeout() bool }
	assert.True(t, errors.As(err, &net) && net.Timeout())
}

func TestIsCancellation(t *testing.T) {
	cancelled := &event.CancelledError{}
	for err, want := range map[error]bool{
		cancelled:                         true,
		context.Canceled:                  true,
		fmt.Errorf("read: %w", cancelled): true,
		event.WithCause(cancelled, context.Canceled):                true,
		event.WithCause(io.EOF, cancelled):                          false,
		event.Join(cancelled, io.EOF):                               false,
		io.EOF:                                                      false,
		context.DeadlineExceeded:                                    false,
		&event.TimeoutError{}:                                       false,
		&event.PanicError{Value: cancelled}:                         false,
		fmt.Errorf("read: %w", &event.PanicError{Value: cancelled}): false,
	} {
		assert.Equal(t, want, event.IsCancellation(err), "%v", err)
	}
	assert.False(t, event.IsCancellation(nil))
}

func TestWithCause_GEN08_LosesNeither(t *testing.T) {
	assert.NoError(t, event.WithCause(nil, nil))
	assert.Equal(t, io.EOF, event.WithCause(io.EOF, nil))
	assert.Equal(t, io.EOF, event.WithCause(nil, io.EOF))
	both := event.WithCause(io.ErrNoProgress, io.EOF)
	assert.ErrorIs(t, both, io.EOF)
	assert.ErrorIs(t, both, io.ErrNoProgress)
	assert.EqualError(t, both, "multiple Read calls return no data or error (after: EOF)")
	assert.Equal(t, both, event.WithCause(both, io.EOF), "what is in the chain is not added again")
}

func TestJoin(t *testing.T) {
	assert.NoError(t, event.Join())
	assert.NoError(t, event.Join(nil, nil))
	assert.Equal(t, io.EOF, event.Join(nil, io.EOF))
	err := event.Join(io.EOF, nil, io.ErrNoProgress)
	var all *event.CompositeError
	assert.ErrorAs(t, err, &all)
	assert.Equal(t, []error{io.EOF, io.ErrNoProgress}, all.Errors)
	assert.EqualError(t, err, "2 errors: (1) EOF; (2) multiple Read calls return no data or error")
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

func TestBase_LiveCount(t *testing.T) {
	var live event.Count
	var in, out event.Base
	in.Init(event.NopKind{}, &live, 0)
	out.Init(event.NopKind{}, nil, 0)
	assert.Same(t, &live, in.LiveCount())
	assert.Nil(t, out.LiveCount())
}
