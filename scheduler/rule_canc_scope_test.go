package scheduler_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCancel_CANC19_IsNeverAnUnhandledFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { e.Say("handled"); return nil })
			cancelled(e, co, errStop, func(_ *scheduler.Coroutine, err error) error { return err })
			cancelled(e, co, errStop, func(_ *scheduler.Coroutine, err error) error { return fmt.Errorf("wrapped: %w", err) })
			cancelled(e, co, errStop, func(_ *scheduler.Coroutine, err error) error { return errors.Join(err, err) })
			e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Cancel(errStop) })
			require.NoError(t, e.Spawn(co, cotest.Fails(nil)).Cancel(errStop))
			require.NoError(t, co.Cancel(errStop))
			return co.Yield()
		})
		assert.Empty(t, e.Said())
	})
}

func TestCancel_CANC20_AScopesUnstartedCoroutinesNeverRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			deep, err := sub.New()
			require.NoError(t, err)
			for _, sc := range []*scheduler.Scope{sub, deep} {
				child := e.Spawn(sc, e.Sayer("never"))
				defer func() { cotest.IsCancelled(t, child.Error(), errStop) }()
			}
			require.NoError(t, sub.Cancel(errStop))
			cotest.Yields(co, 2)
			return nil
		})
		assert.Empty(t, e.Said())
	})
}

func TestCancel_CANC21_SiblingsAndTheScopeAreUntouched(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			sub, err := co.Scope().New()
			require.NoError(t, err)
			var children []*scheduler.Coroutine
			for range 3 {
				children = append(children, e.Spawn(sub, func(co *scheduler.Coroutine) error { return co.Delay(5 * ms) }))
			}
			require.NoError(t, co.Yield())
			require.NoError(t, children[1].Cancel(errStop))
			assert.False(t, sub.Closed())
			for i, child := range children {
				_, err := co.Await(child)
				assert.Equal(t, i == 1, err != nil)
				assert.Equal(t, i == 1, child.Cancelled())
			}
			e.Spawn(sub, e.Sayer("still open"))
			return nil
		})
		assert.Equal(t, []string{"still open"}, e.Said())
	})
}

func TestCancel_CANC22_WhoLeavesALineLeavesItInTheSameStep(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for name, woken := range map[string]bool{"parked": false, "woken": true} {
			e.MustRun(func(co *scheduler.Coroutine) error {
				l := &line{}
				child := e.Spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
				require.NoError(t, co.Yield())
				if woken {
					require.NoError(t, child.Unpark())
					assert.Empty(t, l.left)
				}
				require.NoError(t, child.Cancel(errStop))
				assert.Equal(t, []*scheduler.Coroutine{child}, l.left, name)
				cotest.IsUsage(t, child.Unpark(), "Unpark")
				require.NoError(t, co.Yield())
				cotest.IsCancelled(t, child.Error(), errStop) // GEN-02
				assert.Len(t, l.left, 1, "once")
				return nil
			})
		}
	})
}

func TestCancel_CANC22_TimeoutsAndTokensOfAParkedOne(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			l, g := &line{}, e.Gate()
			cotest.IsTimeout(t, park(co, l, scheduler.Timeout(ms)))
			assert.Len(t, l.left, 1)
			e.After(ms, func() { g.Open("ignored", errBoom); assert.Len(t, l.left, 2) })
			cotest.IsTokens(t, park(co, l, scheduler.Token(g)), errBoom)
			assert.Len(t, l.left, 2)

			// After Unpark neither counts.
			e.After(ms, func() { require.NoError(t, co.Unpark()); g.Open(nil, errBoom) })
			assert.NoError(t, park(co, l, scheduler.Token(g), scheduler.Timeout(hour)))
			e.After(ms, func() { require.NoError(t, co.UnparkWith(errOther)); g.Open(nil, errBoom) })
			assert.Equal(t, errOther, park(co, l, scheduler.Token(g), scheduler.Timeout(hour)))
			assert.Len(t, l.left, 2)
			assert.Zero(t, e.W.Live())

			// A cancellation after UnparkWith: both are told, and the line knew (EVT-13).
			child := e.Spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) },
				scheduler.SettledBy(settler(func(*scheduler.Coroutine, error) {})))
			require.NoError(t, co.Yield())
			require.NoError(t, child.UnparkWith(errBoom))
			require.NoError(t, child.Cancel(errStop))
			require.NoError(t, co.Yield())
			assert.ErrorIs(t, child.Error(), errBoom)
			cotest.IsCancelled(t, child.Error(), errStop)
			assert.Len(t, l.left, 2)
			return nil
		})
	})
}
