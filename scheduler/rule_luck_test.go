package scheduler_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/scheduler"
)

// lucky are operations that complete without suspending.
func lucky(e *env) map[string]func(co *scheduler.Coroutine) error {
	o := e.outcome()
	o.complete(1, nil)
	return map[string]func(co *scheduler.Coroutine) error{
		"Await": func(co *scheduler.Coroutine) error { _, err := co.Await(o); return err },
		"AwaitFirst": func(co *scheduler.Coroutine) error {
			_, _, err := co.AwaitFirst([]event.Event{e.gate(), o})
			return err
		},
		"Lucky": func(co *scheduler.Coroutine) error { co.Lucky(); return nil },
		"Await of what happens when it is started": func(co *scheduler.Coroutine) error {
			var g *event.Base
			g = e.treacherous(func() { _ = g.Notify(1, nil) })
			_, err := co.Await(g)
			return err
		},
	}
}

func TestLuck_AfterTheBudgetTheNextOneYields(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for name, op := range lucky(e) {
			e.mustRun(func(co *scheduler.Coroutine) error {
				ticks := 0
				child := e.spawn(co, func(self *scheduler.Coroutine) error {
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
	each(t, func(t *testing.T, e *env) {
		all := lucky(e)
		all["Yield"] = func(co *scheduler.Coroutine) error { return co.Yield() }
		for name, op := range all {
			e.mustRun(func(co *scheduler.Coroutine) error {
				posted := false
				require.NoError(t, e.s.Post(func() { posted = true }))
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
	each(t, func(t *testing.T, e *env) {
		for name, op := range lucky(e) {
			if strings.Contains(name, "started") {
				continue // it was in the queue by its wait: there the cancellation wins (GEN-02)
			}
			e.mustRun(func(co *scheduler.Coroutine) error {
				var first error
				done := 0
				child := e.spawn(co, func(self *scheduler.Coroutine) error {
					for first == nil {
						if first = op(self); first == nil {
							done++
						}
					}
					isCancelled(t, first, errStop)
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
	each(t, func(t *testing.T, e *env) {
		left := 0
		e.mustRun(func(co *scheduler.Coroutine) error {
			o := e.outcome()
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
