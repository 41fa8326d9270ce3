package cotest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/uvasync/uvasync/event"
)

// PanicOf calls fn and returns what it panics with, as an error.
func PanicOf(t *testing.T, fn func()) (err error) {
	t.Helper()
	defer func() {
		v := recover()
		var ok bool
		err, ok = v.(error)
		assert.True(t, ok, "it panics with an error, not %v", v)
	}()
	fn()
	return nil
}

// IsCancelled checks that err is a cancellation, not of a token, with the reason.
func IsCancelled(t *testing.T, err, reason error) {
	t.Helper()
	var c *event.CancelledError
	if !assert.ErrorAs(t, err, &c) {
		return
	}
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, c.Token, "it is the coroutine's own")
	if reason == nil {
		assert.NoError(t, c.Reason)
		return
	}
	assert.ErrorIs(t, c.Reason, reason)
}

// IsTokens checks that err is what a wait answers whose token fired, with the token's error.
func IsTokens(t *testing.T, err, reason error) {
	t.Helper()
	var c *event.CancelledError
	if !assert.ErrorAs(t, err, &c) {
		return
	}
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, c.Token, "it is a token's")
	assert.Equal(t, reason, c.Reason)
}

// IsUsage checks that err is a UsageError that mentions each of the words.
func IsUsage(t *testing.T, err error, words ...string) {
	t.Helper()
	var u *event.UsageError
	if !assert.ErrorAs(t, err, &u) {
		return
	}
	assert.ErrorIs(t, err, event.ErrUsage)
	for _, word := range words {
		assert.Contains(t, err.Error(), word)
	}
	assert.NotEmpty(t, u.Fix)
}

// IsInvalid checks that err is an InvalidArgumentError that names the call and the argument.
func IsInvalid(t *testing.T, err error, call, arg string) {
	t.Helper()
	var i *event.InvalidArgumentError
	if !assert.ErrorAs(t, err, &i) {
		return
	}
	assert.ErrorIs(t, err, event.ErrInvalidArgument)
	assert.Equal(t, call, i.Call)
	assert.Equal(t, arg, i.Arg)
	assert.NotEmpty(t, i.Legal)
}

// IsTimeout checks that err is that of a time limit.
func IsTimeout(t *testing.T, err error) {
	t.Helper()
	assert.ErrorIs(t, err, event.ErrTimeout)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}
