package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestBlock_CANC28_AContextOfSomebodyElse(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			ctx, cancel := context.WithCancelCause(context.Background())
			began := make(chan struct{})
			go func() {
				<-began
				cancel(errStop)
			}()
			err := co.WithContext(ctx, func(co *scheduler.Coroutine) error {
				close(began)
				err := co.Delay(time.Hour)
				assert.Equal(t, err, co.Err())
				assert.Equal(t, err, co.Yield(), "it stays")
				return err
			})
			cotest.IsCancelled(t, err, errStop)
			require.NoError(t, co.Err(), "after the block co is as before")
			require.NoError(t, co.Yield())

			err = co.WithContext(ctx, func(co *scheduler.Coroutine) error { return co.Yield() })
			cotest.IsCancelled(t, err, errStop)

			until := time.Now().Add(time.Hour)
			bounded, stop := context.WithDeadline(context.Background(), until)
			defer stop()
			return co.WithContext(bounded, func(co *scheduler.Coroutine) error {
				deadline, ok := co.Deadline()
				assert.True(t, ok && deadline.Equal(until))
				return co.Delay(ms)
			})
		})
	})
}

func TestBlock_WithContextRefuses(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			assert.ErrorIs(t, co.WithContext(noContext, func(*scheduler.Coroutine) error { return nil }), event.ErrInvalidArgument)
			assert.ErrorIs(t, co.WithContext(context.Background(), nil), event.ErrInvalidArgument)
			assert.Equal(t, errBoom, co.WithContext(context.Background(), func(*scheduler.Coroutine) error { return errBoom }))
			return nil
		})
		var none *scheduler.Coroutine
		err := none.WithContext(context.Background(), func(*scheduler.Coroutine) error { return nil })
		assert.True(t, errors.Is(err, event.ErrUsage))
	})
}
