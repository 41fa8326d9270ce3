package scheduler_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// selfCancels are the ways in which a coroutine cancels itself.
func selfCancels(e *cotest.Env) map[string]func(self *scheduler.Coroutine) {
	return map[string]func(self *scheduler.Coroutine){
		"directly":          func(self *scheduler.Coroutine) { require.NoError(e.T, self.Cancel(errStop)) },
		"through its scope": func(self *scheduler.Coroutine) { require.NoError(e.T, self.Scope().Cancel(errStop)) },
		"through a scope around": func(self *scheduler.Coroutine) {
			require.NoError(e.T, self.Scope().Parent().Cancel(errStop))
		},
	}
}

// inSubScope runs fn in a coroutine two scopes below and returns it when it has ended.
func inSubScope(e *cotest.Env, co *scheduler.Coroutine, fn func(self *scheduler.Coroutine) error) *scheduler.Coroutine {
	sub, err := co.Scope().New()
	require.NoError(e.T, err)
	sub.SetSafe(false)
	sub, err = sub.New()
	require.NoError(e.T, err)
	child := e.Spawn(sub, fn)
	_, _ = co.Await(child)
	return child
}

func TestCancel_CANC07_OneThatCancelsItselfGoesOn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, cancel := range selfCancels(e) {
				child := inSubScope(e, co, func(self *scheduler.Coroutine) error {
					cancel(self)
					e.Say("went on")
					self.SetResult("value")
					return nil
				})
				assert.Equal(t, []string{"went on"}, e.Said(), name)
				result, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
				assert.Nil(t, result)
				assert.True(t, child.Cancelled())
			}
			return nil
		})
	})
}

// A cancellation of a block that it was in before is another matter.
func TestCancel_CANC07_AfterABlockThatWasCancelled(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, block := range map[string]func(self *scheduler.Coroutine) error{
				"interrupted": func(self *scheduler.Coroutine) error {
					return self.WithTimeout(ms, func(self *scheduler.Coroutine) error { return self.Delay(hour) })
				},
				"refused": func(self *scheduler.Coroutine) error {
					return self.WithCancel(func(self *scheduler.Coroutine, cancel func(error)) error {
						cancel(errOther)
						return self.Yield()
					})
				},
				"protected": func(self *scheduler.Coroutine) error {
					return self.WithCancel(func(self *scheduler.Coroutine, cancel func(error)) error {
						return self.Protect(func(context.Context) error { cancel(errOther); return nil })
					})
				},
			} {
				child := inSubScope(e, co, func(self *scheduler.Coroutine) error {
					_ = block(self)
					require.NoError(t, self.Err())
					require.NoError(t, self.Cancel(errStop))
					return nil
				})
				cotest.IsCancelled(t, child.Error(), errStop)
				assert.True(t, child.Cancelled(), name)
			}
			return nil
		})
	})
}

func TestCancel_CANC08_ItsNextSuspensionReturnsTheCancellation(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			for name, cancel := range selfCancels(e) {
				for callName, call := range suspending {
					child := inSubScope(e, co, func(self *scheduler.Coroutine) error {
						cancel(self)
						assert.Equal(t, self.Err(), call(e, self))
						return self.Err()
					})
					cotest.IsCancelled(t, child.Error(), errStop)
					assert.True(t, child.Cancelled(), "%s, %s", name, callName)
				}
			}
			return nil
		})
	})
}

// treacherous is an event that cancels somebody when it is started.
type treacherous struct {
	event.NopKind
	base   event.Base
	starts func()
}

func (k *treacherous) StartEvent() error { k.starts(); return nil }

func newTreacherous(e *cotest.Env, starts func()) *event.Base {
	k := &treacherous{starts: starts}
	k.base.Init(k, e.W.Count(), event.FlagHidden|event.FlagPeriodic)
	return &k.base
}

func TestCancel_CANC08_CancelledWhileItIsAboutToSuspend(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l := &line{}
			for name, wait := range map[string]func(co *scheduler.Coroutine, ev event.Event) error{
				"Await": func(co *scheduler.Coroutine, ev event.Event) error { _, err := co.Await(ev); return err },
				"AwaitFirst": func(co *scheduler.Coroutine, ev event.Event) error {
					_, _, err := co.AwaitFirst([]event.Event{e.Gate(), ev, e.Gate()})
					return err
				},
				"token": func(co *scheduler.Coroutine, ev event.Event) error {
					_, err := co.Await(e.Gate(), scheduler.Token(ev))
					return err
				},
				"Park": func(co *scheduler.Coroutine, ev event.Event) error { return park(co, l, scheduler.Token(ev)) },
			} {
				child := e.Spawn(co, func(self *scheduler.Coroutine) error {
					return wait(self, newTreacherous(e, func() { require.NoError(t, self.Cancel(errStop)) }))
				})
				_, err := co.Await(child)
				cotest.IsCancelled(t, err, errStop)
				assert.True(t, child.Cancelled(), name)
			}
			assert.Len(t, l.left, 1)
			return nil
		})
	})
}

func TestCancel_CANC09_AnotherFailureCarriesTheCancellation(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var got []error
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				got = append(got, err)
				return nil
			})
			children := []*scheduler.Coroutine{
				e.Spawn(co, func(self *scheduler.Coroutine) error { _ = self.Cancel(errStop); return errBoom }),
				cancelled(e, co, errStop, func(_ *scheduler.Coroutine, _ error) error { return errBoom }),
				cancelled(e, co, errStop, func(_ *scheduler.Coroutine, _ error) error { panic(errBoom) }),
			}
			cotest.Yields(co, 3)
			for i, child := range children {
				assert.ErrorIs(t, child.Error(), errBoom)
				cotest.IsCancelled(t, child.Error(), errStop)
				assert.True(t, child.Cancelled())
				require.Len(t, got, 3, "another error is a failure")
				assert.Equal(t, child.Error(), got[i])
			}
			return nil
		})
	})
}
