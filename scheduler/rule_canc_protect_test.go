package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestProtect_CANC12_WithoutCancellationItReturnsWhatTheSectionDid(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			for _, want := range []error{nil, errBoom} {
				err := co.Protect(func(ctx context.Context) error {
					assert.NoError(t, ctx.Err())
					assert.NoError(t, co.Yield())
					assert.NoError(t, co.Delay(ms))
					child := e.spawn(co, returns(nil))
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
func (e *env) guarded(co *scheduler.Coroutine, depth int, section, after func(co *scheduler.Coroutine, err error) error) *scheduler.Coroutine {
	child := e.spawn(co, func(self *scheduler.Coroutine) error {
		var enter func(n int) error
		enter = func(n int) error {
			return self.Protect(func(context.Context) error {
				if n > 1 {
					err := enter(n - 1)
					assert.NoError(e.t, err, "an inner Protect does not return the cancellation")
					return err
				}
				return section(self, park(self, &line{}))
			})
		}
		return after(self, enter(depth))
	})
	for !child.Suspended() {
		require.NoError(e.t, co.Yield())
	}
	return child
}

func TestProtect_CANC13_ACancellationWaitsForTheEndOfTheOutermostSection(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for depth := 1; depth <= 3; depth++ {
			e.mustRun(func(co *scheduler.Coroutine) error {
				stored := 0
				var done <-chan struct{}
				child := e.guarded(co, depth, func(self *scheduler.Coroutine, err error) error {
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
					isCancelled(t, err, errStop)
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
				isCancelled(t, err, errStop)
				assert.Equal(t, 7, stored)
				return nil
			})
		}
	})
}

func TestProtect_CANC14_OnlyTheFirstReasonIsKept(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			raised := 0
			child := e.guarded(co, 1, func(_ *scheduler.Coroutine, err error) error { return err },
				func(self *scheduler.Coroutine, err error) error {
					raised++
					isCancelled(t, err, errStop)
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
	each(t, func(t *testing.T, e *env) {
		for _, goesOn := range []bool{false, true} {
			e.mustRun(func(co *scheduler.Coroutine) error {
				child := e.guarded(co, 1, func(_ *scheduler.Coroutine, err error) error { e.say("first"); return err },
					func(self *scheduler.Coroutine, err error) error {
						isCancelled(t, err, errStop)
						if !goesOn {
							return err
						}
						assert.NoError(t, self.Protect(func(context.Context) error {
							assert.NoError(t, self.Delay(ms))
							e.say("second")
							return nil
						}), "the cancellation was told already")
						return err
					})
				require.NoError(t, child.Cancel(errStop))
				require.NoError(t, child.Unpark())
				return nil
			})
			if goesOn {
				assert.Equal(t, []string{"first", "second"}, e.said())
			} else {
				assert.Equal(t, []string{"first"}, e.said())
			}
		}
	})
}

func TestProtect_CANC17_TheSectionsErrorAndTheCancellation(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var got []error
		e.mustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				got = append(got, err)
				return nil
			})
			child := e.guarded(co, 2, func(_ *scheduler.Coroutine, err error) error { return err },
				func(self *scheduler.Coroutine, err error) error { return errors.Join(err, errBoom) })
			direct := e.spawn(co, func(self *scheduler.Coroutine) error {
				return self.Protect(func(context.Context) error { _ = self.Cancel(errStop); return errBoom })
			})
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Unpark())
			yields(co, 3)
			for _, err := range []error{child.Error(), direct.Error()} {
				isCancelled(t, err, errStop)
				assert.ErrorIs(t, err, errBoom)
			}
			return nil
		})
		assert.Len(t, got, 2, "it is a failure, too")
	})
}

func TestProtect_CANC13_CancelledByItselfInside(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			child := e.spawn(co, func(self *scheduler.Coroutine) error {
				err := self.Protect(func(context.Context) error {
					require.NoError(t, self.Cancel(errStop))
					assert.NoError(t, self.Err())
					assert.NoError(t, self.Delay(ms))
					return nil
				})
				isCancelled(t, err, errStop)
				return err
			})
			_, err := co.Await(child)
			isCancelled(t, err, errStop)
			return nil
		})
	})
}

func TestProtect_CANC13_PanicAndGoexitInside(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			child := e.spawn(co, func(self *scheduler.Coroutine) error {
				assert.PanicsWithValue(t, errBoom, func() {
					_ = self.Protect(func(context.Context) error { _ = self.Cancel(errStop); panic(errBoom) })
				})
				isCancelled(t, self.Err(), errStop)
				isCancelled(t, self.Yield(), errStop)
				return self.Err()
			})
			_, err := co.Await(child)
			isCancelled(t, err, errStop)
			return nil
		})
	})
}

// failing makes the run fail when everybody has begun.
func (e *env) failing(bodies ...func(co *scheduler.Coroutine) error) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		for _, body := range bodies {
			e.spawn(co, body)
		}
		yields(co, 1)
		return errBoom
	}
}

func TestShutdown_CANC18_StageOneHonoursProtect(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(e.failing(
			func(co *scheduler.Coroutine) error {
				return co.Protect(func(context.Context) error {
					assert.NoError(t, co.Delay(5*ms))
					e.say("running section")
					return nil
				})
			},
			func(co *scheduler.Coroutine) error {
				isCancelled(t, co.Delay(hour), errBoom)
				return co.Protect(func(context.Context) error {
					assert.NoError(t, co.Delay(10*ms))
					e.say("later section")
					return nil
				})
			}))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		assert.False(t, errors.As(err, &late))
		assert.Equal(t, []string{"running section", "later section"}, e.said())
	})
}

func TestShutdown_CANC18_StageTwoUnwindsWhoeverSuspends(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		deferred := 0
		clean := func() { deferred++ }
		never := func(where string) { t.Error("went on after " + where) }
		err := e.run(e.failing(
			func(co *scheduler.Coroutine) error { // in a section
				defer clean()
				defer func() { assert.Nil(t, recover(), "there is nothing to recover") }()
				_ = co.Protect(func(context.Context) error {
					_ = co.Delay(hour)
					never("a protected wait")
					return nil
				})
				return nil
			},
			func(co *scheduler.Coroutine) error { // parked in a section in a block
				l := &line{}
				defer func() { clean(); assert.Len(t, l.left, 1) }()
				return co.WithTimeout(hour, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						_ = park(co, l)
						never("a parked one")
						return nil
					})
				})
			},
			func(co *scheduler.Coroutine) error { // one that does not care
				defer clean()
				for {
					_ = co.Protect(func(context.Context) error { return co.Delay(ms) })
				}
			},
			func(co *scheduler.Coroutine) error { // its clean-up tries to wait
				defer clean()
				defer func() { _ = co.Delay(ms); never("a wait in a deferred function") }()
				defer func() {
					_ = co.Protect(func(context.Context) error { _ = co.Delay(ms); never("a protected one"); return nil })
				}()
				return co.Protect(func(context.Context) error { return co.Delay(hour) })
			},
			func(co *scheduler.Coroutine) error { // its clean-up spawns
				defer clean()
				defer func() { _, err := co.Spawn(returns(nil)); isUsage(t, err, "Spawn") }()
				return co.Protect(func(context.Context) error { return co.Delay(hour) })
			},
		), withGrace(5*ms))
		assert.ErrorIs(t, err, errBoom)
		var late *scheduler.ShutdownError
		require.ErrorAs(t, err, &late)
		assert.Len(t, late.Coroutines, 5)
		assert.Equal(t, 5, deferred)
	})
}

func TestShutdown_CANC18_APanicOfTheCleanUpIsToldToo(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(e.failing(func(co *scheduler.Coroutine) error {
			defer func() { panic(errOther) }()
			return co.Protect(func(context.Context) error { return co.Delay(hour) })
		}), withGrace(ms))
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
	})
}

// With no grace at all it is stage two at once, and whoever has not started never does.
func TestShutdown_CANC18_WithoutGrace(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				defer e.say("unwound")
				_ = co.Delay(hour)
				e.say("never")
				return nil
			})
			require.NoError(t, co.Yield())
			child := e.spawn(co, e.sayer("never"))
			require.NoError(t, child.OnFinally(func(_, _ *scheduler.Coroutine) error { e.say("finally"); return nil }))
			return errBoom
		}, withGrace(-1))
		assert.ErrorIs(t, err, errBoom)
		assert.ElementsMatch(t, []string{"unwound", "finally"}, e.said())
	})
}

// Whoever keeps running may return in peace: stage two meets it when it suspends.
func TestShutdown_CANC18_StageTwoWhileItRuns(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			defer e.say("deferred")
			require.NoError(t, e.s.Shutdown(errStop))
			e.say("still runs")
			_ = co.Yield()
			e.say("never")
			return nil
		}, withGrace(-1))
		isCancelled(t, err, errStop)
		assert.Equal(t, []string{"still runs", "deferred"}, e.said())
	})
}

func TestDeadlock_CANC18_TheVerdictReachesProtectedWaitsAndLaterOnesWork(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				l := &line{}
				err := park(co, l)
				var dead *scheduler.DeadlockError
				assert.ErrorAs(t, err, &dead)
				assert.ErrorIs(t, err, context.Canceled)
				assert.Len(t, l.left, 1)
				assert.NoError(t, co.Delay(ms), "a later one works")
				_, err = co.Await(e.timer(ms))
				assert.NoError(t, err)
				e.say("cleaned up")
				return nil
			})
		})
		var dead *scheduler.DeadlockError
		require.ErrorAs(t, err, &dead)
		assert.Equal(t, 1, dead.Waiting)
		assert.Equal(t, []string{"cleaned up"}, e.said())
	})
}
