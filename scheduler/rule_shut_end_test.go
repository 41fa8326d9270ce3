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
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestScheduler_SHUT04_ExitHooksMaySpawnAndWhatTheySpawnRuns(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			return errors.Join(
				co.OnFinally(func(self, _ *scheduler.Coroutine) error {
					e.Spawn(self, func(co *scheduler.Coroutine) error {
						defer e.Say("spawned")
						return co.Protect(func(context.Context) error { return co.Delay(ms) })
					})
					return nil
				}),
				errBoom)
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Equal(t, []string{"spawned"}, e.Said())
	})
}

func TestScheduler_SHUT04_CleanUpThatIsUnderWayGoesOnInAShutdown(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			child := e.Spawn(co, e.Sayer("child"))
			require.NoError(t, child.OnFinally(func(self, _ *scheduler.Coroutine) error {
				if err := self.Delay(5 * ms); err != nil { // the shutdown comes meanwhile
					return err
				}
				e.Spawn(self, e.Sayer("spawned"))
				return self.Delay(ms)
			}))
			if err := co.Delay(ms); err != nil {
				return err
			}
			return errBoom
		})
		assert.Same(t, errBoom, err, "CORO-22: the clean-up saw no cancellation")
		assert.Equal(t, []string{"child", "spawned"}, e.Said())
	})
}

func TestScheduler_SHUT05_IdleHelpersNeverDelayTheEnd(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var helper error
		from := e.W.Now()
		e.MustRun(func(co *scheduler.Coroutine) error {
			for range 3 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					for {
						if helper = co.Delay(time.Hour); helper != nil {
							return helper
						}
					}
				}, scheduler.Hidden())
			}
			timer := e.Timer(time.Hour)
			require.NoError(t, timer.Start())
			t.Cleanup(func() { assert.NoError(t, timer.Close()) })
			return co.Yield()
		})
		cotest.IsCancelled(t, helper, scheduler.ErrRunOver)
		assert.Less(t, e.W.Now().Sub(from), time.Hour)
	})
}

func TestScheduler_SHUT05_AHelperThatFailsWhileTheRunEndsIsHeard(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				_ = co.Delay(time.Hour)
				return errBoom
			}, scheduler.Hidden())
			return co.Yield()
		})
		assert.ErrorIs(t, err, errBoom)
	})
}

func TestScheduler_SHUT06_NothingIsLeftAfterARunWhateverItsEnd(t *testing.T) {
	ends := map[string]func(e *cotest.Env, co *scheduler.Coroutine) error{
		"return":   func(*cotest.Env, *scheduler.Coroutine) error { return nil },
		"failure":  func(*cotest.Env, *scheduler.Coroutine) error { return errBoom },
		"panic":    func(*cotest.Env, *scheduler.Coroutine) error { panic("boom") },
		"deadlock": func(e *cotest.Env, co *scheduler.Coroutine) error { return cotest.Waiter(e.Gate())(co) },
		"shutdown": func(e *cotest.Env, co *scheduler.Coroutine) error { return e.S.Shutdown(nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				timer, trigger, g := e.Timer(time.Hour), e.Trigger(), e.LiveGate()
				_ = e.Run(func(co *scheduler.Coroutine) error {
					var l line
					for _, body := range []func(co *scheduler.Coroutine) error{
						cotest.Waiter(timer), cotest.Waiter(trigger, scheduler.Timeout(time.Hour)), cotest.Waiter(g, scheduler.Token(timer)),
						func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) },
						func(co *scheduler.Coroutine) error {
							return park(co, &l, scheduler.Timeout(time.Hour), scheduler.Token(trigger))
						},
						func(co *scheduler.Coroutine) error {
							_, _, err := co.AwaitFirst([]event.Event{g, timer, trigger})
							return err
						},
						func(co *scheduler.Coroutine) error {
							return co.WithTimeout(time.Hour, func(co *scheduler.Coroutine) error { return cotest.Waiter(g)(co) })
						},
					} {
						if name == "deadlock" {
							break // a visible wait would prevent it
						}
						e.Spawn(co, body, scheduler.Hidden())
						e.Spawn(co, func(co *scheduler.Coroutine) error {
							child := e.Spawn(co, body)
							return errors.Join(co.Yield(), child.Cancel(nil))
						})
					}
					cotest.Yields(co, 3)
					return end(e, co)
				})
				assert.Zero(t, e.W.Live())
				assert.False(t, timer.Started())
				assert.False(t, trigger.Started())
				assert.Equal(t, g.Starts, g.Stops)
				assert.Zero(t, g.Callbacks())
				require.NoError(t, errors.Join(timer.Close(), trigger.Close()))
			})
		})
	}
}

func TestScheduler_SHUT06_NoDeadlineIsLeftNotEvenThatOfTheGrace(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		c := counted(e)
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
			e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Yield(); return errOther })
			_ = co.Yield()
			return errBoom
		}, cotest.WithGrace(time.Hour))
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
	e    *cotest.Env
	name string
	done error
}

func (b *belonging) ScopeClosed(reason error) { b.e.Say(b.name + " closed: " + reason.Error()) }
func (b *belonging) ScopeDone() error         { b.e.Say(b.name + " done"); return b.done }

func TestScheduler_SHUT07_TheEndOfTheRunClosesWhatTheScopesOwn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			child, err := co.Scope().New()
			require.NoError(t, err)
			beside, err := e.S.NewRoot()
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
		said := e.Said()
		over := (&event.CancelledError{Reason: scheduler.ErrRunOver}).Error()
		assert.ElementsMatch(t, []string{"0 done", "1 done", "2 done", "0 closed: " + over, "1 closed: " + over, "2 closed: " + over}, said)
	})
}

func TestScheduler_SHUT07_WhatACancelledScopeOwnsIsClosedOnceAndFailuresAreTold(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
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
		said := e.Said()
		assert.ElementsMatch(t, []string{"thing closed: cancelled: stop", "thing done", "late closed: cancelled: stop", "late done"}, said)
		for _, name := range []string{"thing", "late"} {
			assert.Less(t, slices.Index(said, name+" closed: cancelled: stop"), slices.Index(said, name+" done"))
		}
	})
}
