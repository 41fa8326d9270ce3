package event

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestErrors_EachMatchesItsSentinelAndNoOther(t *testing.T) {
	sentinels := []error{ErrClosed, ErrTimeout, ErrUsage, ErrInvalidArgument, context.DeadlineExceeded}
	for want, errs := range map[error][]error{
		ErrClosed:          {&ClosedError{Call: "x: Y", What: "z"}, ErrClosed},
		ErrUsage:           {&UsageError{"x: Y", "problem", "fix"}, ErrUsage},
		ErrInvalidArgument: {&InvalidArgumentError{"x: Y", "n", -1, "it must not be negative"}, ErrInvalidArgument},
		ErrTimeout:         {ErrTimeout},
		nil:                {&PanicError{Value: "boom"}},
	} {
		for _, err := range errs {
			wrapped := fmt.Errorf("while testing: %w", err)
			for _, sentinel := range sentinels {
				match := sentinel == want || want == ErrTimeout && sentinel == context.DeadlineExceeded
				assert.Equal(t, match, errors.Is(wrapped, sentinel), "%v is %v", err, sentinel)
			}
		}
	}
}

func TestErrors_TimeoutIsATimeoutForTheStandardLibrary(t *testing.T) {
	var timeout interface{ Timeout() bool }
	assert.ErrorAs(t, ErrTimeout, &timeout)
	assert.True(t, timeout.Timeout())
	assert.EqualError(t, ErrTimeout, "event: timeout")
	assert.NotErrorIs(t, context.DeadlineExceeded, ErrTimeout)
}

func TestErrors_CarryTheirReasons(t *testing.T) {
	closed := &ClosedError{Call: "reactor: Poll.Start", What: "poll 7", Reason: io.EOF}
	assert.EqualError(t, closed, "reactor: Poll.Start: poll 7 is closed; make a new one: EOF")
	assert.ErrorIs(t, closed, io.EOF)
	assert.NotErrorIs(t, &ClosedError{}, io.EOF)

	panicked := &PanicError{Value: io.EOF, Stack: []byte("stack")}
	assert.EqualError(t, panicked, "event: user code panicked: EOF")
	assert.ErrorIs(t, panicked, io.EOF)
	assert.NoError(t, errors.Unwrap(&PanicError{Value: "boom"}))
}

func TestErrors_InvalidArgumentShowsTheValue(t *testing.T) {
	for want, got := range map[string]any{
		"a: B: c is nil; d":   nil,
		"a: B: c is -1s; d":   -time.Second,
		`a: B: c is "x y"; d`: "x y",
		`a: B: c is ""; d`:    "",
	} {
		assert.EqualError(t, &InvalidArgumentError{"a: B", "c", got, "d"}, want)
	}
}
