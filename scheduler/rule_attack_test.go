package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
)

func TestCoroutine_CANC01_CancelledByTheLeaveOfItsEndLeavesNothingBehind(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var victim *scheduler.Coroutine
		e.MustRun(func(co *scheduler.Coroutine) error {
			victim = e.Spawn(co, func(*scheduler.Coroutine) error { return nil })
			require.NoError(t, co.Yield())
			other := e.Spawn(co, func(co *scheduler.Coroutine) error {
				e.Spawn(co, e.Sayer("another"))
				return co.Yield()
			})
			_, err := co.Await(other)
			assert.NoError(t, err, "the fiber is used again, the cancellation is not")
			return nil
		}, withSwitch(&scheduler.SwitchHandlers{Leave: func(co *scheduler.Coroutine) {
			if co == victim {
				assert.NoError(t, co.Cancel(errStop))
			}
		}}))
	})
}

func TestCoroutine_CANC18_FinallyHandlersFallUnderStage2(t *testing.T) {
	for _, what := range []string{"delay", "forever"} {
		t.Run(what, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				unwound := false
				err := e.Run(func(co *scheduler.Coroutine) error {
					e.Spawn(co, func(co *scheduler.Coroutine) error {
						require.NoError(t, co.OnFinally(func(self, _ *scheduler.Coroutine) error {
							defer func() { unwound = true }()
							if what == "delay" {
								return self.Delay(time.Hour)
							}
							_, err := self.Await(newOutcome())
							return err
						}))
						return co.Protect(func(context.Context) error { return co.Delay(time.Hour) })
					})
					require.NoError(t, co.Yield())
					return errBoom
				}, cotest.WithGrace(5*ms))
				assert.ErrorIs(t, err, errBoom)
				assert.True(t, unwound)
				assert.Less(t, e.W.Elapsed(), time.Minute)
			})
		})
	}
}

// holder is comparable for the compiler, and not when it holds a slice.
type holder struct{ v any }

func (h holder) Error() string { return "holder" }

type list []error

func (l list) Error() string { return "list" }

func TestScheduler_GEN08_ErrorsThatCannotBeComparedAreErrorsAsAnyOther(t *testing.T) {
	for name, bad := range map[string]error{"slice": list{errBoom}, "struct": holder{[]int{1}}} {
		t.Run(name, func(t *testing.T) {
			cotest.Each(t, func(t *testing.T, e *cotest.Env) {
				err := e.Run(func(co *scheduler.Coroutine) error {
					for range 3 {
						e.Spawn(co, func(*scheduler.Coroutine) error { return bad })
					}
					_ = co.Yield()
					_ = co.WithCancel(func(*scheduler.Coroutine, func(error)) error { return bad })
					_ = co.Protect(func(context.Context) error { return bad })
					return bad
				})
				assert.Error(t, err)
				var p *event.PanicError
				assert.False(t, errors.As(err, &p), "%v", err)
			})
		})
	}
}

func TestScheduler_CORO26_AScopeOfAnotherRunIsRefused(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(outer *scheduler.Coroutine) error {
			before := outer.Scheduler().Stats().Total
			inner := scheduler.New(newSim(t), scheduler.Options{Name: "inner"})
			require.NoError(t, inner.Run(context.Background(), func(co *scheduler.Coroutine) error {
				_, err := co.Spawn(func(*scheduler.Coroutine) error { return nil }, scheduler.By(provider{outer.Scope()}))
				cotest.IsUsage(t, err)
				return nil
			}))
			assert.Equal(t, before, outer.Scheduler().Stats().Total)
			return nil
		})
	})
}

type provider struct{ s *scheduler.Scope }

func (p provider) ProvideScope() (*scheduler.Scope, error) { return p.s, nil }
func (provider) BeforeEnqueue(*scheduler.Coroutine) error  { return nil }
func (provider) AfterEnqueue(*scheduler.Coroutine) error   { return nil }

func TestContext_AfterFuncsAreCalledInTheOrderOfTheCalls(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		var want, got []int
		e.MustRun(func(co *scheduler.Coroutine) error {
			_ = co.WithTimeout(time.Second, func(co *scheduler.Coroutine) error {
				for i := range 50 {
					want = append(want, i)
					co.AfterFunc(func() { got = append(got, i) })
				}
				return co.WithTimeout(time.Hour, func(co *scheduler.Coroutine) error {
					for i := range 50 {
						want = append(want, 50+i)
						co.AfterFunc(func() { got = append(got, 50+i) })
					}
					return nil
				})
			})
			return nil
		})
		assert.Equal(t, want, got)
	})
}

func TestContext_DoneOfABlockIsClosedWithIt(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			whole := co.Done()
			var dones []<-chan struct{}
			var derived []context.Context
			for range 5 {
				require.NoError(t, co.WithTimeout(time.Hour, func(co *scheduler.Coroutine) error {
					dones = append(dones, co.Done())
					assert.False(t, closed(dones[len(dones)-1]))
					ctx, stop := context.WithCancel(co)
					t.Cleanup(stop)
					derived = append(derived, ctx)
					return nil
				}))
			}
			for i := range dones {
				assert.True(t, closed(dones[i]))
				assert.NoError(t, derived[i].Err(), "contexts live on with what is around the block")
			}
			assert.False(t, closed(whole))
			require.NoError(t, co.Cancel(errStop))
			for _, ctx := range derived {
				assert.Error(t, ctx.Err())
			}
			return nil
		})
	})
}

func TestScheduler_GEN06_RootScopesThatAreOverAreForgotten(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			one := func() {
				sc, err := co.Scheduler().NewRoot()
				require.NoError(t, err)
				e.Spawn(sc, func(*scheduler.Coroutine) error { return nil })
				require.NoError(t, co.Yield())
				require.NoError(t, sc.Cancel(nil))
			}
			growth := grows(200, 20000, one)
			assert.Less(t, growth, int64(500_000))
			return nil
		})
	})
}

// grows returns how many bytes the heap has grown by n calls, after some.
func grows(warm, n int, fn func()) int64 {
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for range warm {
		fn()
	}
	before := heap()
	for range n {
		fn()
	}
	return heap() - before
}

type badHandler struct {
	slog.Handler
	do func()
}

func (h badHandler) Handle(context.Context, slog.Record) error { h.do(); return nil }

func TestScheduler_GEN10_ALoggerThatPanics(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		cleaned := false
		err := e.Run(func(co *scheduler.Coroutine) error {
			e.Spawn(co, func(co *scheduler.Coroutine) error {
				defer func() { cleaned = true }()
				return co.Delay(time.Hour)
			})
			require.NoError(t, co.Yield())
			e.Spawn(co, func(*scheduler.Coroutine) error { return errBoom })
			return co.Delay(time.Hour)
		}, func(o *scheduler.Options) {
			o.Logger = slog.New(badHandler{slog.NewTextHandler(io.Discard, nil), func() { panic("logger") }})
		})
		assert.ErrorIs(t, err, errBoom)
		assert.True(t, cleaned)
	})
}

func TestScheduler_SHUT02_ManyFailuresDuringAShutdownDoNotExplode(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		const n = 10000
		err := e.Run(func(co *scheduler.Coroutine) error {
			for i := range n {
				e.Spawn(co, func(co *scheduler.Coroutine) error {
					_ = co.Delay(time.Hour)
					return fmt.Errorf("failure %d", i)
				})
			}
			require.NoError(t, co.Yield())
			return errBoom
		})
		assert.ErrorIs(t, err, errBoom)
		assert.Less(t, len(err.Error()), 50_000_000)
	})
}

func TestScheduler_GEN10_APanicOfTheTokensError(t *testing.T) {
	cotest.Each(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			return co.WithTimeout(ms, func(co *scheduler.Coroutine) error {
				co.AfterFunc(func() { panic("after") })
				return co.Delay(time.Hour)
			})
		})
		var p *event.PanicError
		assert.ErrorAs(t, err, &p)
	})
}
