package scheduler_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/scheduler"
)

func TestCancel_CANC19_IsNeverAnUnhandledFailure(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { e.say("handled"); return nil })
			e.cancelled(co, errStop, func(_ *scheduler.Coroutine, err error) error { return err })
			e.cancelled(co, errStop, func(_ *scheduler.Coroutine, err error) error { return fmt.Errorf("wrapped: %w", err) })
			e.cancelled(co, errStop, func(_ *scheduler.Coroutine, err error) error { return errors.Join(err, err) })
			e.spawn(co, func(co *scheduler.Coroutine) error { return co.Cancel(errStop) })
			require.NoError(t, e.spawn(co, returns(nil)).Cancel(errStop))
			require.NoError(t, co.Cancel(errStop))
			return co.Yield()
		})
		assert.Empty(t, e.said())
	})
}

func TestCancel_CANC20_AScopesUnstartedCoroutinesNeverRun(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			deep, err := sub.New()
			require.NoError(t, err)
			for _, sc := range []*scheduler.Scope{sub, deep} {
				child := e.spawn(sc, e.sayer("never"))
				defer func() { isCancelled(t, child.Error(), errStop) }()
			}
			require.NoError(t, sub.Cancel(errStop))
			yields(co, 2)
			return nil
		})
		assert.Empty(t, e.said())
	})
}

func TestCancel_CANC21_SiblingsAndTheScopeAreUntouched(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			var children []*scheduler.Coroutine
			for range 3 {
				children = append(children, e.spawn(sub, func(co *scheduler.Coroutine) error { return co.Delay(5 * ms) }))
			}
			require.NoError(t, co.Yield())
			require.NoError(t, children[1].Cancel(errStop))
			assert.False(t, sub.Closed())
			for i, child := range children {
				_, err := co.Await(child)
				assert.Equal(t, i == 1, err != nil)
				assert.Equal(t, i == 1, child.Cancelled())
			}
			e.spawn(sub, e.sayer("still open"))
			return nil
		})
		assert.Equal(t, []string{"still open"}, e.said())
	})
}

func TestCancel_CANC22_WhoLeavesALineLeavesItInTheSameStep(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		for name, woken := range map[string]bool{"parked": false, "woken": true} {
			e.mustRun(func(co *scheduler.Coroutine) error {
				l := &line{}
				child := e.spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
				require.NoError(t, co.Yield())
				if woken {
					require.NoError(t, child.Unpark())
					assert.Empty(t, l.left)
				}
				require.NoError(t, child.Cancel(errStop))
				assert.Equal(t, []*scheduler.Coroutine{child}, l.left, name)
				isUsage(t, child.Unpark(), "Unpark")
				require.NoError(t, co.Yield())
				isCancelled(t, child.Error(), errStop) // GEN-02
				assert.Len(t, l.left, 1, "once")
				return nil
			})
		}
	})
}

func TestCancel_CANC22_TimeoutsAndTokensOfAParkedOne(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			l, g := &line{}, e.gate()
			isTimeout(t, park(co, l, scheduler.Timeout(ms)))
			assert.Len(t, l.left, 1)
			e.after(ms, func() { g.open("ignored", errBoom); assert.Len(t, l.left, 2) })
			isTokens(t, park(co, l, scheduler.Token(g)), errBoom)
			assert.Len(t, l.left, 2)

			// After Unpark neither counts.
			e.after(ms, func() { require.NoError(t, co.Unpark()); g.open(nil, errBoom) })
			assert.NoError(t, park(co, l, scheduler.Token(g), scheduler.Timeout(hour)))
			e.after(ms, func() { require.NoError(t, co.UnparkWith(errOther)); g.open(nil, errBoom) })
			assert.Equal(t, errOther, park(co, l, scheduler.Token(g), scheduler.Timeout(hour)))
			assert.Len(t, l.left, 2)
			assert.Zero(t, e.w.Live())

			// A cancellation after UnparkWith: both are told, and the line knew (EVT-13).
			child := e.spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) },
				scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) {})))
			require.NoError(t, co.Yield())
			require.NoError(t, child.UnparkWith(errBoom))
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, co.Yield())
			assert.ErrorIs(t, child.Error(), errBoom)
			isCancelled(t, child.Error(), errStop)
			assert.Len(t, l.left, 2)
			return nil
		})
	})
}
