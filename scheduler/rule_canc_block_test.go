package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// asBefore checks that nothing of a block is left.
func asBefore(t *testing.T, e *cotest.Env, co *scheduler.Coroutine) {
	t.Helper()
	assert.NoError(t, co.Err())
	_, limited := co.Deadline()
	assert.False(t, limited)
	assert.False(t, closed(co.Done()))
	assert.False(t, co.CancellationRequested())
	assert.NoError(t, co.Yield())
	assert.NoError(t, co.Delay(ms))
	assert.Zero(t, e.W.Live())
}

func TestBlock_CANC28_ATimeLimitEndsWhatIsInIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		blocks := map[string]func(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error{
			"WithTimeout": func(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error {
				return co.WithTimeout(2*ms, fn)
			},
			"WithDeadline": func(co *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error {
				return co.WithDeadline(e.W.Now().Add(2*ms), fn)
			},
		}
		for blockName, block := range blocks {
			for name, wait := range waits(e) {
				if name == "Yield" {
					continue
				}
				e.MustRun(func(co *scheduler.Coroutine) error {
					began := e.W.Now()
					err := block(co, func(in *scheduler.Coroutine) error {
						assert.Same(t, co, in)
						at, limited := co.Deadline()
						assert.True(t, limited)
						assert.False(t, at.Before(began.Add(2*ms)))
						assert.NoError(t, co.Err())
						done := co.Done()
						assert.False(t, closed(done))
						err := wait(co)
						assert.GreaterOrEqual(t, e.W.Now().Sub(began), 2*ms, "%s, %s", blockName, name)
						cotest.IsTimeout(t, err)
						assert.Same(t, err, co.Err())
						assert.True(t, closed(done))
						assert.True(t, closed(co.Done()))
						assert.Same(t, err, co.Yield(), "every suspension point fails")
						assert.Same(t, err, co.Delay(ms))
						return fmt.Errorf("in the block: %w", err)
					})
					cotest.IsTimeout(t, err)
					assert.ErrorContains(t, err, "in the block", "it returns what the block did")
					asBefore(t, e, co)
					return nil
				})
			}
		}
	})
}

func TestBlock_CANC28_OneThatEndsInTimeLeavesNothing(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, want := range []error{nil, errBoom} {
				err := co.WithTimeout(hour, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return want })
				assert.True(t, err == want)
				err = co.WithCancel(func(co *scheduler.Coroutine, _ func(error)) error { _ = co.Delay(ms); return want })
				assert.True(t, err == want)
				asBefore(t, e, co)
			}
			assert.PanicsWithValue(t, errBoom, func() {
				_ = co.WithTimeout(hour, func(*scheduler.Coroutine) error { panic(errBoom) })
			})
			assert.PanicsWithValue(t, errBoom, func() {
				_ = co.WithCancel(func(_ *scheduler.Coroutine, cancel func(error)) error { cancel(nil); panic(errBoom) })
			})
			asBefore(t, e, co)
			return nil
		})
	})
}

func TestBlock_CANC28_ADeadlineThatHasPassed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, ago := range []time.Duration{0, ms, hour} {
				at := e.W.Now().Add(-ago)
				err := co.WithDeadline(at, func(co *scheduler.Coroutine) error {
					cotest.IsTimeout(t, co.Err())
					cotest.IsTimeout(t, co.Yield())
					assert.True(t, closed(co.Done()))
					limit, _ := co.Deadline()
					assert.True(t, limit.Equal(at))
					return co.Yield()
				})
				cotest.IsTimeout(t, err)
				asBefore(t, e, co)
			}
			return nil
		})
	})
}

func TestBlock_CANC28_CancelledByHand(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, wait := range waits(e) {
				if name == "Yield" {
					continue
				}
				var late func(error)
				err := co.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
					late = cancel
					e.After(ms, func() { cancel(errStop); cancel(errOther) })
					err := wait(co)
					cotest.IsCancelled(t, err, errStop)
					assert.NotErrorIs(t, err, errOther)
					assert.Same(t, err, co.Yield())
					return err
				})
				assert.NoError(t, err, "%s: its own cancellation is absorbed", name)
				late(errBoom)
				asBefore(t, e, co)
			}
			// By itself, with code after it.
			err := co.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
				cancel(errStop)
				e.Say("went on")
				cotest.IsCancelled(t, co.Err(), errStop)
				return nil
			})
			assert.NoError(t, err)
			assert.Equal(t, []string{"went on"}, e.Said())
			asBefore(t, e, co)
			// Other failures are not absorbed.
			err = co.WithCancel(func(_ *scheduler.Coroutine, cancel func(error)) error { cancel(errStop); return errBoom })
			assert.ErrorIs(t, err, errBoom)
			asBefore(t, e, co)
			return nil
		})
	})
}

func TestBlock_CANC28_OnlyItsOwnCancellationIsAbsorbed(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, block := range map[string]func(self *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error{
				"WithTimeout": func(self *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error {
					return self.WithTimeout(hour, fn)
				},
				"WithCancel": func(self *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error {
					return self.WithCancel(func(co *scheduler.Coroutine, _ func(error)) error { return fn(co) })
				},
				"WithCancel, cancelled too": func(self *scheduler.Coroutine, fn func(co *scheduler.Coroutine) error) error {
					return self.WithCancel(func(co *scheduler.Coroutine, cancel func(error)) error {
						e.After(ms, func() { cancel(errOther) })
						return fn(co)
					})
				},
			} {
				child := e.Spawn(co, func(self *scheduler.Coroutine) error {
					err := block(self, func(self *scheduler.Coroutine) error { return park(self, &line{}) })
					cotest.IsCancelled(t, err, errStop)
					cotest.IsCancelled(t, self.Err(), errStop)
					cotest.IsCancelled(t, self.Yield(), errStop)
					return err
				})
				require.NoError(t, co.Yield())
				require.NoError(t, child.Cancel(errStop))
				_, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
				require.NoError(t, co.Delay(3*ms), name)
			}
			return nil
		})
	})
}
