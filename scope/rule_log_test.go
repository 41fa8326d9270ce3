package scope_test

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

// record is what a logger was told.
type record struct {
	level   slog.Level
	message string
	attrs   map[string]string
	values  map[string]slog.Value
	order   []string
}

// recorder is a slog.Handler that keeps what it is told.
type recorder struct {
	mu      sync.Mutex
	records []record
	min     slog.Level
	told    func(record) // may be nil
}

func newRecorder(told func(record)) *recorder { return &recorder{min: slog.LevelDebug, told: told} }

func (r *recorder) slog() *slog.Logger                           { return slog.New(r) }
func (r *recorder) Enabled(_ context.Context, l slog.Level) bool { return l >= r.min }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler           { return r }
func (r *recorder) WithGroup(string) slog.Handler                { return r }
func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	got := record{rec.Level, rec.Message, map[string]string{}, map[string]slog.Value{}, nil}
	rec.Attrs(func(a slog.Attr) bool {
		got.attrs[a.Key], got.values[a.Key] = a.Value.String(), a.Value
		got.order = append(got.order, a.Key)
		return true
	})
	r.mu.Lock()
	r.records = append(r.records, got)
	r.mu.Unlock()
	if r.told != nil {
		r.told(got)
	}
	return nil
}

// all returns the records so far and forgets them.
func (r *recorder) all() []record {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.records
	r.records = nil
	return got
}

func (r *recorder) messages() []string {
	var list []string
	for _, rec := range r.all() {
		list = append(list, rec.message)
	}
	return list
}

const (
	became = "a coroutine became a zombie"
	linger = "a zombie lingers"
	ended  = "a zombie has ended"
)

func TestScope_ZombieLog_EveryRecordAndAttribute(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		r := newRecorder(nil)
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			g := e.Gate()
			z := e.Spawn(s, func(co *scheduler.Coroutine) error {
				if _, err := co.Await(g); err != nil {
					return err
				}
				return co.Delay(15 * ms)
			}, scheduler.Named("third party"))
			require.NoError(t, co.Yield())
			require.NoError(t, co.Delay(3*ms))
			assert.Empty(t, r.all())
			require.NoError(t, s.Cancel(errStop))
			g.Open(nil, nil)
			got := r.all()
			require.Len(t, got, 1, "at once")
			assert.Equal(t, became, got[0].message)
			assert.Equal(t, slog.LevelWarn, got[0].level)
			assert.Equal(t, []string{"run", "coroutine", "name", "started", "suspended", "waits_for", "reason"}, got[0].order)
			assert.Equal(t, errStop.Error(), got[0].attrs["reason"])
			assert.Equal(t, "run of zombies", got[0].attrs["run"])
			assert.Equal(t, slog.KindUint64, got[0].values["coroutine"].Kind())
			assert.Equal(t, z.ID(), got[0].values["coroutine"].Uint64())
			assert.Equal(t, "third party", got[0].attrs["name"])
			assert.Contains(t, got[0].attrs["started"], "rule_log_test.go")
			assert.Contains(t, got[0].attrs["suspended"], "rule_log_test.go")
			assert.Equal(t, "gate", got[0].attrs["waits_for"])

			require.NoError(t, co.Delay(10*ms-1))
			assert.Empty(t, r.all(), "not before the time")
			require.NoError(t, co.Delay(1))
			require.NoError(t, co.Yield())
			got = r.all()
			require.Len(t, got, 1)
			assert.Equal(t, linger, got[0].message)
			assert.Equal(t, slog.LevelWarn, got[0].level)
			assert.Equal(t, []string{"run", "coroutine", "name", "started", "suspended", "waits_for", "lingered"}, got[0].order)
			assert.Equal(t, slog.KindDuration, got[0].values["lingered"].Kind())
			assert.Equal(t, 10*ms, got[0].values["lingered"].Duration())
			assert.Contains(t, got[0].attrs["waits_for"], "Delay", "what it waits for now")
			assert.Equal(t, "third party", got[0].attrs["name"])

			_, err := co.Await(z)
			require.NoError(t, err)
			got = r.all()
			require.Len(t, got, 1)
			assert.Equal(t, ended, got[0].message)
			assert.Equal(t, slog.LevelInfo, got[0].level)
			assert.Equal(t, []string{"run", "coroutine", "name", "started", "lingered"}, got[0].order, "it waits for nothing, and there is no error")
			assert.Equal(t, 15*ms, got[0].values["lingered"].Duration())
			assert.Equal(t, z.ID(), got[0].values["coroutine"].Uint64())
			require.NoError(t, co.Delay(hour))
			assert.Empty(t, r.all(), "no more of it")

			// With an error.
			s = scope.New(co)
			require.NoError(t, s.OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { return nil }))
			e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(ms); return errBoom })
			require.NoError(t, co.Yield())
			require.NoError(t, s.Close())
			require.NoError(t, s.AwaitAfterCancellation(co, func(error, *scope.Scope) error { return nil }))
			got = r.all()
			require.Len(t, got, 2)
			assert.Equal(t, ended, got[1].message)
			assert.Equal(t, slog.LevelWarn, got[1].level)
			assert.Equal(t, []string{"run", "coroutine", "name", "started", "lingered", "error"}, got[1].order)
			assert.Equal(t, "boom", got[1].attrs["error"])
			return nil
		}, cotest.WithName("run of zombies"), cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog(), Linger: 10 * ms}))
		assert.Empty(t, r.all())
	})
}

func TestScope_ZombieLog_OneThatRunsOrHasNotBegun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		r := newRecorder(nil)
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			self := e.Spawn(s, func(co *scheduler.Coroutine) error { return s.Cancel(nil) })
			_, err := co.Await(self)
			require.NoError(t, err)
			s = scope.New(co)
			queued := e.Spawn(s, cotest.Fails(nil))
			require.NoError(t, s.DisposeSafely())
			_, err = co.Await(queued)
			return err
		}, cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog()}))
		got := r.all()
		require.Len(t, got, 4)
		for i, want := range []string{became, ended, became, ended} {
			assert.Equal(t, want, got[i].message)
			assert.NotContains(t, got[i].attrs, "suspended")
			assert.NotContains(t, got[i].attrs, "waits_for")
		}
		assert.Equal(t, []string{"run", "coroutine", "name", "started", "reason"}, got[2].order)
	})
}

func TestScope_ZombieLog_PeriodsAreExact(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		start := e.W.Now()
		type told struct {
			at       time.Duration
			who      string
			lingered time.Duration
		}
		var got []told
		r := newRecorder(func(rec record) {
			if rec.message == linger {
				got = append(got, told{e.W.Now().Sub(start), rec.attrs["name"], rec.values["lingered"].Duration()})
			}
		})
		e.MustRun(func(co *scheduler.Coroutine) error {
			a, b, c, never := scope.New(co), scope.New(co), scope.New(co), scope.New(co)
			require.NoError(t, b.LogZombies(scheduler.ZombieLog{Logger: r.slog(), Linger: 4 * time.Second}))
			require.NoError(t, never.LogZombies(scheduler.ZombieLog{Logger: r.slog(), Linger: -1}))
			for name, s := range map[string]*scope.Scope{"a": a, "b": b, "c": c, "never": never} {
				life := map[string]time.Duration{"a": 35, "b": 14, "c": 100, "never": 100}[name]
				e.Spawn(s, cotest.Sleeper(life*time.Second), scheduler.Named(name))
			}
			require.NoError(t, co.Yield())
			require.NoError(t, a.Cancel(nil)) // from 0 on, every 10 s: that is what the zero value means
			require.NoError(t, never.Cancel(nil))
			require.NoError(t, co.Delay(5*time.Second))
			require.NoError(t, b.Close()) // from 5 s on, every 4 s
			require.NoError(t, co.Delay(10*time.Second))
			require.NoError(t, c.DisposeSafely()) // from 15 s on
			require.NoError(t, co.Delay(25*time.Second))
			return nil
		}, cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog()}))
		const s = time.Second
		assert.Equal(t, []told{
			{9 * s, "b", 4 * s},
			{10 * s, "a", 10 * s},
			{13 * s, "b", 8 * s},
			{20 * s, "a", 20 * s},
			{25 * s, "c", 10 * s},
			{30 * s, "a", 30 * s},
			{35 * s, "c", 20 * s},
		}, got)
		assert.Equal(t, 40*s, e.W.Now().Sub(start), "it keeps no run alive")
	})
}

func TestScope_ZombieLog_OfTheRunOfAScopeAndInherited(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		run, own, later := newRecorder(nil), newRecorder(nil), newRecorder(nil)
		zombie := func(co *scheduler.Coroutine, s *scope.Scope) {
			t.Helper()
			e.Spawn(s, func(co *scheduler.Coroutine) error { return co.Yield() })
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
		}
		both := []string{became, ended}
		body := func(co *scheduler.Coroutine) error {
			zombie(co, scope.New(co))
			assert.Equal(t, both, run.messages())

			around := scope.New(co)
			require.NoError(t, around.LogZombies(scheduler.ZombieLog{Logger: own.slog()}))
			zombie(co, scope.Inherit(scope.New(around)))
			assert.Equal(t, both, own.messages(), "those below, too")

			quiet := scope.New(around)
			require.NoError(t, quiet.LogZombies(scheduler.ZombieLog{}))
			zombie(co, scope.New(quiet))
			assert.Empty(t, own.messages(), "nil: nobody")

			before := scope.New(around)
			require.NoError(t, around.LogZombies(scheduler.ZombieLog{Logger: later.slog()}))
			zombie(co, before)
			assert.Equal(t, both, later.messages(), "from now on")

			// The log at the time when it becomes one is that of its end, too.
			s := scope.New(co)
			z := e.Spawn(s, cotest.Sleeper(ms))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(nil))
			assert.Equal(t, []string{became}, run.messages())
			require.NoError(t, s.LogZombies(scheduler.ZombieLog{Logger: own.slog()}))
			_, err := co.Await(z)
			require.NoError(t, err)
			assert.Equal(t, []string{ended}, run.messages())
			zombie(co, scope.New(scope.NewRoot(co)))
			assert.Equal(t, both, run.messages(), "other roots, too")
			assert.Empty(t, own.messages())
			assert.Empty(t, later.messages())
			return nil
		}
		e.MustRun(body, cotest.WithZombies(scheduler.ZombieLog{Logger: run.slog()}))
		// Without a log for zombies that of the run has them.
		e.MustRun(body, cotest.WithOptions(scheduler.Options{Logger: run.slog(), Slice: hour, Watchdog: -1}))
	})
}

func TestScope_ZombieLog_DisabledLevels(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		for level, want := range map[slog.Level][]string{
			slog.LevelError: nil,
			slog.LevelWarn:  {became, became, ended},
			slog.LevelInfo:  {became, became, ended, ended},
		} {
			r := newRecorder(nil)
			r.min = level
			e.MustRun(func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				require.NoError(t, s.OnError(func(*scope.Scope, *scheduler.Coroutine, error) error { return nil }))
				e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Yield(); return errBoom })
				e.Spawn(s, func(co *scheduler.Coroutine) error { return co.Yield() })
				require.NoError(t, co.Yield())
				require.NoError(t, s.Cancel(nil))
				cotest.Yields(co, 3)
				return nil
			}, cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog()}))
			got := r.messages()
			assert.ElementsMatch(t, want, got, level)
		}
	})
}

func TestScope_ZombieLog_AtTheEndOfTheRun(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		r := newRecorder(nil)
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, cotest.Sleeper(hour))
			require.NoError(t, co.Yield())
			return s.Close()
		}, cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog(), Linger: hour}))
		got := r.all()
		require.Len(t, got, 2)
		assert.Equal(t, ended, got[1].message)
		assert.Contains(t, got[1].attrs["error"], "the run is over")
	})
}

func TestScope_ZombieLog_AHandlerThatPanicsOrExits(t *testing.T) {
	for _, when := range []string{became, linger, ended} {
		t.Run(when, func(t *testing.T) {
			for _, exit := range []bool{false, true} {
				cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
					r := newRecorder(func(rec record) {
						if rec.message != when {
							return
						}
						if exit {
							runtime.Goexit()
						}
						panic("the logger is broken")
					})
					main := func(co *scheduler.Coroutine) error {
						s := scope.New(co)
						for range 2 {
							e.Spawn(s, cotest.Sleeper(5*ms))
						}
						require.NoError(t, co.Yield())
						_ = s.Cancel(nil)
						return s.AwaitAfterCancellation(co, nil)
					}
					opt := cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog(), Linger: ms})
					if exit {
						e.Exits(main, opt)
						return
					}
					err := e.Run(main, opt)
					var p *event.PanicError
					require.ErrorAs(t, err, &p)
					assert.Equal(t, "the logger is broken", p.Value)
				})
			}
		})
	}
}

func TestScope_ZombieLog_AHandlerThatUsesTheScope(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var s *scope.Scope
		calls := 0
		r := newRecorder(func(rec record) {
			calls++
			switch rec.message {
			case became:
				assert.NoError(t, s.Dispose()) // in the middle of the cancellation
				_, err := s.Spawn(cotest.Fails(nil))
				cotest.IsUsage(t, err)
			case ended:
				assert.NoError(t, s.Cancel(nil))
				_ = s.Info()
			}
		})
		e.MustRun(func(co *scheduler.Coroutine) error {
			s = scope.New(co)
			var all []*scheduler.Coroutine
			for range 3 {
				all = append(all, e.Spawn(s, cotest.Sleeper(hour)))
			}
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			require.NoError(t, s.AwaitAfterCancellation(co, nil))
			for _, c := range all {
				cotest.IsCancelled(t, c.Error(), scope.ErrDisposed)
			}
			e.Counts(1, 0, 1)
			counts(t, s, 0, 0, 0)
			return nil
		}, cotest.WithZombies(scheduler.ZombieLog{Logger: r.slog()}))
		assert.Positive(t, calls)
	})
}
