package scheduler_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

// records is a log whose records can be waited for.
type records struct{ ch chan slog.Record }

func newRecords() *records { return &records{make(chan slog.Record, 1000)} }

func (r *records) Enabled(context.Context, slog.Level) bool        { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler              { return r }
func (r *records) WithGroup(string) slog.Handler                   { return r }
func (r *records) Handle(_ context.Context, rec slog.Record) error { r.ch <- rec; return nil }

// next waits for the next record.
func (r *records) next(t *testing.T) (text string, attrs map[string]string) {
	t.Helper()
	select {
	case rec := <-r.ch:
		attrs = map[string]string{}
		rec.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value.String(); return true })
		return rec.Message, attrs
	case <-time.After(cotest.Patience / 4):
		require.FailNow(t, "nothing was logged")
		return "", nil
	}
}

func withLogger(r *records) cotest.Option {
	return func(o *scheduler.Options) { o.Logger = slog.New(r) }
}
func withWatchdog(d time.Duration) cotest.Option {
	return func(o *scheduler.Options) { o.Watchdog = d }
}

// blocks waits, in the way that no scheduler can see, until the log has a record.
func blocks(t *testing.T, r *records) (text string, attrs map[string]string) {
	t.Helper()
	return r.next(t)
}

func TestScheduler_Watchdog_TellsWhichCoroutineHoldsTheLoop(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		r := newRecords()
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				text, attrs := blocks(t, r)
				assert.Contains(t, text, "has not come back")
				assert.Equal(t, "the culprit", attrs["name"])
				assert.Equal(t, "2", attrs["coroutine"])
				assert.Equal(t, "watched", attrs["run"])
				assert.Contains(t, attrs["started"], "rule_watch_test.go")
				assert.Contains(t, attrs["stacks"], "scheduler_test.blocks", "where it blocks")
				return nil
			}, scheduler.Named("the culprit"))
			e.Spawn(co, e.Sayer("innocent"), scheduler.Named("innocent"))
			return nil
		}, withLogger(r), withWatchdog(20*ms), cotest.WithName("watched"))
	})
}

func TestScheduler_Watchdog_TellsACallbackFromACoroutine(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		r := newRecords()
		e.MustRun(func(co *scheduler.Coroutine) error {
			e.After(ms, func() {
				_, attrs := blocks(t, r)
				assert.Contains(t, attrs["name"], "callback")
			})
			return co.Delay(2 * ms)
		}, withLogger(r), withWatchdog(20*ms))
	})
}

func TestScheduler_Watchdog_TellsAgainWhileItLasts(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		r := newRecords()
		e.MustRun(func(co *scheduler.Coroutine) error {
			_, first := blocks(t, r)
			_, second := blocks(t, r)
			a, err := time.ParseDuration(first["for"])
			require.NoError(t, err)
			b, err := time.ParseDuration(second["for"])
			require.NoError(t, err)
			assert.GreaterOrEqual(t, a, 20*ms)
			assert.GreaterOrEqual(t, b, 2*a-2*ms, "less and less often")
			return nil
		}, withLogger(r), withWatchdog(20*ms))
	})
}

func TestScheduler_Watchdog_IsSilentWhileTheLoopWaitsOrCoroutinesComeBack(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		r := newRecords()
		e.MustRun(func(co *scheduler.Coroutine) error {
			if err := co.Delay(100 * ms); err != nil {
				return err
			}
			for from := time.Now(); time.Since(from) < 100*ms; {
				e.Spawn(co, e.Sayer(""))
				if err := co.Yield(); err != nil {
					return err
				}
			}
			return nil
		}, withLogger(r), withWatchdog(50*ms))
		for len(r.ch) > 0 { // a machine that stands still for 50 ms is told as well: but not as a wait of the loop
			_, attrs := r.next(t)
			assert.NotContains(t, attrs["stacks"], "cuv_tick(", "the loop waits for events, it is not blocked")
		}
	})
}

func TestScheduler_SlowTurn_IsLogged(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		r := newRecords()
		e.MustRun(func(co *scheduler.Coroutine) error {
			works(5 * ms)
			if err := co.Delay(ms); err != nil {
				return err
			}
			assert.GreaterOrEqual(t, e.S.Stats().LongestTurn, 5*ms)
			return nil
		}, withLogger(r), cotest.WithName("slow one"), func(o *scheduler.Options) { o.SlowTurn = 4 * ms })
		text, attrs := r.next(t)
		assert.Contains(t, text, "turn")
		assert.Equal(t, "slow one", attrs["run"])
		took, err := time.ParseDuration(attrs["took"])
		require.NoError(t, err)
		assert.GreaterOrEqual(t, took, 5*ms)
	})
}

func TestScheduler_Logger_IsNeverNilAndSilentByDefault(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			require.NotNil(t, e.S.Logger())
			e.S.Logger().Info("to nobody")
			return nil
		})
		r := newRecords()
		_ = e.Run(func(co *scheduler.Coroutine) error {
			assert.Same(t, r, e.S.Logger().Handler())
			return cotest.Waiter(e.Gate())(co)
		}, withLogger(r))
		text, _ := r.next(t)
		assert.Contains(t, text, "deadlock")
		_ = e.Run(func(co *scheduler.Coroutine) error { e.Spawn(co, cotest.Fails(errBoom)); return nil }, withLogger(r))
		text, _ = r.next(t)
		assert.Contains(t, text, "boom", "an unhandled failure")
		assert.Empty(t, r.ch)
	})
}

func goroutineProfile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
	return b.String()
}

func TestScheduler_PprofLabels_NameTheCoroutinesInAProfile(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			parked := e.Spawn(co, cotest.Waiter(e.Gate()), scheduler.Named("labelled one"))
			_ = co.Yield()
			profile := goroutineProfile(t)
			assert.Contains(t, profile, `"coroutine":"main"`, "the one that runs")
			assert.Contains(t, profile, `"coroutine":"labelled one", "coroutine_id":"2"`, "one that waits")
			require.NoError(t, parked.Cancel(nil))
			_ = co.Yield()
			next := e.Spawn(co, func(*scheduler.Coroutine) error {
				profile := goroutineProfile(t)
				assert.Contains(t, profile, `"coroutine":"next", "coroutine_id":"3"`)
				assert.False(t, strings.Contains(profile, "labelled one"), "it has ended, and its context is used again")
				return nil
			}, scheduler.Named("next"))
			_, err := co.Await(next)
			return err
		}, func(o *scheduler.Options) { o.PprofLabels = true })
		assert.False(t, strings.Contains(goroutineProfile(t), `"coroutine":`))
		e.MustRun(func(co *scheduler.Coroutine) error {
			assert.NotContains(t, goroutineProfile(t), `"coroutine":`, "without the option")
			return nil
		})
	})
}

func TestScheduler_Trace_ShowsARegionForEachStretchOfACoroutine(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("somebody traces already")
	}
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var b bytes.Buffer
		e.MustRun(func(co *scheduler.Coroutine) error {
			before := e.Spawn(co, func(co *scheduler.Coroutine) error {
				return errors.Join(co.Delay(ms), co.Delay(2*ms), co.Delay(ms))
			}, scheduler.Named("begun before the trace"))
			_ = co.Yield()
			require.NoError(t, trace.Start(&b))
			require.NoError(t, co.Delay(ms), "it is seen at the next look at the event loop")
			e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Delay(ms) }, scheduler.Named("traced one"))
			_, err := co.Await(before)
			require.NoError(t, err)
			if err := co.Delay(3 * ms); err != nil {
				return err
			}
			trace.Stop()
			e.Spawn(co, func(co *scheduler.Coroutine) error { return co.Yield() }, scheduler.Named("after the trace"))
			return co.Yield()
		})
		assert.Contains(t, b.String(), "traced one")
		assert.Contains(t, b.String(), "begun before the trace")
		assert.NotContains(t, b.String(), "after the trace")
	})
}
