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

func TestProtect_CANC12_WithoutCancellationItReturnsWhatTheSectionDid(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for _, want := range []error{nil, errBoom} {
				err := co.Protect(func(ctx context.Context) error {
					assert.NoError(t, ctx.Err())
					assert.NoError(t, co.Yield())
					assert.NoError(t, co.Delay(ms))
					child := e.Spawn(co, cotest.Fails(nil))
					_, err := co.Await(child)
					assert.NoError(t, err)
					return want
				})
				assert.True(t, err == want, "unchanged")
			}
			assert.PanicsWithValue(t, errBoom, func() { _ = co.Protect(func(context.Context) error { panic(errBoom) }) })
			assert.NoError(t, co.Err())
			return co.Yield()
		})
	})
}

// guarded spawns a coroutine that parks in sections as deep as told, and returns it parked.
func guarded(e *cotest.Env, co *scheduler.Coroutine, depth int, section, after func(co *scheduler.Coroutine, err error) error) *scheduler.Coroutine {
	child := e.Spawn(co, func(self *scheduler.Coroutine) error {
		var enter func(n int) error
		enter = func(n int) error {
			return self.Protect(func(context.Context) error {
				if n > 1 {
					err := enter(n - 1)
					assert.NoError(e.T, err, "an inner Protect does not return the cancellation")
					return err
				}
				return section(self, park(self, &line{}))
			})
		}
		return after(self, enter(depth))
	})
	for !child.Suspended() {
		require.NoError(e.T, co.Yield())
	}
	return child
}

func TestProtect_CANC13_ACancellationWaitsForTheEndOfTheOutermostSection(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for depth := 1; depth <= 3; depth++ {
			e.MustRun(func(co *scheduler.Coroutine) error {
				stored := 0
				var done <-chan struct{}
				child := guarded(e, co, depth, func(self *scheduler.Coroutine, err error) error {
					assert.NoError(t, err)
					assert.True(t, self.CancellationRequested())
					assert.NoError(t, self.Err())
					done = self.Done()
					assert.False(t, closed(done))
					assert.NoError(t, self.Yield())
					assert.NoError(t, self.Delay(ms))
					stored = 7
					return nil
				}, func(self *scheduler.Coroutine, err error) error {
					cotest.IsCancelled(t, err, errStop)
					assert.Same(t, err, self.Err())
					assert.Same(t, err, self.Yield())
					assert.True(t, closed(done))
					assert.True(t, closed(self.Done()))
					return err
				})
				require.NoError(t, child.Cancel(errStop))
				assert.True(t, child.CancellationRequested())
				assert.False(t, child.Cancelled())
				assert.False(t, child.Queued(), "it still waits")
				assert.NoError(t, child.Err())
				require.NoError(t, child.Unpark())
				_, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
				assert.Equal(t, 7, stored)
				return nil
			})
		}
	})
}

func TestProtect_CANC14_OnlyTheFirstReasonIsKept(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			raised := 0
			child := guarded(e, co, 1, func(_ *scheduler.Coroutine, err error) error { return err },
				func(self *scheduler.Coroutine, err error) error {
					raised++
					cotest.IsCancelled(t, err, errStop)
					assert.NotErrorIs(t, err, errOther)
					return err
				})
			require.NoError(t, child.Cancel(errStop))
			for range 3 {
				require.NoError(t, child.Cancel(errOther))
				assert.Equal(t, traits{started: true, suspended: true, requested: true}, traitsOf(child))
			}
			require.NoError(t, child.Unpark())
			_, _ = co.Await(child)
			assert.Equal(t, 1, raised)
			return nil
		})
	})
}

func TestProtect_CANC15_TwoSectionsInARow(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for _, goesOn := range []bool{false, true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				child := guarded(e, co, 1, func(_ *scheduler.Coroutine, err error) error { e.Say("first"); return err },
					func(self *scheduler.Coroutine, err error) error {
						cotest.IsCancelled(t, err, errStop)
						if !goesOn {
							return err
						}
						assert.NoError(t, self.Protect(func(context.Context) error {
							assert.NoError(t, self.Delay(ms))
							e.Say("second")
							return nil
						}), "the cancellation was told already")
						return err
					})
				require.NoError(t, child.Cancel(errStop))
				require.NoError(t, child.Unpark())
				return nil
			})
			if goesOn {
				assert.Equal(t, []string{"first", "second"}, e.Said())
			} else {
				assert.Equal(t, []string{"first"}, e.Said())
			}
		}
	})
}

func TestProtect_CANC17_TheSectionsErrorAndTheCancellation(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var got []error
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				got = append(got, err)
				return nil
			})
			child := guarded(e, co, 2, func(_ *scheduler.Coroutine, err error) error { return err },
				func(self *scheduler.Coroutine, err error) error { return errors.Join(err, errBoom) })
			direct := e.Spawn(co, func(self *scheduler.Coroutine) error {
				return self.Protect(func(context.Context) error { _ = self.Cancel(errStop); return errBoom })
			})
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Unpark())
			cotest.Yields(co, 3)
			for _, err := range []error{child.Error(), direct.Error()} {
				cotest.IsCancelled(t, err, errStop)
				assert.ErrorIs(t, err, errBoom)
			}
			return nil
		})
		assert.Len(t, got, 2, "it is a failure, too")
	})
}

func TestProtect_CANC13_CancelledByItselfInside(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				err := self.Protect(func(context.Context) error {
					require.NoError(t, self.Cancel(errStop))
					assert.NoError(t, self.Err())
					assert.NoError(t, self.Delay(ms))
					return nil
				})
				cotest.IsCancelled(t, err, errStop)
				return err
			})
			_, err := co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
	})
}

func TestProtect_CANC13_PanicAndGoexitInside(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, func(self *scheduler.Coroutine) error {
				assert.PanicsWithValue(t, errBoom, func() {
					_ = self.Protect(func(context.Context) error { _ = self.Cancel(errStop); panic(errBoom) })
				})
				cotest.IsCancelled(t, self.Err(), errStop)
				cotest.IsCancelled(t, self.Yield(), errStop)
				return self.Err()
			})
			_, err := co.Await(child)
			cotest.IsCancelled(t, err, errStop)
			return nil
		})
	})
}

// leaver is a line whose owner cancels who leaves.
type leaver struct{}

func (leaver) Leave(co *scheduler.Coroutine) { _ = co.Cancel(errStop) }
func (leaver) Info() string                  { return "leaver" }

func TestPark_CANC22_AnOwnerThatCancelsWhoLeavesWakesItOnce(t *testing.T) {
	ends := map[string]func(e *cotest.Env) scheduler.WaitOption{
		"timeout": func(*cotest.Env) scheduler.WaitOption { return scheduler.Timeout(ms) },
		"token": func(e *cotest.Env) scheduler.WaitOption {
			g := e.Gate()
			e.After(ms, func() { g.Open(nil, errBoom) })
			return scheduler.Token(g)
		},
		"disposed token": func(e *cotest.Env) scheduler.WaitOption {
			g := e.Gate()
			e.After(ms, g.Dispose)
			return scheduler.Token(g)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
				e.MustRun(func(co *scheduler.Coroutine) error {
					child := e.Spawn(co, func(self *scheduler.Coroutine) error {
						require.NoError(t, self.Enter("wait"))
						assert.Error(t, self.Park("wait", leaver{}, end(e)))
						err := self.Protect(func(context.Context) error {
							from := self.Now()
							assert.NoError(t, self.Delay(hour))
							assert.Equal(t, hour, self.Now().Sub(from), "the next wait is whole")
							return nil
						})
						assert.NoError(t, err)
						return self.Err()
					})
					_, err := co.Await(child)
					cotest.IsCancelled(t, err, errStop)
					return nil
				})
			})
		})
	}
}
