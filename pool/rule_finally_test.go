package pool_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/channel"
	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/pool"
	"github.com/uvasync/uvasync/scheduler"
)

// A pool of a finally handler is open while the run is shut down, and its own scope is closed. Without the panic in OnError it
// never ends.
func TestPool_SHUT01_APoolOfAFinallyHandlerIsRefilledInAShutdown(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		d.cfg.Min = 1
		n := 0
		err := e.Run(func(co *scheduler.Coroutine) error {
			c := e.Spawn(co, func(co *scheduler.Coroutine) error { return nil })
			require.NoError(t, c.OnFinally(func(self, _ *scheduler.Coroutine) error {
				d.cfg.OnError = func(error) {
					if n++; n > 1000 { // without this it never ends
						_ = d.p.Close(self)
					}
				}
				d.open(self)
				require.NoError(t, e.S.Shutdown(nil))
				return d.p.Reset(self)
			}))
			_, _ = co.Await(c)
			return co.Delay(time.Second)
		})
		assert.NotContains(t, fmt.Sprint(err), "bug:")
		assert.Less(t, n, 100)
	})
}

func TestPool_GEN10_ACreateThatEndsTheScopeOfThePool(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		d.cfg.Min = 1
		d.creates(func(co *scheduler.Coroutine, call int) error {
			if call == 1 {
				return nil
			}
			return co.Scope().Dispose(nil)
		})
		e.MustRun(func(co *scheduler.Coroutine) error {
			p := d.open(co)
			require.NoError(t, p.Reset(co), "it is refilled")
			settle(co)
			_, err := p.Acquire(co)
			assert.ErrorIs(t, err, event.ErrClosed)
			return p.AwaitClosed(co)
		})
		assert.Equal(t, d.made, d.gone)
	})
}

// A finally handler uses its pool while the run is shut down: its scope is not cancelled with it (CORO-22).
func TestPool_CORO22_APoolOfAFinallyHandlerWorksInAShutdown(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		_ = e.Run(func(co *scheduler.Coroutine) error {
			c := e.Spawn(co, func(co *scheduler.Coroutine) error { return nil })
			require.NoError(t, c.OnFinally(func(self, _ *scheduler.Coroutine) error {
				p := d.open(self)
				require.NoError(t, self.Delay(5*ms)) // the shutdown comes
				h, err := p.Acquire(self)
				if assert.NoError(t, err) {
					assert.NoError(t, h.Release(self))
				}
				return p.Close(self)
			}))
			_, _ = co.Await(c)
			require.NoError(t, co.Delay(ms))
			return e.S.Shutdown(errStop)
		}, cotest.WithGrace(time.Second))
	})
}

func TestPool_CORO22_AFinallyHandlerMakesAPoolInAShutdown(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		_ = e.Run(func(co *scheduler.Coroutine) error {
			c := e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(hour) })
			require.NoError(t, c.OnFinally(func(self, _ *scheduler.Coroutine) error {
				_, err := channel.New[int](self, 1)
				assert.NoError(t, err)
				_, err = pool.New(self, d.cfg)
				assert.NoError(t, err)
				return nil
			}))
			require.NoError(t, co.Delay(ms))
			return e.S.Shutdown(errStop)
		}, cotest.WithGrace(time.Second))
	})
}

func TestPool_SHUT01_NewInAShutdown(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		d := newDepot(e, 2)
		_ = e.Run(func(co *scheduler.Coroutine) error {
			_ = co.Protect(func(context.Context) error {
				require.NoError(t, e.S.Shutdown(errStop))
				_, err := pool.New(co, d.cfg)
				assert.ErrorIs(t, err, event.ErrClosed)
				return nil
			})
			return nil
		}, cotest.WithGrace(time.Second))
	})
}
