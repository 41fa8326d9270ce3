package scheduler_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

var update = flag.Bool("update", false, "write the reports into testdata instead of comparing them")

var (
	places    = regexp.MustCompile(`/\S*/([^/\s]+\.go):\d+( \+0x[0-9a-f]+)?`)
	closures  = regexp.MustCompile(`\.func\d+[.\d]*`)
	numbers   = regexp.MustCompile(`goroutine \d+`)
	arguments = regexp.MustCompile(`(?m)^(\S+)\(([^()]|\(\*[^()]*\))*\)$`)
)

// sameAsFile compares a report with testdata/name, without what differs from one machine or run to the other.
func sameAsFile(t *testing.T, name, report string) {
	t.Helper()
	report = places.ReplaceAllString(report, "$1:N")
	report = arguments.ReplaceAllString(report, "$1(...)")
	report = closures.ReplaceAllString(report, ".func")
	report = numbers.ReplaceAllString(report, "goroutine N")
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(report), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), report)
}

// ownFrames leaves of the stacks in a report the frames of the tests: the others are those of Go and of the scheduler, and
// differ with how contexts are switched.
func ownFrames(report string) string {
	lines := strings.SplitAfter(report, "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "goroutine ") })
	if i < 0 {
		return report
	}
	kept := slices.Clone(lines[:i+1])
	for i++; i+1 < len(lines); i += 2 {
		if strings.Contains(lines[i], "scheduler_test.") {
			kept = append(kept, lines[i], lines[i+1])
		}
	}
	return strings.Join(kept, "")
}

//go:noinline
func waitsForGate(co *scheduler.Coroutine, g *cotest.Gate) error {
	_, err := co.Await(g)
	return err
}

// waiter is cotest.Waiter for those who look at where it waits: what is in internal packages is no place of the user's. Reports
// name it, which inlining would change.
//
//go:noinline
func waiter(ev event.Event, opts ...scheduler.WaitOption) func(*scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		_, err := co.Await(ev, opts...)
		return err
	}
}

// Their names are in the reports, which inlining would change.
//
//go:noinline
func bodyOfReport(e *cotest.Env, g *cotest.Gate, o *outcome, l *line) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		first := e.Spawn(co, func(co *scheduler.Coroutine) error { return waitsForGate(co, g) }, scheduler.Named("first"))
		e.Spawn(co, waiter(first), scheduler.Named("second"))
		e.Spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
		e.Spawn(co, func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				_, _, err := co.AwaitFirst([]event.Event{g, o}, scheduler.Token(first))
				return err
			})
		}, scheduler.Named("protected"))
		e.Spawn(co, waiter(g), scheduler.Hidden(), scheduler.Named("helper"))
		_, err := co.Await(o)
		return err
	}
}

func TestScheduler_DEAD10_TheReportSaysWhoWaitsForWhatAndWhere(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(bodyOfReport(e, e.Gate(), newOutcome(), &line{}))
		d := isDeadlock(t, err, 5)
		sameAsFile(t, "deadlock.txt", d.Report)
		assert.Equal(t, "scheduler: deadlock: "+d.Report, d.Error())
	})
}

func TestScheduler_DEAD10_TheReportSaysWhichLinesStartedThemAndWhereTheyWait(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		var file string
		var started, waits int
		err := e.Run(func(co *scheduler.Coroutine) error {
			body := func(co *scheduler.Coroutine) error {
				_, _, waits, _ = runtime.Caller(0)
				_, err := co.Await(e.Gate())
				return err
			}
			_, file, started, _ = runtime.Caller(0)
			_, err := co.Spawn(body)
			return err
		}, func(o *scheduler.Options) { o.SpawnLines = true })
		d := isDeadlock(t, err, 1)
		assert.Contains(t, d.Report, fmt.Sprintf("%s:%d)", file, started+1))
		assert.Contains(t, d.Report, fmt.Sprintf("%s:%d)", file, waits+1))
		sameAsFile(t, "deadlock-lines.txt", d.Report)
	})
}

func TestScheduler_DEAD10_TheReportOfOneAlone(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		err := e.Run(func(co *scheduler.Coroutine) error { return waitsForGate(co, g) })
		sameAsFile(t, "deadlock-one.txt", isDeadlock(t, err, 1).Report)
	})
}

//go:noinline
func panics() { panic("something is wrong") }

func TestScheduler_SHUT01_TheReportOfAPanicHasTheStackOfThePanic(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		r := newRecords()
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(*scheduler.Coroutine) error { panics(); return nil }, scheduler.Named("careless"))
			return co.Delay(time.Hour)
		}, withLogger(r))
		var f *scheduler.FailureError
		require.ErrorAs(t, err, &f)
		report := f.Report()
		sameAsFile(t, "panic.txt", ownFrames(report))
		text, _ := r.next(t)
		assert.Equal(t, report, text, "the log has it as well")
		assert.NotContains(t, f.Error(), "\n", "the error itself is one line")
	})
}

func TestScheduler_SHUT01_TheReportOfAFailure(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, cotest.Fails(errBoom), scheduler.Named("careless"), scheduler.EntryOf(waitsForGate))
			return co.Delay(time.Hour)
		})
		var f *scheduler.FailureError
		require.ErrorAs(t, err, &f)
		sameAsFile(t, "failure.txt", f.Report()+"\n"+f.Error()+"\n")
		assert.Same(t, errBoom, errors.Unwrap(f))
	})
}

func TestScheduler_SHUT03_TheNamesOfThoseThatWereUnwound(t *testing.T) {
	cotest.EachInOrder(t, func(t *testing.T, e *cotest.Env) {
		g := e.Gate()
		err := e.Run(func(co *scheduler.Coroutine) error {
			for _, name := range []string{"late one", "late two"} {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error {
						if name == "late one" {
							return co.Delay(time.Hour)
						}
						_, err := co.Await(g, scheduler.Timeout(time.Hour))
						return err
					})
				}, scheduler.Named(name))
			}
			_ = co.Yield()
			return e.S.Shutdown(errStop)
		}, cotest.WithGrace(10*ms))
		sameAsFile(t, "unwound.txt", err.Error()+"\n")
	})
}

// Failures and their way to the run.

func TestScheduler_SHUT01_AHandlerOfAScopeStopsAFailureAndTheRunGoesOn(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			outer, err := co.Scope().New()
			require.NoError(t, err)
			inner, err := outer.New()
			require.NoError(t, err)
			outer.OnError(func(sc *scheduler.Scope, failed *scheduler.Coroutine, err error) error {
				assert.Same(t, outer, sc)
				assert.Equal(t, "bad", failed.Name())
				assert.True(t, failed.Completed())
				e.Say(err.Error())
				return nil
			})
			sibling := e.Spawn(inner, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
			cousin := e.Spawn(outer, func(co *scheduler.Coroutine) error { return co.Delay(2 * ms) })
			e.Spawn(inner, cotest.Fails(errBoom), scheduler.Named("bad"))
			cotest.Yields(co, 2)
			assert.Equal(t, []string{"boom"}, e.Said())
			cotest.IsCancelled(t, sibling.Error(), errBoom)
			assert.True(t, inner.Closed(), "SCOPE-19")
			assert.False(t, outer.Closed())
			_, err = co.Await(cousin)
			return err
		})
	})
}

func TestScheduler_SHUT01_EveryScopeWithoutAHandlerIsCancelledOnTheWay(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var main, waiting error
		err := e.Run(func(co *scheduler.Coroutine) error {
			outer, err := co.Scope().New()
			require.NoError(t, err)
			inner, err := outer.New()
			require.NoError(t, err)
			e.Spawn(outer, func(co *scheduler.Coroutine) error { waiting = co.Delay(time.Hour); return waiting })
			_ = co.Yield()
			e.Spawn(inner, cotest.Fails(errBoom))
			main = co.Delay(time.Hour)
			assert.True(t, outer.Closed())
			assert.True(t, co.Scope().Sealed())
			_, err = outer.New()
			cotest.IsUsage(t, err, "Scope.New", "boom")
			_, err = inner.Spawn(e.Sayer("no"))
			cotest.IsUsage(t, err, "Spawn", "boom")
			return main
		})
		assert.ErrorIs(t, err, errBoom)
		cotest.IsCancelled(t, main, errBoom)
		cotest.IsCancelled(t, waiting, errBoom)
		assert.Empty(t, e.Said())
	})
}

func TestScheduler_SHUT02_AHandlerThatFailsIsChainedWithWhatItGot(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		last := errors.New("last")
		err := e.Run(func(co *scheduler.Coroutine) error {
			outer, err := co.Scope().New()
			require.NoError(t, err)
			inner, err := outer.New()
			require.NoError(t, err)
			inner.OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				assert.Same(t, errBoom, err)
				return errOther
			})
			outer.OnError(func(_ *scheduler.Scope, _ *scheduler.Coroutine, err error) error {
				assert.ErrorIs(t, err, errBoom)
				assert.ErrorIs(t, err, errOther)
				return last
			})
			e.Spawn(inner, cotest.Fails(errBoom))
			return co.Delay(time.Hour)
		})
		for _, one := range []error{errBoom, errOther, last} {
			assert.ErrorIs(t, err, one)
		}
	})
}

func TestScheduler_GEN08_AFailureThatSomebodyAwaitsIsHisAlone(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { e.Say("handler"); return nil })
			bad := e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Yield(); return errBoom })
			for range 3 {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					_, err := co.Await(bad)
					assert.Same(t, errBoom, err)
					return nil
				})
			}
			_, err := co.Await(bad)
			assert.Same(t, errBoom, err)
			_, err = co.Await(bad)
			assert.Same(t, errBoom, err)
			return nil
		})
		assert.Empty(t, e.Said(), "SCOPE-21")
	})
}

func TestScheduler_GEN08_WhoStoppedAwaitingDoesNotHideAFailure(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			bad := e.Spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(5 * ms); return errBoom })
			_, err := co.Await(bad, scheduler.Timeout(ms))
			cotest.IsTimeout(t, err)
			return co.Delay(time.Hour)
		})
		assert.ErrorIs(t, err, errBoom)
	})
}
