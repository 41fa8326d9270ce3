package scope_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/uvasync/uvasync/event"
	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/scheduler"
	"github.com/uvasync/uvasync/scope"
)

type foundThing struct {
	o      scheduler.Owned
	closed func()
}

func (z *foundThing) ScopeClosed(error) {
	z.o.Release()
	if z.closed != nil {
		z.closed()
	}
}
func (z *foundThing) ScopeDone() error { return nil }

func foundClean(t *testing.T, first func(second *foundThing)) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co).AsNotSafely()
			c := e.Spawn(s, cotest.Waiter(e.Gate()))
			require.NoError(t, c.OnFinally(func(self, _ *scheduler.Coroutine) error {
				b := &foundThing{}
				a := &foundThing{closed: func() { first(b) }}
				self.Scope().Own(&a.o, a)
				self.Scope().Own(&b.o, b)
				return nil
			}))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Cancel(errStop))
			return co.Delay(ms)
		})
		t.Log("run:", err)
	})
}

func TestScope_CHAN36_AThingOfAFinallyHandlerMayPanicWhenItIsClosed(t *testing.T) {
	foundClean(t, func(*foundThing) { panic("user") })
}
func TestScope_CHAN36_AThingOfAFinallyHandlerMayReleaseAnother(t *testing.T) {
	foundClean(t, func(b *foundThing) { b.o.Release() })
}

func TestScope_CANC18_WithoutGraceAnExitHoldsNobodyUp(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		from := e.W.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = e.Prepare(cotest.WithGrace(-1)).Run(context.Background(), func(co *scheduler.Coroutine) error {
				s := scope.New(co)
				e.Spawn(s, func(co *scheduler.Coroutine) error {
					return co.Protect(func(context.Context) error { return co.Delay(hour) })
				})
				a := &foundThing{closed: runtime.Goexit}
				s.Scope().Own(&a.o, a)
				require.NoError(t, co.Yield())
				return errBoom
			})
		}()
		<-done
		assert.Less(t, e.W.Now().Sub(from), hour)
	})
}

func TestGroup_TG04_ARefusedTaskWithAKeyIsNotKept(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g, err := scope.NewKeyedGroup[int, int](co, groupLimit(1, 1))
			require.NoError(t, err)
			hold := e.Gate()
			for i := range 2 {
				require.NoError(t, g.SpawnKey(co, -1-i, func(co *scheduler.Coroutine) (int, error) { _, err := co.Await(hold); return 0, err }))
			}
			require.NoError(t, co.Yield())
			const n = 20
			var freed atomic.Int32
			for i := range n {
				big := make([]byte, 1<<16)
				runtime.AddCleanup(&big[0], func(int) { freed.Add(1) }, 0)
				err := g.SpawnKey(co, i, func(*scheduler.Coroutine) (int, error) { return len(big), nil }, scheduler.Timeout(ms))
				cotest.IsTimeout(t, err)
			}
			cotest.Collect(t, co, func() bool { return freed.Load() >= n-2 })
			return g.Cancel(nil)
		})
	})
}

func TestGroup_CANC00_TheClosingOfAnotherGroupIsNoClosingOfThisOne(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			g1 := groupOf(t, co, groupLimit(1, 1))
			g2 := groupOf(t, co, groupLimit(1, 1))
			hold := e.Gate()
			task := func(co *scheduler.Coroutine) (int, error) { _, err := co.Await(hold); return 0, err }
			for range 2 {
				groupMust(t, co, g1, task)
				groupMust(t, co, g2, task)
			}
			var err1, err2 error
			e.Spawn(co, func(co *scheduler.Coroutine) error { _, err2 = g2.Spawn(co, task); return nil })
			c1 := e.Spawn(co, func(co *scheduler.Coroutine) error { _, err1 = g1.Spawn(co, task); return nil })
			require.NoError(t, co.Yield())
			require.NoError(t, g2.Close())
			require.NoError(t, co.Yield())
			require.NoError(t, c1.Cancel(err2))
			require.NoError(t, co.Yield())
			var closed *event.ClosedError
			assert.ErrorAs(t, err2, &closed)
			assert.False(t, g1.IsClosed())
			cotest.IsCancelled(t, err1, err2)
			assert.Contains(t, err1.Error(), "cancelled")
			return errors.Join(g1.Cancel(nil), g2.Cancel(nil))
		})
	})
}

func TestScope_GEN06_TheFirstCoroutineIsNotKept(t *testing.T) {
	cotest.OnLibuv(t, func(t *testing.T, e *cotest.Env) {
		e.MustRun(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			hold := e.Gate()
			var freed atomic.Int32
			func() {
				first := e.Spawn(s, func(co *scheduler.Coroutine) error { co.SetResult(make([]byte, 1<<20)); return nil })
				runtime.AddCleanup(first, func(int) { freed.Add(1) }, 0)
			}()
			e.Spawn(s, cotest.Waiter(hold))
			e.Spawn(s, cotest.Waiter(hold))
			require.NoError(t, co.Delay(ms))
			for range 20 {
				runtime.GC()
				_ = co.Delay(ms)
			}
			assert.Equal(t, int32(1), freed.Load(), "first coroutine is kept")
			hold.Open(nil, nil)
			return s.AwaitCompletion(co)
		})
	})
}

func TestScope_SCOPE24_NoLimitForWhatIsDisposed(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		from := e.W.Now()
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error {
				return co.Protect(func(context.Context) error { return cotest.Waiter(e.Gate())(co) })
			})
			require.NoError(t, co.Yield())
			require.NoError(t, s.Dispose())
			require.NoError(t, s.DisposeAfterTimeout(hour))
			return s.AwaitAfterCancellation(co, nil)
		})
		var d *scheduler.DeadlockError
		assert.ErrorAs(t, err, &d)
		assert.Less(t, e.W.Now().Sub(from), hour)
	})
}

func TestScope_SCOPE15_FailuresThatAWaiterLeavesKeepTheirCoroutine(t *testing.T) {
	cotest.Simulated(t, func(t *testing.T, e *cotest.Env) {
		err := e.Run(func(co *scheduler.Coroutine) error {
			s := scope.New(co)
			e.Spawn(s, func(co *scheduler.Coroutine) error { _ = co.Delay(2 * ms); return errBoom }, scheduler.Named("culprit"))
			require.NoError(t, co.Yield())
			require.NoError(t, s.Close())
			c := e.Spawn(co, func(co *scheduler.Coroutine) error {
				return s.AwaitAfterCancellation(co, func(err error, _ *scope.Scope) error { panic("handler") })
			}, scheduler.Named("waiter"))
			_, err := co.Await(c)
			var p *event.PanicError
			assert.ErrorAs(t, err, &p)
			return nil
		})
		var f *scheduler.FailureError
		if assert.ErrorAs(t, err, &f) {
			assert.Contains(t, f.Coroutine, "culprit")
		}
	})
}
