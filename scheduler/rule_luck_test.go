package scheduler_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// lucky are operations that complete without suspending.
func lucky(e *cotest.Env) map[string]func(co *scheduler.Coroutine) error {
	o := newOutcome()
	o.complete(1, nil)
	return map[string]func(co *scheduler.Coroutine) error{
		"Await": func(co *scheduler.Coroutine) error { _, err := co.Await(o); return err },
		"AwaitFirst": func(co *scheduler.Coroutine) error {
			_, _, err := co.AwaitFirst([]event.Event{e.Gate(), o})
			return err
		},
		"Lucky": func(co *scheduler.Coroutine) error { co.Lucky(); return nil },
		"Await of what happens when it is started": func(co *scheduler.Coroutine) error {
			var g *event.Base
			g = newTreacherous(e, func() { _ = g.Notify(1, nil) })
			_, err := co.Await(g)
			return err
		},
	}
}

func TestLuck_AfterTheBudgetTheNextOneYields(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, op := range lucky(e) {
			e.MustRun(func(co *scheduler.Coroutine) error {
				ticks := 0
				child := e.Spawn(co, func(self *scheduler.Coroutine) error {
					for i := 1; i <= 40; i++ {
						require.NoError(t, op(self))
						assert.LessOrEqual(t, i/8-1, ticks, "%s: after %d lucky ones", name, i)
						assert.GreaterOrEqual(t, i/8+1, ticks, "%s: after %d lucky ones", name, i)
					}
					return nil
				})
				for !child.Completed() {
					ticks++
					require.NoError(t, co.Yield())
				}
				return nil
			}, withLuck(8), withSlice(hour))
		}
	})
}

// A lone one lets the event loop look at what has happened.
func TestLuck_TheEventLoopTurnsToo(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		all := lucky(e)
		all["Yield"] = func(co *scheduler.Coroutine) error { return co.Yield() }
		for name, op := range all {
			e.MustRun(func(co *scheduler.Coroutine) error {
				posted := false
				require.NoError(t, e.S.Post(func() { posted = true }))
				for i := 0; !posted; i++ {
					require.NoError(t, op(co))
					require.Less(t, i, 10000, name)
				}
				return nil
			})
		}
	})
}

// The yield of a lucky operation does not fail it: a cancellation that comes meanwhile is for the next suspension point.
func TestLuck_CANC00_ACancellationDuringItsYieldIsKept(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, op := range lucky(e) {
			if strings.Contains(name, "started") {
				continue // it was in the queue by its wait: there the cancellation wins (GEN-02)
			}
			e.MustRun(func(co *scheduler.Coroutine) error {
				var first error
				done := 0
				child := e.Spawn(co, func(self *scheduler.Coroutine) error {
					for first == nil {
						if first = op(self); first == nil {
							done++
						}
					}
					cotest.IsCancelled(t, first, errStop)
					return first
				})
				if name == "Lucky" { // it has no error to tell it with
					require.NoError(t, child.Cancel(errStop))
					return nil
				}
				require.NoError(t, co.Yield())
				require.True(t, child.Queued())
				before := done
				require.NoError(t, child.Cancel(errStop))
				require.NoError(t, co.Yield())
				assert.True(t, child.Completed())
				assert.Equal(t, before+1, done, "%s: the operation in progress succeeded", name)
				return nil
			}, withLuck(4), withSlice(hour))
		}
	})
}

// A suspension begins the count anew.
func TestLuck_ASuspensionBeginsTheCountAnew(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		left := 0
		e.MustRun(func(co *scheduler.Coroutine) error {
			o := newOutcome()
			o.complete(1, nil)
			for range 10 {
				for range 5 {
					_, err := co.Await(o)
					require.NoError(t, err)
				}
				require.NoError(t, co.Delay(ms))
			}
			return nil
		}, withLuck(8), withSlice(hour), withSwitch(&scheduler.SwitchHandlers{Leave: func(*scheduler.Coroutine) { left++ }}))
		assert.Equal(t, 11, left)
	})
}
