package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SHUT04_ExitHooksMaySpawnAndWhatTheySpawnRuns(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			return errors.Join(
				co.OnFinally(func(self, _ *scheduler.Coroutine) error {
					e.spawn(self, func(co *scheduler.Coroutine) error {
						defer e.say("spawned")
						return co.Protect(func(context.Context) error { return co.Delay(ms) })
					})
					return nil
				}),
				errBoom)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"spawned"}, e.said())
	})
}

func TestScheduler_SHUT04_CleanUpThatIsUnderWayGoesOnInAShutdown(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			child := e.spawn(co, e.sayer("child"))
			require.NoError(t, child.OnFinally(func(self, _ *scheduler.Coroutine) error {
				if err := self.Delay(5 * ms); err != nil { // the shutdown comes meanwhile
					return err
				}
				e.spawn(self, e.sayer("spawned"))
				return self.Delay(ms)
			}))
			if err := co.Delay(ms); err != nil {
				return err
			}
			return errBoom
		})
		assert.Same(t, errBoom, err, "CORO-22: the clean-up saw no cancellation")
		assert.Equal(t, []string{"child", "spawned"}, e.said())
	})
}

func TestScheduler_SHUT05_IdleHelpersNeverDelayTheEnd(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var helper error
		from := e.w.Now()
		e.mustRun(func(co *scheduler.Coroutine) error {
			for range 3 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
					for {
						if helper = co.Delay(time.Hour); helper != nil {
							return helper
						}
					}
				}, scheduler.Hidden())
			}
			timer := e.timer(time.Hour)
			require.NoError(t, timer.Start())
			t.Cleanup(func() { assert.NoError(t, timer.Close()) })
			return co.Yield()
		})
		isCancelled(t, helper, scheduler.ErrRunOver)
		assert.Less(t, e.w.Now().Sub(from), time.Hour)
	})
}

func TestScheduler_SHUT05_AHelperThatFailsWhileTheRunEndsIsHeard(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error {
				_ = co.Delay(time.Hour)
				return errBoom
			}, scheduler.Hidden())
			return co.Yield()
		})
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScheduler_SHUT06_NothingIsLeftAfterARunWhateverItsEnd(t *testing.T) {
	ends := map[string]func(e *env, co *scheduler.Coroutine) error{
		"return":   func(*env, *scheduler.Coroutine) error { return nil },
		"failure":  func(*env, *scheduler.Coroutine) error { return errBoom },
		"panic":    func(*env, *scheduler.Coroutine) error { panic("boom") },
		"deadlock": func(e *env, co *scheduler.Coroutine) error { return waiter(e.gate())(co) },
		"shutdown": func(e *env, co *scheduler.Coroutine) error { return e.s.Shutdown(nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *env) {
				timer, trigger, g := e.timer(time.Hour), e.trigger(), e.liveGate()
				_ = e.run(func(co *scheduler.Coroutine) error {
					var l line
					for _, body := range []func(co *scheduler.Coroutine) error{
						waiter(timer), waiter(trigger, scheduler.Timeout(time.Hour)), waiter(g, scheduler.Token(timer)),
						func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) },
						func(co *scheduler.Coroutine) error {
							return park(co, &l, scheduler.Timeout(time.Hour), scheduler.Token(trigger))
						},
						func(co *scheduler.Coroutine) error {
							_, _, err := co.AwaitFirst([]event.Event{g, timer, trigger})
							return err
						},
						func(co *scheduler.Coroutine) error {
							return co.WithTimeout(time.Hour, func(co *scheduler.Coroutine) error { return waiter(g)(co) })
						},
					} {
						if name == "deadlock" {
							break // a visible wait would prevent it
						}
						e.spawn(co, body, scheduler.Hidden())
						e.spawn(co, func(co *scheduler.Coroutine) error {
							child := e.spawn(co, body)
							return errors.Join(co.Yield(), child.Cancel(nil))
						})
					}
					yields(co, 3)
					return end(e, co)
				})
				assert.Zero(t, e.w.Live())
				assert.False(t, timer.Started())
				assert.False(t, trigger.Started())
				assert.Equal(t, g.starts, g.stops)
				assert.Zero(t, g.Callbacks())
				require.NoError(t, errors.Join(timer.Close(), trigger.Close()))
			})
		})
	}
}

func TestScheduler_SHUT06_NoDeadlineIsLeftNotEvenThatOfTheGrace(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		c := e.counted()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
			e.spawn(co, func(co *scheduler.Coroutine) error { _ = co.Yield(); return errOther })
			_ = co.Yield()
			return errBoom
		}, withGrace(time.Hour))
		assert.ErrorIs(t, err, errBoom)
		assert.ErrorIs(t, err, errOther)
		require.Len(t, c.made, 2, "the delay's, and one of one shutdown")
		for _, d := range c.made {
			assert.False(t, d.Running())
		}
	})
}

// belonging is a thing of a scope that notes what it is told.
type belonging struct {
	scheduler.Owned
	e    *env
	name string
	done error
}

func (b *belonging) ScopeClosed(reason error) { b.e.say(b.name + " closed: " + reason.Error()) }
func (b *belonging) ScopeDone() error         { b.e.say(b.name + " done"); return b.done }

func TestScheduler_SHUT07_TheEndOfTheRunClosesWhatTheScopesOwn(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			beside, err := e.s.NewRoot()
			require.NoError(t, err)
			for i, sc := range []*scheduler.Scope{co.Scope(), child, beside, child} {
				b := &belonging{e: e, name: fmt.Sprint(i)}
				sc.Own(&b.Owned, b)
				if i == 3 {
					b.Release()
					b.Release()
				}
			}
			return nil
		})
		said := e.said()
		over := (&event.CancelledError{Reason: scheduler.ErrRunOver}).Error()
		assert.ElementsMatch(t, []string{"0 done", "1 done", "2 done", "0 closed: " + over, "1 closed: " + over, "2 closed: " + over}, said)
	})
}

func TestScheduler_SHUT07_WhatACancelledScopeOwnsIsClosedOnceAndFailuresAreTold(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			b := &belonging{e: e, name: "thing", done: errBoom}
			child.Own(&b.Owned, b)
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, child.Cancel(errOther))
			late := &belonging{e: e, name: "late"}
			child.Own(&late.Owned, late)
			return nil
		})
		assert.ErrorIs(t, err, errBoom, "CORO-16")
		said := e.said()
		assert.ElementsMatch(t, []string{"thing closed: cancelled: stop", "thing done", "late closed: cancelled: stop", "late done"}, said)
		for _, name := range []string{"thing", "late"} {
			assert.Less(t, slices.Index(said, name+" closed: cancelled: stop"), slices.Index(said, name+" done"))
		}
	})
}
