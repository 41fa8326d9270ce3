package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestBlock_CANC28_Nested(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			// The inner one fires: the outer goes on.
			err := co.WithTimeout(hour, func(co *scheduler.Coroutine) error {
				outer, _ := co.Deadline()
				outerDone := co.Done()
				err := co.WithTimeout(ms, func(co *scheduler.Coroutine) error {
					inner, _ := co.Deadline()
					assert.True(t, inner.Before(outer))
					return co.Delay(hour)
				})
				cotest.IsTimeout(t, err)
				at, _ := co.Deadline()
				assert.Equal(t, outer, at)
				assert.NoError(t, co.Err())
				assert.False(t, closed(outerDone))
				return co.Delay(ms)
			})
			assert.NoError(t, err)
			// The outer one fires: both fail, and the inner does not absorb it.
			err = co.WithTimeout(2*ms, func(co *scheduler.Coroutine) error {
				outer, _ := co.Deadline()
				err := co.WithTimeout(hour, func(co *scheduler.Coroutine) error {
					at, _ := co.Deadline()
					assert.Equal(t, outer, at, "the earlier one")
					return co.WithCancel(func(co *scheduler.Coroutine, _ func(error)) error { return co.Delay(hour) })
				})
				cotest.IsTimeout(t, err)
				assert.Error(t, co.Err())
				return err
			})
			cotest.IsTimeout(t, err)
			// Both.
			err = co.WithCancel(func(co *scheduler.Coroutine, outer func(error)) error {
				err := co.WithCancel(func(co *scheduler.Coroutine, inner func(error)) error {
					inner(errOther)
					outer(errStop)
					return co.Yield()
				})
				cotest.IsCancelled(t, co.Yield(), errStop)
				return errors.Join(err, co.Err())
			})
			assert.ErrorIs(t, err, errStop)
			asBefore(t, e, co)
			return nil
		})
	})
}

func TestBlock_CANC28_AroundAndInsideAProtectedSection(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			// Block, section: the section is not disturbed, and returns the block's cancellation.
			err := co.WithTimeout(ms, func(co *scheduler.Coroutine) error {
				err := co.Protect(func(context.Context) error {
					_, limited := co.Deadline()
					assert.False(t, limited, "nothing in effect here has one")
					assert.NoError(t, co.Delay(5*ms))
					assert.NoError(t, co.Err())
					return errBoom
				})
				cotest.IsTimeout(t, err)
				assert.ErrorIs(t, err, errBoom)
				cotest.IsTimeout(t, co.Yield())
				return err
			})
			cotest.IsTimeout(t, err)
			asBefore(t, e, co)
			// Section, block: a limit works in it.
			err = co.Protect(func(context.Context) error {
				err := co.WithTimeout(ms, func(co *scheduler.Coroutine) error { return co.Delay(hour) })
				cotest.IsTimeout(t, err)
				assert.NoError(t, co.Err())
				return co.Yield()
			})
			assert.NoError(t, err)
			asBefore(t, e, co)
			// Block, section, block; everything is cancelled, from the outside in.
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				return self.WithCancel(func(self *scheduler.Coroutine, outer func(error)) error {
					err := self.Protect(func(context.Context) error {
						err := self.WithCancel(func(self *scheduler.Coroutine, inner func(error)) error {
							require.NoError(t, self.Cancel(errStop))
							outer(errOther)
							assert.NoError(t, self.Yield())
							assert.NoError(t, self.Delay(ms))
							assert.NoError(t, self.Err())
							e.After(ms, func() { inner(errBoom) })
							err := self.Delay(hour)
							cotest.IsCancelled(t, err, errBoom)
							assert.NotErrorIs(t, err, errStop)
							return nil
						})
						assert.NoError(t, self.Yield())
						return err
					})
					cotest.IsCancelled(t, err, errStop)
					return err
				})
			})
			_, err = co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
	})
}

// A coroutine that is cancelled already may begin a section, and a block in it.
func TestBlock_CANC28_InACancelledCoroutine(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := cancelled(e, co, errStop, func(self *scheduler.Coroutine, first error) error {
				assert.Same(t, first, self.WithTimeout(ms, func(*scheduler.Coroutine) error { t.Error("it ran"); return nil }))
				assert.NoError(t, self.Protect(func(context.Context) error {
					assert.NoError(t, self.WithTimeout(hour, func(self *scheduler.Coroutine) error { return self.Delay(ms) }))
					cotest.IsTimeout(t, self.WithTimeout(ms, func(self *scheduler.Coroutine) error { return self.Delay(hour) }))
					return nil
				}))
				assert.Same(t, first, self.Err())
				return first
			})
			_, err := co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
	})
}

// GEN-02 for blocks: the limit is over while the coroutine is woken in it.
func TestBlock_GEN02_FiresWhileTheCoroutineIsWoken(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			var cancel func(error)
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				return self.WithCancel(func(self *scheduler.Coroutine, c func(error)) error {
					cancel = c
					err := park(self, l)
					cotest.IsCancelled(t, err, errStop)
					return err
				})
			})
			require.NoError(t, co.Yield())
			require.NoError(t, child.Unpark())
			cancel(errStop)
			assert.Equal(t, []*scheduler.Coroutine{child}, l.left)
			assert.False(t, child.CancellationRequested())
			_, err := co.Await(child)
			assert.NoError(t, err)
			assert.False(t, child.Cancelled())
			return nil
		})
	})
}
