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
func waitsForGate(co *scheduler.Coroutine, g *gate) error {
	_, err := co.Await(g)
	return err
}

// Their names are in the reports, which inlining would change.
//
//go:noinline
func bodyOfReport(e *env, g *gate, o *outcome, l *line) func(co *scheduler.Coroutine) error {
	return func(co *scheduler.Coroutine) error {
		first := e.spawn(co, func(co *scheduler.Coroutine) error { return waitsForGate(co, g) }, scheduler.Named("first"))
		e.spawn(co, waiter(first), scheduler.Named("second"))
		e.spawn(co, func(co *scheduler.Coroutine) error { return park(co, l) })
		e.spawn(co, func(co *scheduler.Coroutine) error {
			return co.Protect(func(context.Context) error {
				_, _, err := co.AwaitFirst([]event.Event{g, o}, scheduler.Token(first))
				return err
			})
		}, scheduler.Named("protected"))
		e.spawn(co, waiter(g), scheduler.Hidden(), scheduler.Named("helper"))
		_, err := co.Await(o)
		return err
	}
}

func TestScheduler_DEAD10_TheReportSaysWhoWaitsForWhatAndWhere(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		err := e.run(bodyOfReport(e, e.gate(), e.outcome(), &line{}))
		d := isDeadlock(t, err, 5)
		sameAsFile(t, "deadlock.txt", d.Report)
		assert.Equal(t, "scheduler: deadlock: "+d.Report, d.Error())
	})
}

func TestScheduler_DEAD10_TheReportSaysWhichLinesStartedThemAndWhereTheyWait(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		var file string
		var started, waits int
		err := e.run(func(co *scheduler.Coroutine) error {
			body := func(co *scheduler.Coroutine) error {
				_, _, waits, _ = runtime.Caller(0)
				_, err := co.Await(e.gate())
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
	eachInOrder(t, func(t *testing.T, e *env) {
		g := e.gate()
		err := e.run(func(co *scheduler.Coroutine) error { return waitsForGate(co, g) })
		sameAsFile(t, "deadlock-one.txt", isDeadlock(t, err, 1).Report)
	})
}

//go:noinline
func panics() { panic("something is wrong") }

func TestScheduler_SHUT01_TheReportOfAPanicHasTheStackOfThePanic(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		r := newRecords()
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, func(*scheduler.Coroutine) error { panics(); return nil }, scheduler.Named("careless"))
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
	eachInOrder(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			e.spawn(co, fails(errBoom), scheduler.Named("careless"), scheduler.EntryOf(waitsForGate))
			return co.Delay(time.Hour)
		})
		var f *scheduler.FailureError
		require.ErrorAs(t, err, &f)
		sameAsFile(t, "failure.txt", f.Report()+"\n"+f.Error()+"\n")
		assert.Same(t, errBoom, errors.Unwrap(f))
	})
}

func TestScheduler_SHUT03_TheNamesOfThoseThatWereUnwound(t *testing.T) {
	eachInOrder(t, func(t *testing.T, e *env) {
		g := e.gate()
		err := e.run(func(co *scheduler.Coroutine) error {
			for _, name := range []string{"late one", "late two"} {
				e.spawn(co, func(co *scheduler.Coroutine) error {
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
			return e.s.Shutdown(errStop)
		}, withGrace(10*ms))
		sameAsFile(t, "unwound.txt", err.Error()+"\n")
	})
}

// Failures and their way to the run.

func TestScheduler_SHUT01_AHandlerOfAScopeStopsAFailureAndTheRunGoesOn(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			outer, err := co.Scope().New()
			require.NoError(t, err)
			inner, err := outer.New()
			require.NoError(t, err)
			outer.OnError(func(sc *scheduler.Scope, failed *scheduler.Coroutine, err error) error {
				assert.Same(t, outer, sc)
				assert.Equal(t, "bad", failed.Name())
				assert.True(t, failed.Completed())
				e.say(err.Error())
				return nil
			})
			sibling := e.spawn(inner, func(co *scheduler.Coroutine) error { return co.Delay(time.Hour) })
			cousin := e.spawn(outer, func(co *scheduler.Coroutine) error { return co.Delay(2 * ms) })
			e.spawn(inner, fails(errBoom), scheduler.Named("bad"))
			yields(co, 2)
			assert.Equal(t, []string{"boom"}, e.said())
			isCancelled(t, sibling.Error(), errBoom)
			assert.True(t, inner.Closed(), "SCOPE-19")
			assert.False(t, outer.Closed())
			_, err = co.Await(cousin)
			return err
		})
	})
}

func TestScheduler_SHUT01_EveryScopeWithoutAHandlerIsCancelledOnTheWay(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		var main, waiting error
		err := e.run(func(co *scheduler.Coroutine) error {
			outer, err := co.Scope().New()
			require.NoError(t, err)
			inner, err := outer.New()
			require.NoError(t, err)
			e.spawn(outer, func(co *scheduler.Coroutine) error { waiting = co.Delay(time.Hour); return waiting })
			_ = co.Yield()
			e.spawn(inner, fails(errBoom))
			main = co.Delay(time.Hour)
			assert.True(t, outer.Closed())
			assert.True(t, co.Scope().Sealed())
			_, err = outer.New()
			isUsage(t, err, "Scope.New", "boom")
			_, err = inner.Spawn(e.sayer("no"))
			isUsage(t, err, "Spawn", "boom")
			return main
		})
		assert.ErrorIs(t, err, errBoom)
		isCancelled(t, main, errBoom)
		isCancelled(t, waiting, errBoom)
		assert.Empty(t, e.said())
	})
}

func TestScheduler_SHUT02_AHandlerThatFailsIsChainedWithWhatItGot(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		last := errors.New("last")
		err := e.run(func(co *scheduler.Coroutine) error {
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
			e.spawn(inner, fails(errBoom))
			return co.Delay(time.Hour)
		})
		for _, one := range []error{errBoom, errOther, last} {
			assert.ErrorIs(t, err, one)
		}
	})
}

func TestScheduler_GEN08_AFailureThatSomebodyAwaitsIsHisAlone(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		e.mustRun(func(co *scheduler.Coroutine) error {
			co.Scope().OnError(func(*scheduler.Scope, *scheduler.Coroutine, error) error { e.say("handler"); return nil })
			bad := e.spawn(co, func(co *scheduler.Coroutine) error { _ = co.Yield(); return errBoom })
			for range 3 {
				e.spawn(co, func(co *scheduler.Coroutine) error {
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
		assert.Empty(t, e.said(), "SCOPE-21")
	})
}

func TestScheduler_GEN08_WhoStoppedAwaitingDoesNotHideAFailure(t *testing.T) {
	each(t, func(t *testing.T, e *env) {
		err := e.run(func(co *scheduler.Coroutine) error {
			bad := e.spawn(co, func(co *scheduler.Coroutine) error { _ = co.Delay(5 * ms); return errBoom })
			_, err := co.Await(bad, scheduler.Timeout(ms))
			isTimeout(t, err)
			return co.Delay(time.Hour)
		})
		assert.ErrorIs(t, err, errBoom)
	})
}
