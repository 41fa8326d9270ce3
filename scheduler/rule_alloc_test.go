package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// allocatesNothing checks that fn, called by a coroutine among others, allocates nothing once it is warm.
func allocatesNothing(t *testing.T, name string, fn func()) {
	t.Helper()
	fn()
	assert.Zero(t, testing.AllocsPerRun(200, fn), name)
}

func TestCoroutine_WaitsAllocateNothing(t *testing.T) {
	if sanitized {
		t.Skip("sanitizers allocate")
	}
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			ok := func(err error) {
				if err != nil {
					t.Error(err)
				}
			}
			allocatesNothing(t, "Yield alone", func() { ok(co.Yield()) })
			allocatesNothing(t, "Delay", func() { ok(co.Delay(ms)) })
			o := newOutcome()
			o.complete(nil, nil)
			allocatesNothing(t, "Await of what is done", func() { _, err := co.Await(o); ok(err) })
			tr := e.Trigger()
			defer tr.Dispose()
			allocatesNothing(t, "Await of a trigger", func() { tr.Fire(); _, err := co.Await(tr); ok(err) })

			g, l, stop := e.Gate(), &line{left: make([]*scheduler.Coroutine, 0, 4096)}, false
			e.Spawn(co, func(other *scheduler.Coroutine) error {
				for !stop {
					ok(other.Yield())
				}
				return nil
			})
			allocatesNothing(t, "Yield", func() { ok(co.Yield()) })
			stop = true
			cotest.Yields(co, 2)
			stop = false
			e.Spawn(co, func(other *scheduler.Coroutine) error {
				for !stop {
					g.Open(nil, nil)
					ok(other.Yield())
				}
				return nil
			})
			token := e.Gate()
			allocatesNothing(t, "Await", func() { _, err := co.Await(g); ok(err) })
			allocatesNothing(t, "Await with a limit", func() { _, err := co.Await(g, scheduler.Timeout(hour)); ok(err) })
			allocatesNothing(t, "Await with a token", func() { _, err := co.Await(g, scheduler.Token(token)); ok(err) })
			two := []event.Event{token, g}
			allocatesNothing(t, "AwaitFirst of two", func() { _, _, err := co.AwaitFirst(two); ok(err) })
			stop = true
			cotest.Yields(co, 2)
			stop = false
			e.Spawn(co, func(other *scheduler.Coroutine) error {
				for !stop {
					ok(other.Yield())
					ok(co.Unpark())
				}
				return nil
			})
			require.NoError(t, co.Yield())
			allocatesNothing(t, "Park and Unpark", func() { ok(co.Park("test", l)) })
			stop = true
			e.After(ms, func() {})
			ok(co.Park("test", l))
			return nil
		})
	})
}

func TestCoroutine_CancelledSuspensionPointsAllocateNothing(t *testing.T) {
	if sanitized {
		t.Skip("sanitizers allocate")
	}
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			cancelled(e, co, errStop, func(co *scheduler.Coroutine, err error) error {
				allocatesNothing(t, "Yield", func() { _ = co.Yield() })
				allocatesNothing(t, "Delay", func() { _ = co.Delay(ms) })
				return err
			})
			return nil
		})
	})
}
